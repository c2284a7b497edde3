// What users of such engines stumbled over: buckets before 1970, variances of close values, gaps, NaN and infinities.
#include <cmath>
#include <limits>

#include "tests/engine/engine_test_util.h"

namespace tsdb::engine {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class QueryCases : public testing::Test {
 protected:
  void SetUp() override {
    OpenOptions options = QuietOptions();
    options.future_limit_ms = -1;
    TSDB_ASSERT_OPEN(db_, "/db", options, MemoryEnvironment(&fs_, &clock_));
    ref_ = *db_->CreateSeries(Series("m"));
  }

  void Write(std::initializer_list<Sample> samples) {
    for (const Sample& sample : samples) {
      TSDB_ASSERT_OK(Put(*db_, ref_, sample.time, sample.value));
    }
  }

  /// Runs the check on samples in the head, then in a file, then merged.
  template <typename Check>
  void InHeadAndFiles(const Check& check) {
    check("head");
    TSDB_ASSERT_OK(db_->Flush());
    check("file");
    ASSERT_TRUE(db_->Compact().ok());
    check("merged");
  }

  static QuerySpec Buckets(const Aggregation& aggregation, std::int64_t width, TimeRange range = {}) {
    QuerySpec spec;
    spec.range = range;
    spec.aggregators = {aggregation};
    spec.bucket.width = width;
    return spec;
  }

  void ExpectRows(const QuerySpec& spec, const std::vector<Sample>& expected, const std::string& what) {
    const std::vector<Sample> rows = ReadRows(*db_, spec);
    ASSERT_EQ(rows.size(), expected.size()) << what;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].time, expected[i].time) << what;
      if (std::isnan(expected[i].value)) {
        EXPECT_TRUE(std::isnan(rows[i].value)) << what << " at " << rows[i].time << ": " << rows[i].value;
      } else {
        EXPECT_DOUBLE_EQ(rows[i].value, expected[i].value) << what << " at " << rows[i].time;
      }
    }
  }

  MemoryFileSystem fs_;
  FakeClock clock_;
  std::unique_ptr<Database> db_;
  SeriesRef ref_;
};

TEST_F(QueryCases, BucketsBefore1970BeginBelowTheirSamples) {
  Write({{-101, 1}, {-100, 1}, {-1, 1}, {0, 1}, {99, 1}, {100, 1}});
  InHeadAndFiles([&](const std::string& where) {
    QuerySpec spec = Buckets(Aggregator::kCount, 100, {-1000, 1000});
    ExpectRows(spec, {{-200, 1}, {-100, 2}, {0, 2}, {100, 1}}, where);
    spec.bucket.align = 30;
    ExpectRows(spec, {{-170, 2}, {-70, 2}, {30, 2}}, where);
  });
}

TEST_F(QueryCases, TheHalfHourBefore1970IsInTheHourBefore) {
  Write({{-3'600'000, 1}, {-1'800'000, 1}, {-1, 1}, {0, 1}, {1, 1}, {1'800'000, 1}, {3'599'999, 1}});
  InHeadAndFiles([&](const std::string& where) {
    ExpectRows(Buckets(Aggregator::kSum, 3'600'000), {{-3'600'000, 3}, {0, 4}}, where);
    ExpectRows(Buckets(Aggregator::kSum, 86'400'000), {{-86'400'000, 3}, {0, 4}}, where);
    QuerySpec days = Buckets(Aggregator::kSum, 0);
    days.bucket.calendar = CalendarUnit::kDay;
    ExpectRows(days, {{-86'400'000, 3}, {0, 4}}, where);
  });
}

TEST_F(QueryCases, DaysOfATimeZoneAreAsLongAsTheyAre) {
  // Hours from the evening of 2025-03-29 in Berlin on; the clocks go forward in the night that follows.
  const Timestamp begin = 1'743'285'600'000;  // 2025-03-29T22:00Z, 23:00 there
  for (int hour = 0; hour < 60; ++hour) {
    Write({{begin + hour * 3'600'000, 1}});
  }
  InHeadAndFiles([&](const std::string& where) {
    QuerySpec spec = Buckets(Aggregator::kCount, 0);
    spec.bucket.calendar = CalendarUnit::kDay;
    spec.bucket.time_zone = "Europe/Berlin";
    const Timestamp sunday = begin + 3'600'000;
    const Timestamp monday = sunday + 23 * 3'600'000;
    ExpectRows(spec, {{sunday - 24 * 3'600'000, 1}, {sunday, 23}, {monday, 24}, {monday + 24 * 3'600'000, 12}}, where);
    spec.bucket.label = BucketLabel::kEnd;
    spec.reverse = true;
    spec.limit = 2;
    ExpectRows(spec, {{monday + 48 * 3'600'000, 12}, {monday + 24 * 3'600'000, 24}}, where);
    spec = Buckets(Aggregator::kSum, 0);
    spec.bucket.calendar = CalendarUnit::kMonth;
    spec.bucket.time_zone = "Europe/Berlin";
    ExpectRows(spec, {{1'740'783'600'000, 48}, {1'743'458'400'000, 12}}, where);
  });
}

