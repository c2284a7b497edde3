#include "cli/plot/time_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace tsdb::cli {
namespace {

using Years = std::chrono::year_month_day;

constexpr std::int64_t kDaySeconds = 24 * 3600;
// 0000-01-01 and 9999-12-31T23:59:59.
constexpr std::int64_t kCivilFirst = -62'167'219'200;
constexpr std::int64_t kCivilLast = 253'402'300'799;

std::int64_t FloorDivide(std::int64_t value, std::int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

enum class Kind { kNumber, kFraction, kSecond, kMinute, kDay, kMonth, kYear };

struct Step {
  Kind kind = Kind::kNumber;
  std::int64_t size = 1;    // in units; months and years: their count
  std::size_t width = 1;    // columns of the widest label, or of what stands below it
};

std::size_t FractionDigits(TimeUnit unit) {
  return unit == TimeUnit::kSeconds ? 0 : unit == TimeUnit::kMilliseconds ? 3 : unit == TimeUnit::kMicroseconds ? 6 : 9;
}

/// All steps, from small to large.
std::vector<Step> CivilSteps(TimeUnit unit) {
  const std::int64_t second = UnitsPerSecond(unit);
  std::vector<Step> steps;
  const auto add = [&](Kind kind, std::size_t width, std::int64_t scale, std::initializer_list<std::int64_t> counts) {
    for (const std::int64_t count : counts) {
      steps.push_back({kind, count * scale, width});
    }
  };
  for (std::int64_t scale = 1; scale < second; scale *= 10) {
    add(Kind::kFraction, std::max<std::size_t>(10, 9 + FractionDigits(unit)), scale, {1, 2, 5});
  }
  add(Kind::kSecond, 10, second, {1, 2, 5, 10, 15, 30});
  add(Kind::kMinute, 10, 60 * second, {1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720});
  add(Kind::kDay, 6, kDaySeconds * second, {1, 2, 7});
  add(Kind::kMonth, 4, 1, {1, 2, 3, 6});
  add(Kind::kYear, 4, 1, {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000});
  return steps;
}

Years CivilOf(Timestamp time, std::int64_t units_per_second) {
  const std::int64_t days = FloorDivide(FloorDivide(time, units_per_second), kDaySeconds);
  return Years(std::chrono::sys_days(std::chrono::days(days)));
}

/// Midnight of the first day of a month, counted from January of the year 0, in seconds.
std::int64_t MonthStart(std::int64_t month) {
  const Years first(std::chrono::year(static_cast<int>(FloorDivide(month, 12))),
                    std::chrono::month(static_cast<unsigned>(month - FloorDivide(month, 12) * 12) + 1),
                    std::chrono::day(1));
  return std::chrono::sys_days(first).time_since_epoch().count() * kDaySeconds;
}

long double ApproximateUnits(const Step& step, std::int64_t units_per_second) {
  const auto units = static_cast<long double>(step.size);
  const auto per_day = static_cast<long double>(kDaySeconds) * static_cast<long double>(units_per_second);
  return step.kind == Kind::kYear ? units * 365 * per_day : step.kind == Kind::kMonth ? units * 28 * per_day : units;
}

/// Whether labels `step` apart have two blanks between them.
bool Fits(const Step& step, const TimeRange& range, std::int64_t units_per_second, std::size_t columns) {
  const long double span = static_cast<long double>(range.to) - static_cast<long double>(range.from);
  const long double per_column = span / static_cast<long double>(std::max<std::size_t>(1, columns));
  return ApproximateUnits(step, units_per_second) >= per_column * static_cast<long double>(step.width + 2);
}

std::string_view MonthName(const Years& date) {
  constexpr std::array<std::string_view, 12> names = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return names[static_cast<unsigned>(date.month()) - 1];
}

std::string YearText(const Years& date) { return fmt::format("{:04}", static_cast<int>(date.year())); }

TimeTick MakeTick(Timestamp time, const Step& step, TimeUnit unit) {
  if (step.kind == Kind::kNumber) {
    return {time, fmt::format("{}", time), ""};
  }
  const std::int64_t units = UnitsPerSecond(unit);
  const Years date = CivilOf(time, units);
  if (step.kind == Kind::kYear) {
    return {time, YearText(date), ""};
  }
  if (step.kind == Kind::kMonth) {
    return {time, std::string(MonthName(date)), YearText(date)};
  }
  if (step.kind == Kind::kDay) {
    return {time, fmt::format("{} {}", MonthName(date), static_cast<unsigned>(date.day())), YearText(date)};
  }
  const std::int64_t seconds = FloorDivide(time, units);
  const std::int64_t in_day = seconds - FloorDivide(seconds, kDaySeconds) * kDaySeconds;
  std::string label = fmt::format("{:02}:{:02}", in_day / 3600, in_day / 60 % 60);
  if (step.kind != Kind::kMinute) {
    label += fmt::format(":{:02}", in_day % 60);
  }
  if (step.kind == Kind::kFraction) {
    label += fmt::format(".{:0{}}", time - seconds * units, FractionDigits(unit));
  }
  const auto month = static_cast<unsigned>(date.month());
  return {time, label, fmt::format("{}-{:02}-{:02}", YearText(date), month, static_cast<unsigned>(date.day()))};
}

/// Multiples of the step, from `origin`.
std::vector<Timestamp> EvenTimes(const TimeRange& range, std::int64_t size, std::int64_t origin) {
  std::vector<Timestamp> times;
  Timestamp time = 0;
  // The first multiple at or after the range's start; none when it lies beyond the largest time.
  std::int64_t shifted = 0;
  if (__builtin_sub_overflow(range.from, origin, &shifted)) {
    shifted = range.from;
    origin = 0;
  }
  const std::int64_t steps = FloorDivide(shifted, size) + (shifted % size != 0 ? 1 : 0);
  bool overflow = __builtin_mul_overflow(steps, size, &time) || __builtin_add_overflow(time, origin, &time);
  while (!overflow && time <= range.to) {
    times.push_back(time);
    overflow = __builtin_add_overflow(time, size, &time);
  }
  return times;
}

std::vector<Timestamp> MonthTimes(const TimeRange& range, std::int64_t months, std::int64_t units_per_second) {
  const Years first = CivilOf(range.from, units_per_second);
  const auto year = static_cast<std::int64_t>(static_cast<int>(first.year()));
  const std::int64_t begin = 12 * year + static_cast<unsigned>(first.month()) - 1;
  std::vector<Timestamp> times;
  for (std::int64_t month = FloorDivide(begin, months) * months;; month += months) {
    Timestamp time = 0;
    if (__builtin_mul_overflow(MonthStart(month), units_per_second, &time)) {
      if (month < begin) {
        continue;
      }
      return times;
    }
    if (time > range.to) {
      return times;
    }
    if (time >= range.from) {
      times.push_back(time);
    }
  }
}

std::vector<Timestamp> TickTimes(const TimeRange& range, const Step& step, std::int64_t units_per_second) {
  switch (step.kind) {
    case Kind::kMonth: return MonthTimes(range, step.size, units_per_second);
    case Kind::kYear: return MonthTimes(range, 12 * step.size, units_per_second);
    case Kind::kDay:  // weeks begin on Mondays; 1970-01-05 was one
      return EvenTimes(range, step.size, 4 * kDaySeconds * units_per_second);
    default: return EvenTimes(range, step.size, 0);
  }
}

Step ChooseNumberStep(const TimeRange& range, std::size_t columns) {
  const std::size_t width =
      std::max(fmt::formatted_size("{}", range.from), fmt::formatted_size("{}", range.to));
  Step step{Kind::kNumber, 1, width};
  for (int i = 0; !Fits(step, range, 1, columns); ++i) {
    // 1, 2, 5, 10: by 2, by 5 / 2, by 2.
    std::int64_t next = 0;
    if (i % 3 == 1 ? __builtin_mul_overflow(step.size / 2, std::int64_t{5}, &next)
                   : __builtin_mul_overflow(step.size, std::int64_t{2}, &next)) {
      break;
    }
    step.size = next;
  }
  return step;
}

Step ChooseStep(const TimeRange& range, TimeUnit unit, std::size_t columns) {
  const std::int64_t units = UnitsPerSecond(unit);
  if (FloorDivide(range.from, units) < kCivilFirst || FloorDivide(range.to, units) > kCivilLast) {
    return ChooseNumberStep(range, columns);
  }
  const std::vector<Step> steps = CivilSteps(unit);
  const auto found =
      std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return Fits(s, range, units, columns); });
  return found == steps.end() ? steps.back() : *found;
}

}  // namespace

std::vector<TimeTick> MakeTimeTicks(const TimeRange& range, TimeUnit unit, std::size_t columns) {
  const Step step = ChooseStep(range, unit, columns);
  std::vector<Timestamp> times = TickTimes(range, step, UnitsPerSecond(unit));
  if (times.empty()) {
    times.push_back(range.from);
  }
  std::vector<TimeTick> ticks;
  std::string below;
  for (const Timestamp time : times) {
    TimeTick tick = MakeTick(time, step, unit);
    if (tick.below == below) {
      tick.below.clear();
    } else {
      below = tick.below;
    }
    ticks.push_back(std::move(tick));
  }
  return ticks;
}

}  // namespace tsdb::cli
