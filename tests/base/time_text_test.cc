#include "tsdb/time_text.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tests/base/random_text.h"

namespace tsdb {
namespace {

constexpr TimeUnit kS = TimeUnit::kSeconds;
constexpr TimeUnit kMs = TimeUnit::kMilliseconds;
constexpr TimeUnit kUs = TimeUnit::kMicroseconds;
constexpr TimeUnit kNs = TimeUnit::kNanoseconds;
constexpr Timestamp kNowMs = 1'700'000'000'123;

TEST(ParseDuration, ReadsUnitsAndIntegers) {
  struct Row {
    std::string_view text;
    TimeUnit unit;
    std::int64_t expected;
  };
  const Row rows[] = {
      {"500ms", kMs, 500},         {"10s", kMs, 10'000},           {"5m", kS, 300},
      {"1h", kMs, 3'600'000},      {"7d", kS, 604'800},            {"2w", kS, 1'209'600},
      {"1y", kS, 31'536'000},      {"1h30m", kMs, 5'400'000},      {"1s500ms", kMs, 1'500},
      {"1500us", kUs, 1'500},      {"3ns", kNs, 3},                {"42", kS, 42},
      {"0", kMs, 0},               {"-7", kMs, -7},                {"-1h", kS, -3'600},
      {"9223372036854775807", kNs, kTimestampMax},                 {"0s", kS, 0},
      {"2000ms", kS, 2},
  };
  for (const Row& row : rows) {
    const auto parsed = ParseDuration(row.text, row.unit);
    ASSERT_TRUE(parsed.ok()) << row.text << ": " << parsed.status().ToString();
    EXPECT_EQ(*parsed, row.expected) << row.text;
  }
}

TEST(ParseDuration, RefusesWhatIsNotAWholeNumberOfUnitsOrNoDuration) {
  const std::string_view texts[] = {"",    "-",     "h",    "1.5h", "1h 30m", "30m1h", "1h1h",  "5 m",
                                    "+5m", "--5m",  "5M",   "1hh", "1e3s", "500us",  "1ns",   "1001us", "300000000y",
                                    "99999999999999999999", "99999999999999999999s", "0x10"};
  for (const std::string_view text : texts) {
    const auto parsed = ParseDuration(text, kMs);
    ASSERT_FALSE(parsed.ok()) << text << " gave " << *parsed;
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument) << text;
  }
  EXPECT_NE(ParseDuration("500us", kMs).status().message().find("not a whole number of ms"), std::string_view::npos);
}

TEST(FormatDuration, WritesLargestUnitsFirst) {
  struct Row {
    std::int64_t duration;
    TimeUnit unit;
    std::string_view expected;
  };
  const Row rows[] = {
      {5'400'000, kMs, "1h30m"},  {500, kMs, "500ms"},   {0, kNs, "0s"},           {1'209'600, kS, "2w"},
      {1'296'000, kS, "15d"},     {31'536'000, kS, "1y"}, {-90, kS, "-1m30s"},     {1, kNs, "1ns"},
      {1'001'001, kNs, "1ms1us1ns"}, {691'200'000, kMs, "8d"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(FormatDuration(row.duration, row.unit), row.expected);
  }
}

TEST(FormatDuration, ParsesBackForAnyNumber) {
  const std::uint64_t seed = TestSeed();
  SCOPED_TRACE(testing::Message() << "TSDB_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20'000; ++i) {
    const auto unit = static_cast<TimeUnit>(random() % 4);
    const std::int64_t duration = i == 0   ? std::numeric_limits<std::int64_t>::min()
                                  : i == 1 ? std::numeric_limits<std::int64_t>::max()
                                           : static_cast<std::int64_t>(random()) >> random() % 64;
    const std::string text = FormatDuration(duration, unit);
    const auto parsed = ParseDuration(text, unit);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.status().ToString();
    ASSERT_EQ(*parsed, duration) << text;
  }
}

TEST(ParseTime, ReadsNumbersDatesAndRelativeTimes) {
  struct Row {
    std::string_view text;
    TimeUnit unit;
    Timestamp expected;
  };
  const Row rows[] = {
      {"0", kMs, 0},
      {"-5", kMs, -5},
      {"1700000000123", kMs, 1'700'000'000'123},
      {"-9223372036854775807", kMs, kTimestampMin},
      {"-", kMs, kTimestampMin},
      {"+", kMs, kTimestampMax},
      {"now", kMs, kNowMs},
      {"now-1h", kMs, kNowMs - 3'600'000},
      {"now+5m", kMs, kNowMs + 300'000},
      {"now-250", kMs, kNowMs - 250},
      {"1970-01-01", kMs, 0},
      {"2026-11-30", kS, 1'795'996'800},
      {"2026-11-30T12:00:00.5Z", kMs, 1'796'040'000'500},
      {"2026-11-30t12:00:00.5z", kS, 1'796'040'000},
      {"2026-11-30 12:00:00+02:00", kS, 1'796'032'800},
      {"2026-11-30T12:00:00-00:30", kS, 1'796'041'800},
      {"2026-11-30T12:00:00.123456789Z", kNs, 1'796'040'000'123'456'789},
      {"2026-11-30T12:00:00.1234567899Z", kNs, 1'796'040'000'123'456'789},
      {"2026-11-30T12:00:00.123999Z", kMs, 1'796'040'000'123},
      {"1969-12-31T23:59:59.9999Z", kMs, -1},
      {"2016-12-31T23:59:60Z", kS, 1'483'228'800},
      {"2024-02-29", kS, 1'709'164'800},
      {"0000-01-01", kS, -62'167'219'200},
      {"9999-12-31T23:59:59Z", kS, 253'402'300'799},
  };
  for (const Row& row : rows) {
    const auto parsed = ParseTime(row.text, row.unit, kNowMs);
    ASSERT_TRUE(parsed.ok()) << row.text << ": " << parsed.status().ToString();
    EXPECT_EQ(*parsed, row.expected) << row.text;
  }
}

TEST(ParseTime, RefusesWhatIsNotATime) {
  const std::string_view texts[] = {"",           "noon",       "now-",         "now--1h",           "now 1h",
                                    "nowish",     "2026-13-01", "2026-02-30",   "2026-1-1",          "2026-11-30T",
                                    "2026-11-30T12:00:00",      "2026-11-30T12:00Z", "2026-11-30T24:00:00Z",
                                    "2026-11-30T12:00:00.Z",    "2026-11-30T12:00:00Zx", "2026-11-30T12:00:00+2:00",
                                    "1.5",        "1e9",        " 5",           "2026-11-30T12:61:00Z", "++",
                                    "now+-5m"};
  for (const std::string_view text : texts) {
    const auto parsed = ParseTime(text, kMs, kNowMs);
    ASSERT_FALSE(parsed.ok()) << text << " gave " << *parsed;
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(ParseTime, SaysOutOfRangeForTimesThatDoNotFit) {
  EXPECT_EQ(ParseTime("9999-01-01", kNs, 0).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(ParseTime("0001-01-01", kNs, 0).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(ParseTime("9223372036854775808", kMs, 0).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(ParseTime("-9223372036854775808", kMs, 0).status().code(), StatusCode::kOutOfRange) << "the number of kNow";
  EXPECT_EQ(ParseTime("now+1ms", kMs, kTimestampMax).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(ParseTime("now-1ms", kMs, kTimestampMin).status().code(), StatusCode::kOutOfRange);
}

TEST(FormatTime, WritesAsManyFractionDigitsAsTheUnitHas) {
  EXPECT_EQ(FormatTime(0, kS), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatTime(1'796'040'000'500, kMs), "2026-11-30T12:00:00.500Z");
  EXPECT_EQ(FormatTime(-1, kUs), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(FormatTime(5, kNs), "1970-01-01T00:00:00.000000005Z");
  EXPECT_EQ(FormatTime(-62'167'219'200, kS), "0000-01-01T00:00:00Z");
  EXPECT_EQ(FormatTime(253'402'300'799, kS), "9999-12-31T23:59:59Z");
}

TEST(FormatTime, PrintsTheIntegerOutsideFourDigitYears) {
  EXPECT_EQ(FormatTime(253'402'300'800, kS), "253402300800");
  EXPECT_EQ(FormatTime(-62'167'219'201, kS), "-62167219201");
  EXPECT_EQ(FormatTime(kTimestampMax, kMs), "9223372036854775807");
  EXPECT_EQ(FormatTime(kTimestampMin, kMs), "-9223372036854775807");
}

TEST(FormatTime, ParsesBackForAnyTime) {
  const std::uint64_t seed = TestSeed();
  SCOPED_TRACE(testing::Message() << "TSDB_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20'000; ++i) {
    const auto unit = static_cast<TimeUnit>(random() % 4);
    const Timestamp time = std::max(static_cast<std::int64_t>(random()) >> random() % 64, kTimestampMin);
    const std::string text = FormatTime(time, unit);
    const auto parsed = ParseTime(text, unit, 0);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.status().ToString();
    ASSERT_EQ(*parsed, time) << text;
  }
}

}  // namespace
}  // namespace tsdb
