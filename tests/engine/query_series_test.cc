// Queries over many series: groups, joins, top series, the latest sample, pages, limits, threads.
#include <cmath>
#include <random>
#include <stop_token>

#include "tests/engine/query_answer.h"

namespace tsdb::engine {
namespace {

TEST_F(QuerySeries, ThreadsChangeNothing) {
  for (int kind = 0; kind < 6; ++kind) {
    QuerySpec spec = Select("{}");
    if (kind >= 1) {
      spec.aggregators = {Aggregator::kAvg, Aggregator::kMax};
      spec.bucket.width = kind == 1 ? 7 : 1000;
    }
    spec.reverse = kind == 2;
    if (kind >= 3) {
      spec.reduce = kind == 4 ? Aggregation::Quantile(0.9) : Aggregation(Aggregator::kAvg);
      spec.group_by = {"host"};
    }
    spec.limit = kind == 5 ? 3 : 0;
    spec.threads = 1;
    const auto alone = Answer(*db_, spec);
    EXPECT_EQ(alone.size(), kind >= 3 ? 5u : 39u);
    for (const unsigned threads : {0u, 2u, 5u}) {
      spec.threads = threads;
      EXPECT_EQ(Answer(*db_, spec), alone) << kind << " with " << threads;
    }
  }
}

TEST_F(QuerySeries, AnAnswerThatIsNotReadToItsEndDoesNoHarm) {
  QuerySpec spec = Select("{}");
  spec.threads = 4;
  for (int series = 0; series < 20; ++series) {
    auto result = *db_->Query(spec);
    ColumnBatch batch;
    for (int i = 0; i < series; ++i) {
      ASSERT_TRUE(result->NextSeries());
      if (i % 2 == 0) {
        ASSERT_TRUE(result->NextBatch(&batch));
      }
    }
  }
}

TEST_F(QuerySeries, GroupsReduceWhatTheirSeriesHaveAtATime) {
  QuerySpec one = Select("{}");
  one.aggregators = {Aggregator::kSum};
  one.bucket.width = 1000;
  std::map<std::string, std::map<Timestamp, std::vector<double>>> expected;
  auto result = *db_->Query(one);
  ColumnBatch batch;
  while (result->NextSeries()) {
    auto& group = expected["host=" + std::string(result->series().labels.Get("host"))];
    while (result->NextBatch(&batch)) {
      for (std::size_t i = 0; i < batch.times.size(); ++i) {
        group[batch.times[i]].push_back(batch.columns[0][i]);
      }
    }
  }
  for (const bool reverse : {false, true}) {
    QuerySpec spec = one;
    spec.group_by = {"host"};
    spec.reverse = reverse;
    spec.limit = 7;
    for (const Aggregation reduce : {Aggregation(Aggregator::kMax), Aggregation(Aggregator::kAvg),
                                     Aggregation(Aggregator::kCount), Aggregation::Quantile(0)}) {
      spec.reduce = reduce;
      auto groups = *db_->Query(spec);
      auto it = expected.begin();
      while (groups->NextSeries()) {
        ASSERT_NE(it, expected.end());
        EXPECT_EQ(groups->series().key, it->first);
        EXPECT_FALSE(groups->sources().empty());
        std::vector<std::pair<Timestamp, std::vector<double>>> rows(it->second.begin(), it->second.end());
        if (reverse) {
          std::reverse(rows.begin(), rows.end());
        }
        ASSERT_TRUE(groups->NextBatch(&batch));
        ASSERT_EQ(batch.times.size(), 7u);
        for (std::size_t i = 0; i < 7; ++i) {
          const std::vector<double>& values = rows[i].second;
          ExactSum sum;
          sum.Add(values);
          const double want = reduce.aggregator == Aggregator::kMax   ? *std::ranges::max_element(values)
                              : reduce.aggregator == Aggregator::kAvg ? sum.Mean(values.size())
                              : reduce.aggregator == Aggregator::kCount
                                  ? static_cast<double>(values.size())
                                  : *std::ranges::min_element(values);
          EXPECT_EQ(batch.times[i], rows[i].first);
          EXPECT_EQ(batch.columns[0][i], want) << AggregationName(reduce);
        }
        EXPECT_FALSE(groups->NextBatch(&batch));
        ++it;
      }
      EXPECT_EQ(it, expected.end());
    }
  }
}

TEST_F(QuerySeries, AJoinHasTheTimesOfAllAndNaNWhereASeriesHasNone) {
  for (const bool reverse : {false, true}) {
    QuerySpec spec;
    spec.series = {refs_[1], refs_[0], refs_[3], refs_[1]};  // refs_[0] and refs_[3] are 5 later; one twice
    spec.join = true;
    spec.reverse = reverse;
    std::map<Timestamp, std::vector<double>> expected;
    for (std::size_t k = 0; k < 4; ++k) {
      QuerySpec one;
      one.series = {spec.series[k]};
      for (const Sample& sample : ReadRows(*db_, one)) {
        auto& row = expected[sample.time];
        row.resize(4, std::numeric_limits<double>::quiet_NaN());
        row[k] = sample.value;
      }
    }
    auto result = *db_->Query(spec);
    ASSERT_TRUE(result->NextSeries());
    ASSERT_EQ(result->sources().size(), 4u);
    EXPECT_EQ(result->sources()[1]->id, refs_[0].id);
    std::size_t rows = 0;
    ColumnBatch batch;
    while (result->NextBatch(&batch)) {
      ASSERT_EQ(batch.columns.size(), 4u);
      for (std::size_t i = 0; i < batch.times.size(); ++i, ++rows) {
        const auto it = reverse ? std::prev(expected.end(), static_cast<std::ptrdiff_t>(rows) + 1)
                                : std::next(expected.begin(), static_cast<std::ptrdiff_t>(rows));
        ASSERT_EQ(batch.times[i], it->first);
        for (std::size_t k = 0; k < 4; ++k) {
          ASSERT_TRUE(batch.columns[k][i] == it->second[k] ||
                      (std::isnan(batch.columns[k][i]) && std::isnan(it->second[k])));
        }
      }
    }
    EXPECT_EQ(rows, expected.size());
    EXPECT_FALSE(result->NextSeries());
    EXPECT_TRUE(result->status().ok());
  }
}

TEST_F(QuerySeries, TopSeriesComeInTheOrderOfTheirAggregate) {
  QuerySpec ranks = Select("{host=~\"a|b\"}");
  ranks.aggregators = {Aggregator::kSum};
  std::vector<std::pair<double, std::string>> order;
  auto result = *db_->Query(ranks);
  ColumnBatch batch;
  while (result->NextSeries()) {
    ASSERT_TRUE(result->NextBatch(&batch));
    order.emplace_back(batch.columns[0][0], result->series().key);
  }
  for (const bool smallest : {false, true}) {
    std::ranges::stable_sort(order, [&](const auto& a, const auto& b) {
      return smallest ? a.first < b.first : a.first > b.first;
    });
    QuerySpec spec = Select("{host=~\"a|b\"}");
    spec.top = {3, Aggregator::kSum, smallest};
    spec.limit = 1;
    auto top = *db_->Query(spec);
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(top->NextSeries());
      EXPECT_EQ(top->series().key, order[static_cast<std::size_t>(i)].second);
    }
    EXPECT_FALSE(top->NextSeries());
  }
}

TEST_F(QuerySeries, TheLatestSampleIsTheLastOneInTheRange) {
  for (const TimeRange range :
       {TimeRange{}, TimeRange{kTimestampMin, 15'003}, TimeRange{0, 47}, TimeRange{40'000, 50'000}}) {
    QuerySpec last = Select("{}");
    last.range = range;
    last.reverse = true;
    last.limit = 1;
    QuerySpec latest = Select("{}");
    latest.range = range;
    latest.latest = true;
    EXPECT_EQ(Answer(*db_, latest), Answer(*db_, last));
    latest.values = last.values = ValueRange{0, 20};
    EXPECT_EQ(Answer(*db_, latest), Answer(*db_, last));
  }
  TSDB_ASSERT_OK(db_->Flush());
  QuerySpec latest = Select("{}");
  latest.latest = true;
  auto result = *db_->Query(latest);
  while (result->NextSeries()) {
  }
  EXPECT_EQ(result->statistics().samples_decoded, 0u);
}

TEST_F(QuerySeries, PagesPutTogetherAreTheWholeAnswer) {
  for (int kind = 0; kind < 10; ++kind) {
    QuerySpec spec = Select(kind >= 8 ? "m1" : "{}");
    spec.reverse = kind % 2 == 1;
    if (kind >= 2) {
      spec.aggregators = {Aggregator::kTwa, Aggregator::kIncrease, Aggregator::kSum};
      spec.bucket.width = 500;
      spec.fill = kind < 4 ? Fill::kNone : Fill::kPrevious;
      spec.bucket.label = static_cast<BucketLabel>(kind % 3);
      spec.limit = kind == 4 ? 11 : 0;
    }
    if (kind == 6 || kind == 7) {
      spec.group_by = {"host"};
      spec.reduce = Aggregator::kSum;
    }
    spec.join = kind >= 8;
    const auto whole = Answer(*db_, spec);
    for (const std::uint64_t rows : {1ull, 17ull, 100ull, 4000ull}) {
      if (rows == 1 && kind < 2) {
        continue;  // some 100,000 pages
      }
      std::vector<std::string> pages;
      QuerySpec page = spec;
      page.page_rows = rows;
      std::string last_key = "none";
      for (int number = 0; number < 100'000; ++number) {
        auto result = db_->Query(page);
        ASSERT_TRUE(result.ok()) << result.status().ToString();
        ColumnBatch batch;
        std::uint64_t given = 0;
        while ((*result)->NextSeries()) {
          const std::string key = (*result)->series().key;
          if (pages.empty() || key != last_key) {
            pages.push_back(key);
            last_key = key;
          }
          while ((*result)->NextBatch(&batch)) {
            given += batch.times.size();
            for (std::size_t i = 0; i < batch.times.size(); ++i) {
              pages.back() += "|" + std::to_string(batch.times[i]) + ":";
              for (std::size_t k = 0; k < batch.columns.size(); ++k) {
                const double value = batch.columns[k][i];
                pages.back() += (k == 0 ? "" : ",") +
                                (std::isnan(value) ? "-" : std::to_string(std::bit_cast<std::uint64_t>(value)));
              }
            }
          }
        }
        ASSERT_TRUE((*result)->status().ok()) << (*result)->status().ToString();
        page.cursor = (*result)->cursor();
        if (page.cursor.empty()) {
          break;
        }
        ASSERT_EQ(given, rows);
      }
      ASSERT_EQ(pages.size(), whole.size()) << kind << " by " << rows;
      for (std::size_t i = 0; i < pages.size(); ++i) {
        ASSERT_EQ(pages[i], whole[i]) << kind << " by " << rows;
      }
    }
  }
}

TEST_F(QuerySeries, ACursorOfAnotherQueryIsRefused) {
  QuerySpec spec = Select("m1");
  spec.page_rows = 5;
  auto result = *db_->Query(spec);
  ColumnBatch batch;
  while (result->NextSeries()) {
    while (result->NextBatch(&batch)) {
    }
  }
  spec.cursor = result->cursor();
  ASSERT_FALSE(spec.cursor.empty());
  EXPECT_TRUE(db_->Query(spec).ok());
  spec.range.to = 500;  // the end of the range may move
  EXPECT_TRUE(db_->Query(spec).ok());
  spec.selector = *Selector::Parse("m2");
  EXPECT_EQ(db_->Query(spec).status().code(), StatusCode::kInvalidArgument);
  for (const char* bad : {"x", "1", "1.2.3", "2.0.1.-.0", "1.zz.1.-.0", "1.0.1.-.0.0", "1.0.1..0", "1.0.-1.-.0"}) {
    spec.cursor = bad;
    EXPECT_EQ(db_->Query(spec).status().code(), StatusCode::kInvalidArgument) << bad;
  }
}

TEST_F(QuerySeries, EachLimitEndsAQueryAndIsNamed) {
  const auto expect = [&](const QuerySpec& spec, StatusCode code, const char* name) {
    Status status;
    Answer(*db_, spec, &status);
    EXPECT_EQ(status.code(), code) << name << ": " << status.ToString();
    EXPECT_NE(status.message().find(name), std::string::npos) << status.ToString();
  };
  QuerySpec spec = Select("{}");
  spec.limits.series_max = 39;
  expect(spec, StatusCode::kResourceExhausted, "series_max");
  spec = Select("{}");
  spec.limits.samples_max = 50'000;
  expect(spec, StatusCode::kResourceExhausted, "samples_max");
  spec.threads = 4;
  expect(spec, StatusCode::kResourceExhausted, "samples_max");
  spec = Select("{}");
  spec.aggregators = {Aggregator::kCount};
  spec.bucket.width = 1;
  spec.fill = Fill::kEmpty;
  spec.limits.buckets_max = 1000;
  expect(spec, StatusCode::kResourceExhausted, "buckets_max");
  spec = Select("{}");
  spec.reduce = Aggregator::kSum;
  spec.limits.buckets_max = 1000;
  expect(spec, StatusCode::kResourceExhausted, "buckets_max");
  spec = Select("{}");
  std::stop_source stop;
  spec.stop = stop.get_token();
  Status status;
  EXPECT_EQ(Answer(*db_, spec, &status).size(), 39u);
  EXPECT_TRUE(status.ok());
  stop.request_stop();
  expect(spec, StatusCode::kCancelled, "stopped");
}

TEST_F(QuerySeries, WhatMakesNoSenseIsRefused) {
  const auto code = [&](const QuerySpec& spec) { return db_->Query(spec).status().code(); };
  QuerySpec spec;
  spec.series = {SeriesRef{SeriesId{123'456}}};
  EXPECT_EQ(code(spec), StatusCode::kNotFound);
  std::vector<QuerySpec> bad(12);
  bad[0].aggregators = {Aggregation::Quantile(1.5)};
  bad[1].bucket.width = -1;
  bad[2].fill = Fill::kNull;
  bad[3].latest = true;
  bad[3].aggregators = {Aggregator::kMax};
  bad[4].group_by = {"host"};
  bad[5].reduce = Aggregator::kTwa;
  bad[6].reduce = Aggregator::kSum;
  bad[6].join = true;
  bad[7].values = ValueRange{2, 1};
  bad[8].bucket.calendar = CalendarUnit::kDay;
  bad[8].bucket.time_zone = "Nowhere/Never";
  bad[9].top = {3, Aggregator::kSum, false};
  bad[9].page_rows = 5;
  bad[10].bucket.time_zone = "Europe/Berlin";
  bad[11].aggregators = {static_cast<Aggregator>(99)};
  for (std::size_t i = 0; i < bad.size(); ++i) {
    EXPECT_EQ(code(bad[i]), StatusCode::kInvalidArgument) << i;
  }
}

}  // namespace
}  // namespace tsdb::engine
