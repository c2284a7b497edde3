#include "tsdb/aggregation.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tests/base/random_text.h"

namespace tsdb {
namespace {

TEST(Aggregator, NamesParseBackToWhatTheyName) {
  const std::string_view names[] = {"avg",      "sum",   "min",  "max",   "range", "count", "countnan",
                                    "countall", "first", "last", "std.p", "std.s", "var.p", "var.s",
                                    "twa",      "increase", "rate", "quantile"};
  for (const std::string_view name : names) {
    EXPECT_EQ(AggregatorName(*ParseAggregator(name)), name);
  }
  EXPECT_EQ(*ParseAggregator("countall"), Aggregator::kCountAll);
  EXPECT_EQ(*ParseAggregator("var.s"), Aggregator::kVarS);
  EXPECT_EQ(ParseAggregator("AVG").status().code(), StatusCode::kInvalidArgument);
}

TEST(Aggregation, AParameterIsPartOfTheName) {
  EXPECT_EQ(*ParseAggregation("quantile(0.99)"), Aggregation::Quantile(0.99));
  EXPECT_EQ(*ParseAggregation("quantile(1)"), Aggregation::Quantile(1));
  EXPECT_EQ(*ParseAggregation("max"), Aggregation(Aggregator::kMax));
  EXPECT_EQ(AggregationName(Aggregation::Quantile(0.5)), "quantile(0.5)");
  EXPECT_EQ(AggregationName(Aggregator::kStdP), "std.p");
  for (const char* bad : {"quantile", "quantile()", "quantile(1.5)", "quantile(-0.1)", "quantile(nan)", "quantile(0.5",
                          "quantile(0.5))", "quantile(0,5)", "max(1)", ""}) {
    EXPECT_EQ(ParseAggregation(bad).status().code(), StatusCode::kInvalidArgument) << bad;
  }
}

TEST(CalendarUnit, NamesParseBackToWhatTheyName) {
  for (const char* name : {"day", "week", "month", "year"}) {
    EXPECT_EQ(CalendarUnitName(*ParseCalendarUnit(name)), name);
  }
  EXPECT_EQ(ParseCalendarUnit("none").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(FillName(Fill::kConstant), "constant");
}

TEST(BucketStart, FloorsTowardsMinusInfinity) {
  struct Row {
    Timestamp time;
    std::int64_t width;
    Timestamp align, expected;
  };
  const Row rows[] = {
      {0, 10, 0, 0},    {9, 10, 0, 0},   {10, 10, 0, 10}, {-1, 10, 0, -10}, {-10, 10, 0, -10}, {-11, 10, 0, -20},
      {12, 10, 3, 3},   {13, 10, 3, 13}, {2, 10, 3, -7},  {5, 1, 0, 5},     {100, 10, 1003, 93},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(BucketStart(row.time, {.width = row.width, .align = row.align}), row.expected)
        << row.time << " width " << row.width << " align " << row.align;
  }
}

TEST(BucketStart, SaturatesAtTheFirstTime) {
  EXPECT_EQ(BucketStart(kTimestampMin, {.width = 10}), kTimestampMin);
  EXPECT_EQ(BucketStart(kTimestampMin, {.width = kTimestampMax, .align = 1}), kTimestampMin);
  EXPECT_EQ(BucketStart(5, {.width = 0}), kTimestampMin);
  EXPECT_EQ(BucketStart(5, {.width = -3}), kTimestampMin);
}

TEST(BucketStart, EqualsWideArithmeticForAnyNumbers) {
  __extension__ using Int128 = __int128;
  const std::uint64_t seed = TestSeed();
  SCOPED_TRACE(testing::Message() << "TSDB_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  const auto any = [&]() -> std::int64_t {
    const std::int64_t edges[] = {kNow, kTimestampMin, kTimestampMax, -1, 0, 1};
    return random() % 4 == 0 ? edges[random() % 6] : static_cast<std::int64_t>(random()) >> random() % 64;
  };
  for (int i = 0; i < 100'000; ++i) {
    const Timestamp time = any();
    const Timestamp align = any();
    const std::int64_t width = std::max<std::int64_t>(1, any() & kTimestampMax);
    Int128 k = (static_cast<Int128>(time) - align) / width;
    if (k * width > static_cast<Int128>(time) - align) {
      --k;
    }
    const Int128 start = std::max<Int128>(k * width + align, kTimestampMin);
    ASSERT_EQ(BucketStart(time, {.width = width, .align = align}), static_cast<Timestamp>(start))
        << time << " width " << width << " align " << align;
  }
}

}  // namespace
}  // namespace tsdb