TEST_F(QueryCases, FillsTakeTheRowsOnBothSides) {
  Write({{5, 10}, {25, 30}, {27, 40}, {55, 60}});
  struct Row {
    Fill fill;
    std::vector<double> values;  // of the buckets 10, 30 and 40; then of 30 and 40 when the range is 30 to 49
    std::vector<double> between;
  };
  const Row rows[] = {
      {Fill::kNull, {kNaN, kNaN, kNaN}, {kNaN, kNaN}},
      {Fill::kConstant, {-7, -7, -7}, {-7, -7}},
      {Fill::kPrevious, {10, 35, 35}, {35, 35}},
      {Fill::kLinear, {22.5, 35 + 25.0 / 3, 35 + 50.0 / 3}, {35 + 25.0 / 3, 35 + 50.0 / 3}},
  };
  InHeadAndFiles([&](const std::string& where) {
    for (const Row& row : rows) {
      QuerySpec spec = Buckets(Aggregator::kAvg, 10);
      spec.fill = row.fill;
      spec.fill_value = -7;
      std::vector<Sample> expected = {{0, 10}, {10, row.values[0]}, {20, 35}, {30, row.values[1]}, {40, row.values[2]},
                                      {50, 60}};
      ExpectRows(spec, expected, where + " " + std::string(FillName(row.fill)));
      spec.reverse = true;
      std::reverse(expected.begin(), expected.end());
      ExpectRows(spec, expected, where + " reverse " + std::string(FillName(row.fill)));
      spec.reverse = false;
      spec.range = {30, 49};
      ExpectRows(spec, {{30, row.between[0]}, {40, row.between[1]}}, where + " " + std::string(FillName(row.fill)));
    }
  });
}

TEST_F(QueryCases, VariancesOfCloseValuesAreRight) {
  struct Row {
    std::vector<double> values;
    double var_p, var_s;
  };
  const Row rows[] = {
      {{0.1, 0.1, 0.1}, 0, 0},
      {{1000000004, 1000000007, 1000000013, 1000000016}, 22.5, 30},
      {{1447286400000, 1447286400000, 1447286400000, 1447286400000}, 0, 0},
      {{5}, 0, kNaN},
      {{1e308, -1e308}, kInf, kInf},  // beyond the range of double
      {{1e-200, 3e-200}, 0, 0},  // below it
      {{1e9, 1e9 + 0x1p-23, 1e9 + 0x1p-22}, 0x1p-46 * 2 / 3, 0x1p-46},
  };
  int number = 0;
  for (const Row& row : rows) {
    ref_ = *db_->CreateSeries(Series("v" + std::to_string(number)));
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      Write({{static_cast<Timestamp>(i), row.values[i]}});
    }
    QuerySpec spec;
    spec.selector = *Selector::Parse("v" + std::to_string(number));
    spec.aggregators = {Aggregator::kVarP};
    ExpectRows(spec, {{0, row.var_p}}, "var.p " + std::to_string(number));
    spec.aggregators = {Aggregator::kVarS};
    ExpectRows(spec, {{0, row.var_s}}, "var.s " + std::to_string(number));
    ++number;
  }
}

