// What a query does not decode: chunks, pages and whole series that statistics answer, pages a filter passes over.
#include <limits>
#include <random>

#include "tests/engine/query_answer.h"

namespace tsdb::engine {
namespace {

using QueryStatisticsTest = QuerySeries;

TEST_F(QueryStatisticsTest, StatisticsOfAQueryTellWhatItDid) {
  TSDB_ASSERT_OK(db_->Flush());
  QuerySpec spec = Select("{}");
  spec.aggregators = {Aggregator::kSum, Aggregator::kMin, Aggregator::kFirst, Aggregator::kLast, Aggregator::kCount};
  spec.explain = true;
  for (const bool use_statistics : {true, false}) {
    spec.use_statistics = use_statistics;
    auto result = *db_->Query(spec);
    ColumnBatch batch;
    std::uint64_t rows = 0;
    while (result->NextSeries()) {
      while (result->NextBatch(&batch)) {
        rows += batch.times.size();
      }
    }
    const QueryStatistics& statistics = result->statistics();
    EXPECT_EQ(rows, 39u);
    EXPECT_EQ(statistics.rows, 39u);
    EXPECT_EQ(statistics.series, 40u);
    const std::uint64_t samples = 6 * 5 + 33 * 3000;
    EXPECT_EQ(statistics.samples_answered, use_statistics ? samples : 0);
    EXPECT_EQ(statistics.samples_decoded, use_statistics ? 0 : samples);
    EXPECT_GT(statistics.total_seconds, 0);
  }
}

TEST_F(QueryStatisticsTest, ALongSeriesIsAnsweredByWhatItsChunksAddUpTo) {
  std::mt19937_64 random(3);
  const SeriesRef ref = *db_->CreateSeries(Series("long"));
  double counter = 0;
  const auto write = [&](Timestamp from, Timestamp to) {
    WriteBatch batch;
    for (Timestamp time = from; time < to; ++time) {
      counter = random() % 5000 == 0 ? 0 : counter + static_cast<double>(random() % 100) / 8;
      batch.Add(ref, time * 10, random() % 1000 == 0 ? std::numeric_limits<double>::quiet_NaN() : counter);
    }
    ASSERT_TRUE(db_->Append(batch).ok());
  };
  QuerySpec spec = Select("long");
  spec.aggregators = {Aggregator::kCount, Aggregator::kCountNan, Aggregator::kCountAll, Aggregator::kSum,
                      Aggregator::kAvg,   Aggregator::kMin,      Aggregator::kMax,      Aggregator::kFirst,
                      Aggregator::kLast,  Aggregator::kIncrease};
  const auto check = [&](const char* what, bool summed) {
    for (const std::int64_t width : {std::int64_t{0}, std::int64_t{10'000'000}, std::int64_t{700'000}}) {
      for (const TimeRange range : {TimeRange{}, TimeRange{-5, 30'000'000}, TimeRange{12'345, 1'234'567}}) {
        spec.bucket.width = width;
        spec.range = range;
        spec.use_statistics = false;
        const auto plain = Answer(*db_, spec);
        spec.use_statistics = true;
        EXPECT_EQ(Answer(*db_, spec), plain) << what << " width " << width << " from " << range.from;
        EXPECT_EQ(Answer(*db_, spec), plain) << what << " again, width " << width << " from " << range.from;
      }
    }
    spec.bucket.width = 0;
    spec.range = {};
    auto result = *db_->Query(spec);
    ColumnBatch batch;
    while (result->NextSeries()) {
      while (result->NextBatch(&batch)) {
      }
    }
    EXPECT_EQ(result->statistics().samples_decoded == 0, summed) << what;
    EXPECT_GE(result->statistics().chunks, 100u) << what;
  };
  TSDB_ASSERT_OK(db_->Flush());
  write(0, 150'000);
  TSDB_ASSERT_OK(db_->Flush());
  check("one file", true);
  write(150'000, 151'000);
  check("a file and the head behind it", true);
  TSDB_ASSERT_OK(Put(*db_, ref, 500'005, 3));
  check("a late sample in the head", false);
  TSDB_ASSERT_OK(db_->Flush());
  check("a late sample in a file", false);
}

// Statistics of several pages of full doubles are kept together.
TEST_F(QueryStatisticsTest, PartsOfACompactedChunkAnswerTheBucketsTheyLieIn) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> any(-1e6, 1e6);
  const SeriesRef ref = *db_->CreateSeries(Series("noise"));
  WriteBatch batch;
  std::uint64_t samples = 0;
  for (Timestamp time = 0; time < 40'000; ++time, ++samples) {
    batch.Add(ref, time * 10 + static_cast<Timestamp>(random() % 7), any(random));
  }
  ASSERT_TRUE(db_->Append(batch).ok());
  TSDB_ASSERT_OK(db_->Flush());
  TSDB_ASSERT_OK(db_->Compact().status());
  QuerySpec spec = Select("noise");
  spec.aggregators = {Aggregator::kCount, Aggregator::kSum,   Aggregator::kAvg,  Aggregator::kMin,
                      Aggregator::kMax,   Aggregator::kFirst, Aggregator::kLast, Aggregator::kTwa};
  for (const std::int64_t width : {1'000, 30'000, 50'000, 1'000'000}) {
    for (const TimeRange range : {TimeRange{}, TimeRange{12'345, 234'567}}) {
      for (const bool filtered : {false, true}) {
        spec.bucket.width = width;
        spec.range = range;
        spec.values = filtered ? std::optional(ValueRange{-999'000, 999'900}) : std::nullopt;
        spec.use_statistics = false;
        const auto plain = Answer(*db_, spec);
        spec.use_statistics = true;
        EXPECT_EQ(Answer(*db_, spec), plain) << width << " from " << range.from << (filtered ? ", filtered" : "");
      }
    }
  }
  spec = Select("noise");
  spec.aggregators = {Aggregator::kSum, Aggregator::kMax};
  spec.bucket.width = 50'000;
  auto result = *db_->Query(spec);
  ColumnBatch rows;
  while (result->NextSeries()) {
    while (result->NextBatch(&rows)) {
    }
  }
  EXPECT_GT(result->statistics().pages_answered, 0u);
  EXPECT_GE(result->statistics().samples_answered, 1500 * result->statistics().pages_answered);
  EXPECT_EQ(result->statistics().samples_answered + result->statistics().samples_decoded, samples);
}

TEST_F(QueryStatisticsTest, AValueFilterPassesOverPagesWithoutSuchValues) {
  const SeriesRef ref = *db_->CreateSeries(Series("steps"));
  WriteBatch batch;
  for (int i = 0; i < 20'000; ++i) {
    batch.Add(ref, i, i);
  }
  ASSERT_TRUE(db_->Append(batch).ok());
  TSDB_ASSERT_OK(db_->Flush());
  QuerySpec spec = Select("steps");
  spec.values = ValueRange{15'000, 15'003};
  auto result = *db_->Query(spec);
  std::vector<double> values;
  ColumnBatch rows;
  while (result->NextSeries()) {
    while (result->NextBatch(&rows)) {
      values.insert(values.end(), rows.columns[0].begin(), rows.columns[0].end());
    }
  }
  EXPECT_EQ(values, (std::vector<double>{15'000, 15'001, 15'002, 15'003}));
  EXPECT_LE(result->statistics().samples_decoded, 2048u);
}

}  // namespace
}  // namespace tsdb::engine
