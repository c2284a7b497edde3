// Marks of the axes of a chart.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "cli/plot/time_axis.h"
#include "cli/plot/value_axis.h"

namespace tsdb::cli {
namespace {

std::string Labels(double low, double high, std::size_t ticks_max = 5, bool ascii = false) {
  const ValueAxis axis = MakeValueAxis(low, high, ticks_max, ascii);
  std::string text = axis.base.empty() ? "" : axis.base + ":";
  for (const ValueTick& tick : axis.ticks) {
    text += (text.empty() ? "" : " ") + tick.label;
  }
  EXPECT_LE(axis.ticks.size(), ticks_max);
  const long double unseen = (axis.high - axis.low) * 1e-8L;
  EXPECT_LE(axis.low, low + unseen);
  EXPECT_GE(axis.high, high - unseen);
  return text;
}

TEST(ValueAxis, StepsAreRoundAndCoverTheValues) {
  EXPECT_EQ(Labels(0, 100), "0 50 100");
  EXPECT_EQ(Labels(0, 100, 6), "0 20 40 60 80 100");
  EXPECT_EQ(Labels(3, 97), "0 50 100");
  EXPECT_EQ(Labels(-1, 1), "-1.0 -0.5 0 0.5 1.0");
  EXPECT_EQ(Labels(0.21, 0.34), "0.20 0.25 0.30 0.35");
}

TEST(ValueAxis, LargeAndSmallValuesHaveAPrefix) {
  EXPECT_EQ(Labels(0, 9000), "0 5k 10k");
  EXPECT_EQ(Labels(0, 30'000), "0 10k 20k 30k");
  EXPECT_EQ(Labels(1'200'000, 1'900'000), "1.2M 1.4M 1.6M 1.8M 2.0M");
  EXPECT_EQ(Labels(0, 0.003), "0 1m 2m 3m");
  EXPECT_EQ(Labels(0, 2e-6), "0 0.5µ 1.0µ 1.5µ 2.0µ");
  EXPECT_EQ(Labels(0, 2e-6, 5, true), "0 0.5u 1.0u 1.5u 2.0u");
  EXPECT_EQ(Labels(0, 4e30, 5, true), "0 1e+30 2e+30 3e+30 4e+30");
}

TEST(ValueAxis, ValuesThatAreAllTheSameAreInTheMiddle) {
  EXPECT_EQ(Labels(42, 42, 3), "41 42 43");
  EXPECT_EQ(Labels(0, 0, 3), "-1 0 1");
  EXPECT_EQ(Labels(-5e6, -5e6, 3), "-5.1M -5.0M -4.9M");
}

TEST(ValueAxis, ValuesThatDifferLateCountFromABase) {
  EXPECT_EQ(Labels(1'700'000'000.001, 1'700'000'000.004, 4), "1700000000.000: +0 +2m +4m");
}

TEST(ValueAxis, AnyTwoDoublesHaveOne) {
  constexpr double kMax = std::numeric_limits<double>::max();
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  const double pairs[][2] = {{-kMax, kMax}, {0, kTiny}, {kMax, kMax}, {-kTiny, kTiny}, {1, 1 + 1e-15},
                             {1e15, 1e15 + 0.125}, {kMax * 0.999, kMax}, {kTiny, kTiny}, {-1e-300, 1e300}};
  for (const auto& pair : pairs) {
    for (const std::size_t ticks_max : {0u, 3u, 5u, 20u}) {
      const ValueAxis axis = MakeValueAxis(pair[0], pair[1], ticks_max, false);
      ASSERT_GE(axis.ticks.size(), 2u) << pair[0] << " " << pair[1];
      ASSERT_LE(axis.ticks.size(), std::max<std::size_t>(3, ticks_max)) << pair[0] << " " << pair[1];
      for (std::size_t i = 1; i < axis.ticks.size(); ++i) {
        EXPECT_LT(axis.ticks[i - 1].value, axis.ticks[i].value);
        EXPECT_NE(axis.ticks[i - 1].label, axis.ticks[i].label) << pair[0] << " " << pair[1];
      }
    }
  }
}

TEST(ValueAxis, FiguresHaveFourDigits) {
  EXPECT_EQ(FormatFigure(12, false), "12");
  EXPECT_EQ(FormatFigure(0, false), "0");
  EXPECT_EQ(FormatFigure(1'234'567, false), "1.235M");
  EXPECT_EQ(FormatFigure(-0.000'012'3, true), "-12.3u");
  EXPECT_EQ(FormatFigure(9999.7, false), "10k");
  EXPECT_EQ(FormatFigure(3.2e40, false), "32e+39");
}

Timestamp At(int year, unsigned month, unsigned day, int hour = 0, int minute = 0, int second = 0) {
  using namespace std::chrono;
  const sys_days date(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day));
  const auto time = date + hours(hour) + minutes(minute) + seconds(second);
  return duration_cast<milliseconds>(time.time_since_epoch()).count();
}

std::string Ticks(Timestamp from, Timestamp to, std::size_t columns = 70,
                  TimeUnit unit = TimeUnit::kMilliseconds) {
  std::string text;
  for (const TimeTick& tick : MakeTimeTicks({from, to}, unit, columns)) {
    text += (text.empty() ? "" : " ") + tick.label + (tick.below.empty() ? "" : "/" + tick.below);
  }
  return text;
}

TEST(TimeAxis, StepsAreThoseOfClockAndCalendar) {
  EXPECT_EQ(Ticks(At(2026, 11, 30, 10, 3), At(2026, 11, 30, 11, 7)),
            "10:15/2026-11-30 10:30 10:45 11:00");
  EXPECT_EQ(Ticks(At(2026, 11, 30, 10, 0, 2), At(2026, 11, 30, 10, 0, 40)),
            "10:00:10/2026-11-30 10:00:20 10:00:30 10:00:40");
  EXPECT_EQ(Ticks(At(2026, 11, 30), At(2026, 12, 1)), "00:00/2026-11-30 06:00 12:00 18:00 00:00/2026-12-01");
  EXPECT_EQ(Ticks(At(2026, 11, 28), At(2026, 12, 3)), "Nov 28/2026 Nov 29 Nov 30 Dec 1 Dec 2 Dec 3");
  EXPECT_EQ(Ticks(At(2026, 12, 1), At(2027, 1, 20)), "Dec 7/2026 Dec 14 Dec 21 Dec 28 Jan 4/2027 Jan 11 Jan 18");
  EXPECT_EQ(Ticks(At(2026, 7, 15), At(2027, 3, 2)), "Aug/2026 Sep Oct Nov Dec Jan/2027 Feb Mar");
  EXPECT_EQ(Ticks(At(2023, 2, 1), At(2026, 11, 30)), "Jul/2023 Jan/2024 Jul Jan/2025 Jul Jan/2026 Jul");
  EXPECT_EQ(Ticks(At(1970, 1, 1), At(2026, 11, 30)), "1970 1975 1980 1985 1990 1995 2000 2005 2010 2015 2020 2025");
}

TEST(TimeAxis, FractionsOfSecondsHaveTheDigitsOfTheUnit) {
  EXPECT_EQ(Ticks(1'000, 1'250, 70),
            "00:00:01.000/1970-01-01 00:00:01.050 00:00:01.100 "
            "00:00:01.150 00:00:01.200 00:00:01.250");
  EXPECT_EQ(Ticks(-2, 2, 70, TimeUnit::kNanoseconds),
            "23:59:59.999999998/1969-12-31 00:00:00.000000000/1970-01-01 00:00:00.000000002");
}

TEST(TimeAxis, ANarrowAxisHasAtLeastOneMark) {
  EXPECT_EQ(Ticks(At(2026, 11, 30, 10, 3), At(2026, 11, 30, 10, 4), 10), "10:04/2026-11-30");
  EXPECT_EQ(Ticks(5, 5, 1), "00:00:00.005/1970-01-01");
}

TEST(TimeAxis, TimesOutsideTheCalendarAreNumbers) {
  EXPECT_EQ(Ticks(kTimestampMin, kTimestampMax, 70, TimeUnit::kSeconds),
            "-5000000000000000000 0 5000000000000000000");
  EXPECT_EQ(Ticks(300'000'000'000, 300'000'000'020, 70, TimeUnit::kSeconds),
            "300000000000 300000000005 300000000010 300000000015 300000000020");
}

TEST(TimeAxis, EveryRangeOfEveryUnitHasMarksInOrder) {
  for (const TimeUnit unit :
       {TimeUnit::kSeconds, TimeUnit::kMilliseconds, TimeUnit::kMicroseconds, TimeUnit::kNanoseconds}) {
    for (std::int64_t span = 1; span > 0 && span < kTimestampMax / 4; span *= 3) {
      for (const Timestamp from : {kTimestampMin, -span, Timestamp{0}, kTimestampMax - span}) {
        const std::vector<TimeTick> ticks = MakeTimeTicks({from, from + span}, unit, 60);
        ASSERT_GE(ticks.size(), 1u);
        ASSERT_LE(ticks.size(), 30u) << from << " " << span;
        for (std::size_t i = 0; i < ticks.size(); ++i) {
          ASSERT_GE(ticks[i].time, from);
          ASSERT_LE(ticks[i].time, from + span);
          ASSERT_TRUE(i == 0 || ticks[i - 1].time < ticks[i].time);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tsdb::cli
