// Calendar: days, weeks, months and years as they begin in a time zone. Zones come from the database of the system
// (IANA names); the calendar is the Gregorian one, also before it was in use.
//
// A day whose midnight the clocks skip begins where they go on. Where a zone's rules end, its last ones go on.
//
// Thread safety: constant after Make.
#pragma once

#include <cstdint>
#include <string>

#include "tsdb/aggregation.h"
#include "tsdb/result.h"
#include "tsdb/types.h"

namespace tsdb {

class Calendar {
 public:
  /// Buckets of `count` units. kInvalidArgument: a count outside 1..1,000,000 or a zone that is not there;
  /// kNotSupported: the system has no time zone database.
  static Result<Calendar> Make(CalendarUnit unit, std::int64_t count, const std::string& zone, TimeUnit time_unit);

  /// The bucket that holds `time`, cut at the ends of what a Timestamp holds. Times more than some 30,000 years from
  /// 1970 lie in one bucket per side.
  TimeRange At(Timestamp time) const;

 private:
  Calendar() = default;
  /// First second (since 1970, UTC) of the bucket with this number, counted from the one that holds 1970-01-01.
  std::int64_t Begin(std::int64_t number) const;
  std::int64_t NumberOf(std::int64_t day) const;

  CalendarUnit unit_ = CalendarUnit::kDay;
  std::int64_t count_ = 1;
  std::int64_t units_per_second_ = 1000;
  const void* zone_ = nullptr;  // of the time zone database, which lives as long as the process; null: UTC
};

}  // namespace tsdb
