#include "base/time_zone.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include <date/date.h>
#include <date/tz.h>
#include <fmt/format.h>

namespace tsdb {
namespace {

using std::chrono::seconds;

/// Beyond these seconds dates are not computed (years -30000 and 30000: what the date types hold).
constexpr std::int64_t kSecondsMax = 30'000LL * 365 * 86'400;

std::int64_t FloorDivide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// UTC to local: the offset at that moment.
std::int64_t OffsetAt(const void* zone, std::int64_t second) {
  if (zone == nullptr) {
    return 0;
  }
  const auto info = static_cast<const date::time_zone*>(zone)->get_info(date::sys_seconds(seconds(second)));
  return info.offset.count();
}

/// The first moment whose local date is `day` or later.
std::int64_t FirstMoment(const void* zone, std::int64_t day) {
  const std::int64_t midnight = day * 86'400;
  if (zone == nullptr) {
    return midnight;
  }
  const auto info = static_cast<const date::time_zone*>(zone)->get_info(date::local_seconds(seconds(midnight)));
  if (info.result == date::local_info::nonexistent) {
    return info.second.begin.time_since_epoch().count();  // the clocks jump over midnight
  }
  return midnight - info.first.offset.count();  // of two midnights the first
}

}  // namespace

Result<Calendar> Calendar::Make(CalendarUnit unit, std::int64_t count, const std::string& zone, TimeUnit time_unit) {
  if (count < 1 || count > 1'000'000) {
    return Status::InvalidArgument(fmt::format("{} units of the calendar per bucket: give 1 to 1000000", count));
  }
  Calendar calendar;
  calendar.unit_ = unit;
  calendar.count_ = count;
  calendar.units_per_second_ = UnitsPerSecond(time_unit);
  if (zone.empty() || zone == "UTC") {
    return calendar;
  }
  try {
    date::get_tzdb();
  } catch (const std::exception& error) {
    return Status::NotSupported(
        fmt::format("the time zone database of the system cannot be read ({}): install tzdata, or use UTC",
                    error.what()));
  }
  try {
    calendar.zone_ = date::locate_zone(zone);
    OffsetAt(calendar.zone_, 0);  // zones are read when first used
  } catch (const std::exception&) {
    return Status::InvalidArgument(fmt::format(
        "'{}' is no time zone of this system: give a name such as Europe/Berlin, or UTC", zone));
  }
  return calendar;
}

std::int64_t Calendar::NumberOf(std::int64_t day) const {
  if (unit_ == CalendarUnit::kDay) {
    return FloorDivide(day, count_);
  }
  if (unit_ == CalendarUnit::kWeek) {
    return FloorDivide(day - 4, 7 * count_);  // 1970-01-05 was a Monday
  }
  const date::year_month_day date{date::sys_days(date::days(day))};
  const std::int64_t year = static_cast<int>(date.year()) - 1970;
  if (unit_ == CalendarUnit::kYear) {
    return FloorDivide(year, count_);
  }
  return FloorDivide(year * 12 + static_cast<unsigned>(date.month()) - 1, count_);
}

std::int64_t Calendar::Begin(std::int64_t number) const {
  const std::int64_t first = number * count_;
  if (unit_ == CalendarUnit::kDay) {
    return FirstMoment(zone_, first);
  }
  if (unit_ == CalendarUnit::kWeek) {
    return FirstMoment(zone_, first * 7 + 4);
  }
  const std::int64_t month = unit_ == CalendarUnit::kYear ? first * 12 : first;
  const std::int64_t year = FloorDivide(month, 12);
  // What the date types hold; buckets that far out are cut by the caller.
  const auto clamped = static_cast<int>(std::clamp<std::int64_t>(1970 + year, -32'000, 32'000));
  const date::year_month_day date{date::year(clamped), date::month(static_cast<unsigned>(month - year * 12 + 1)),
                                  date::day(1)};
  return FirstMoment(zone_, date::sys_days(date).time_since_epoch().count());
}

TimeRange Calendar::At(Timestamp time) const {
  const std::int64_t second = FloorDivide(time, units_per_second_);
  const Timestamp low = std::max<std::int64_t>(-kSecondsMax, kTimestampMin / units_per_second_);
  const Timestamp high = std::min<std::int64_t>(kSecondsMax, kTimestampMax / units_per_second_);
  if (second < low) {
    return {kTimestampMin, low * units_per_second_ - 1};
  }
  if (second >= high) {
    return {high * units_per_second_, kTimestampMax};
  }
  std::int64_t number = NumberOf(FloorDivide(second + OffsetAt(zone_, second), 86'400));
  // A zone that skipped a whole day, or set its clocks back over midnight, is off by one here.
  while (Begin(number) > second) {
    --number;
  }
  while (Begin(number + 1) <= second) {
    ++number;
  }
  const std::int64_t begin = std::max(Begin(number), low);
  const std::int64_t end = std::min(Begin(number + 1), high);
  return {begin * units_per_second_, end * units_per_second_ - 1};
}

}  // namespace tsdb
