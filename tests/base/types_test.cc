#include "tsdb/types.h"

#include <gtest/gtest.h>

namespace tsdb {
namespace {

constexpr TimeUnit kS = TimeUnit::kSeconds;
constexpr TimeUnit kMs = TimeUnit::kMilliseconds;
constexpr TimeUnit kUs = TimeUnit::kMicroseconds;
constexpr TimeUnit kNs = TimeUnit::kNanoseconds;

TEST(Types, NamesParseBackToWhatTheyName) {
  for (const TimeUnit unit : {kS, kMs, kUs, kNs}) {
    EXPECT_EQ(*ParseTimeUnit(TimeUnitName(unit)), unit);
  }
  for (int i = 0; i <= static_cast<int>(DuplicatePolicy::kSum); ++i) {
    const auto policy = static_cast<DuplicatePolicy>(i);
    EXPECT_EQ(*ParseDuplicatePolicy(DuplicatePolicyName(policy)), policy);
  }
  for (int i = 0; i <= static_cast<int>(Durability::kAlways); ++i) {
    const auto durability = static_cast<Durability>(i);
    EXPECT_EQ(*ParseDurability(DurabilityName(durability)), durability);
  }
  EXPECT_EQ(DuplicatePolicyName(DuplicatePolicy::kBlock), "block");
  EXPECT_EQ(DurabilityName(Durability::kInterval), "interval");
}

TEST(Types, UnknownNameIsRefusedAndTheMessageListsTheNames) {
  EXPECT_EQ(ParseDuplicatePolicy("newest").status().message(),
            "'newest' is not a duplicate policy; use one of: last block first min max sum");
  EXPECT_EQ(ParseTimeUnit("").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ParseDurability("Always").status().code(), StatusCode::kInvalidArgument);
}

TEST(ConvertTime, RoundsTowardsMinusInfinity) {
  struct Row {
    Timestamp time;
    TimeUnit from, to;
    Timestamp expected;
  };
  const Row rows[] = {
      {1'999, kMs, kS, 1},         {-1, kMs, kS, -1},           {-1'000, kMs, kS, -1},
      {-1'001, kMs, kS, -2},       {0, kNs, kS, 0},             {7, kS, kNs, 7'000'000'000},
      {-7, kS, kMs, -7'000},       {42, kUs, kUs, 42},          {kTimestampMax, kNs, kMs, 9'223'372'036'854},
      {kTimestampMin, kNs, kMs, -9'223'372'036'855},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(*ConvertTime(row.time, row.from, row.to), row.expected) << row.time;
  }
}

TEST(ConvertTime, SaysOutOfRangeInsteadOfWrapping) {
  EXPECT_EQ(ConvertTime(9'223'372'037, kS, kNs).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(ConvertTime(-9'223'372'037, kS, kNs).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(*ConvertTime(9'223'372'036, kS, kNs), 9'223'372'036'000'000'000);
  EXPECT_EQ(ConvertTime(kTimestampMin, kMs, kUs).status().message(),
            "time -9223372036854775807 ms does not fit in us");
}

}  // namespace
}  // namespace tsdb