TEST_F(QueryCases, EmptyBucketsFollowTheTable) {
  Write({{5, 10}, {25, 30}, {27, 40}, {55, 60}});
  struct Row {
    Aggregation aggregation;
    std::vector<double> values;  // of the buckets 0 to 50
  };
  const Row rows[] = {
      {Aggregator::kSum, {10, 0, 70, 0, 0, 60}},
      {Aggregator::kCount, {1, 0, 2, 0, 0, 1}},
      {Aggregator::kCountAll, {1, 0, 2, 0, 0, 1}},
      {Aggregator::kAvg, {10, kNaN, 35, kNaN, kNaN, 60}},
      {Aggregator::kMin, {10, kNaN, 30, kNaN, kNaN, 60}},
      {Aggregator::kFirst, {10, kNaN, 30, kNaN, kNaN, 60}},
      {Aggregator::kMax, {10, kNaN, 40, kNaN, kNaN, 60}},
      {Aggregator::kLast, {10, 10, 40, 40, 40, 60}},
      {Aggregator::kStdP, {0, kNaN, 5, kNaN, kNaN, 0}},
      {Aggregator::kRange, {0, kNaN, 10, kNaN, kNaN, 0}},
      {Aggregator::kIncrease, {0, 0, 30, 0, 0, 20}},
      {Aggregation::Quantile(0.5), {10, kNaN, 35, kNaN, kNaN, 60}},
  };
  InHeadAndFiles([&](const std::string& where) {
    for (const Row& row : rows) {
      QuerySpec spec = Buckets(row.aggregation, 10, {0, 59});
      spec.fill = Fill::kEmpty;
      std::vector<Sample> expected;
      for (std::size_t i = 0; i < row.values.size(); ++i) {
        expected.push_back({static_cast<Timestamp>(10 * i), row.values[i]});
      }
      ExpectRows(spec, expected, where + " " + AggregationName(row.aggregation));
      spec.range.to = 100'000;  // no buckets behind the last sample
      ExpectRows(spec, expected, where + " " + AggregationName(row.aggregation));
      spec.reverse = true;
      std::reverse(expected.begin(), expected.end());
      ExpectRows(spec, expected, where + " reverse " + AggregationName(row.aggregation));
    }
    QuerySpec spec = Buckets(Aggregator::kLast, 10, {12, 48});
    spec.fill = Fill::kEmpty;
    ExpectRows(spec, {{10, 10}, {20, 40}, {30, 40}, {40, 40}}, where);
    spec.reverse = true;
    ExpectRows(spec, {{40, 40}, {30, 40}, {20, 40}, {10, 10}}, where);
    spec = Buckets(Aggregator::kSum, 10, {12, 48});
    spec.fill = Fill::kEmpty;
    ExpectRows(spec, {{10, 0}, {20, 70}, {30, 0}, {40, 0}}, where);
    spec = Buckets(Aggregator::kTwa, 10, {0, 59});
    spec.fill = Fill::kEmpty;
    const auto rows_of_twa = ReadRows(*db_, spec);
    ASSERT_EQ(rows_of_twa.size(), 6u);
    EXPECT_NEAR(rows_of_twa[1].value, 20, 1e-12);
    EXPECT_NEAR(rows_of_twa[3].value, 40 + 20.0 * 8 / 28, 1e-12);
    EXPECT_NEAR(rows_of_twa[4].value, 40 + 20.0 * 18 / 28, 1e-12);
    spec.range = {48, 12};
    ExpectRows(spec, {}, where);
    // A range between two samples: nothing in it, and yet buckets.
    spec = Buckets(Aggregator::kCount, 5, {31, 44});
    spec.fill = Fill::kEmpty;
    ExpectRows(spec, {{30, 0}, {35, 0}, {40, 0}}, where);
  });
}

TEST_F(QueryCases, TimeWeightedAveragesOfTheWorkedExample) {
  Write({{0, 1}, {5, 3}, {12, 10}, {47, 20}, {55, 8}});
  const double expected[] = {3.75, 10.714285714285714, 13.714285714285714, 16.57142857142857, 18.625, 11.75};
  InHeadAndFiles([&](const std::string& where) {
    QuerySpec spec = Buckets(Aggregator::kTwa, 10);
    spec.fill = Fill::kEmpty;
    for (const bool reverse : {false, true}) {
      spec.reverse = reverse;
      const auto rows = ReadRows(*db_, spec);
      ASSERT_EQ(rows.size(), 6u) << where;
      for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_NEAR(rows[i].value, expected[reverse ? 5 - i : i], 1e-12) << where << " bucket " << i;
      }
    }
  });
}

TEST_F(QueryCases, IncreasesOfBucketsAddUpAcrossResetsAndGaps) {
  Write({{1, 5}, {8, 9}, {13, 2}, {17, 6}, {41, 7}, {45, kNaN}, {52, 1}, {58, 3}});
  InHeadAndFiles([&](const std::string& where) {
    // 5→9 | fall to 2, →6 | →7 | fall to 1, →3
    ExpectRows(Buckets(Aggregator::kIncrease, 10), {{0, 4}, {10, 6}, {40, 1}, {50, 3}}, where);
    ExpectRows(Buckets(Aggregator::kIncrease, 0), {{1, 14}}, where);
    // The sample before the range counts.
    ExpectRows(Buckets(Aggregator::kIncrease, 10, {16, 44}), {{10, 4}, {40, 1}}, where);
    // By the second, of the part inside the range.
    ExpectRows(Buckets(Aggregator::kRate, 10, {16, 44}), {{10, 4 / 0.004}, {40, 1 / 0.004}}, where);
    ExpectRows(Buckets(Aggregator::kRate, 10, {0, 59}), {{0, 400}, {10, 600}, {40, 100}, {50, 300}}, where);
  });
}

TEST_F(QueryCases, NaNAndInfinitiesComeBackBitForBit) {
  const std::uint64_t bits[] = {0x405ec00000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x407c800000000000,
                                0x7ff8000000000001, 0x7ff0000000000002, 0x8000000000000000, 0x4088a80000000000};
  Samples written;
  for (std::size_t i = 0; i < std::size(bits); ++i) {
    const auto time = static_cast<Timestamp>(1'700'000'000'000 + 1000 * i);
    TSDB_ASSERT_OK(Put(*db_, ref_, time, std::bit_cast<double>(bits[i])));
    written[time] = bits[i];
  }
  InHeadAndFiles([&](const std::string& where) {
    EXPECT_EQ(ReadAll(*db_).begin()->second, written) << where;
    const Timestamp first = written.begin()->first;
    ExpectRows(Buckets(Aggregator::kMin, 0), {{first, -kInf}}, where);
    ExpectRows(Buckets(Aggregator::kMax, 0), {{first, kInf}}, where);
    ExpectRows(Buckets(Aggregator::kCount, 0), {{first, 6}}, where);
    ExpectRows(Buckets(Aggregator::kCountNan, 0), {{first, 2}}, where);
    ExpectRows(Buckets(Aggregator::kSum, 0), {{first, kNaN}}, where);
    ExpectRows(Buckets(Aggregator::kVarP, 0), {{first, kNaN}}, where);
    QuerySpec finite = Buckets(Aggregator::kSum, 0);
    finite.values = ValueRange{-1e300, 1e300};
    ExpectRows(finite, {{first, 123 + 456 + 789}}, where);
  });
}

TEST_F(QueryCases, AbsentAndEmptyLabelsAreOneToSelectorsAndGroups) {
  const char* labels[] = {"prod", "dev", "", ""};
  for (int i = 0; i < 4; ++i) {
    const Labels set{{"__name__", "up"}, {"id", std::string(1, static_cast<char>('a' + i))}, {"env", labels[i]}};
    TSDB_ASSERT_OK(Put(*db_, *db_->CreateSeries(set), 1, 1));
  }
  struct Row {
    const char* matcher;
    const char* ids;
  };
  const Row rows[] = {
      {"env=\"\"", "cd"},          {"env!=\"\"", "ab"},        {"env!=\"prod\"", "bcd"},   {"env=~\".*\"", "abcd"},
      {"env=~\".+\"", "ab"},       {"env!~\".+\"", "cd"},      {"env=~\"prod|\"", "acd"},  {"env=~\".+|^$\"", "abcd"},
      {"nosuch=\"\"", "abcd"},     {"nosuch!=\"\"", ""},       {"nosuch!=\"x\"", "abcd"},  {"env!~\".*\"", ""},
      {"env!=\"\",env!=\"dev\"", "a"},
  };
  InHeadAndFiles([&](const std::string& where) {
    for (const Row& row : rows) {
      QuerySpec spec;
      spec.selector = *Selector::Parse(std::string("up{") + row.matcher + "}");
      std::string ids;
      auto result = db_->Query(spec);
      ASSERT_TRUE(result.ok());
      while ((*result)->NextSeries()) {
        ids += (*result)->series().labels.Get("id");
      }
      EXPECT_EQ(ids, row.ids) << where << " " << row.matcher;
    }
    QuerySpec groups;
    groups.selector = *Selector::Parse("up");
    groups.group_by = {"env"};
    groups.reduce = Aggregator::kCount;
    std::string text;
    auto result = db_->Query(groups);
    ASSERT_TRUE(result.ok());
    ColumnBatch batch;
    while ((*result)->NextSeries()) {
      ASSERT_TRUE((*result)->NextBatch(&batch));
      text += (*result)->series().key + ":" + std::to_string(static_cast<int>(batch.columns[0][0])) + " ";
    }
    EXPECT_EQ(text, "env=:2 env=dev:1 env=prod:1 ") << where;
  });
}

}  // namespace
}  // namespace tsdb::engine
