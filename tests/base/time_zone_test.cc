// Calendar buckets: where days, weeks, months and years begin, also where the clocks change.
#include "base/time_zone.h"

#include <string>

#include <gtest/gtest.h>

#include "tsdb/time_text.h"

namespace tsdb {
namespace {

constexpr TimeUnit kMs = TimeUnit::kMilliseconds;

Timestamp At(const std::string& text) { return *ParseTime(text, kMs, 0); }

struct Row {
  CalendarUnit unit;
  std::int64_t count;
  const char* zone;
  const char* time;
  const char* begin;
  const char* end;  // begin of the next
};

TEST(Calendar, BucketsBeginWhereTheZoneSaysSo) {
  const Row rows[] = {
      {CalendarUnit::kDay, 1, "", "2026-03-01T23:59:59.999Z", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"},
      {CalendarUnit::kDay, 1, "UTC", "1969-12-31T23:59:59.999Z", "1969-12-31T00:00:00Z", "1970-01-01T00:00:00Z"},
      // A day of 23 hours and one of 25.
      {CalendarUnit::kDay, 1, "Europe/Berlin", "2025-03-30T12:00:00Z", "2025-03-29T23:00:00Z", "2025-03-30T22:00:00Z"},
      {CalendarUnit::kDay, 1, "Europe/Berlin", "2025-10-26T12:00:00Z", "2025-10-25T22:00:00Z", "2025-10-26T23:00:00Z"},
      // The clocks went from midnight to one: the day begins at one.
      {CalendarUnit::kDay, 1, "America/Sao_Paulo", "2018-11-04T15:00:00Z", "2018-11-04T03:00:00Z",
       "2018-11-05T02:00:00Z"},
      // Midnight came twice: the day begins with the first, and is not cut by the second.
      {CalendarUnit::kDay, 1, "America/Havana", "2025-11-02T05:30:00Z", "2025-11-02T04:00:00Z", "2025-11-03T05:00:00Z"},
      // A day that was left out: Samoa crossed the date line.
      {CalendarUnit::kDay, 1, "Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"},
      {CalendarUnit::kDay, 1, "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"},
      {CalendarUnit::kDay, 1, "Asia/Kolkata", "2026-01-01T18:29:59Z", "2025-12-31T18:30:00Z", "2026-01-01T18:30:00Z"},
      {CalendarUnit::kWeek, 1, "", "2026-11-29T23:59:59Z", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"},
      {CalendarUnit::kWeek, 1, "", "1970-01-01T00:00:00Z", "1969-12-29T00:00:00Z", "1970-01-05T00:00:00Z"},
      {CalendarUnit::kWeek, 2, "", "1970-01-12T00:00:00Z", "1970-01-05T00:00:00Z", "1970-01-19T00:00:00Z"},
      {CalendarUnit::kMonth, 1, "", "2024-02-29T12:00:00Z", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"},
      {CalendarUnit::kMonth, 1, "America/New_York", "2024-03-01T04:59:59Z", "2024-02-01T05:00:00Z",
       "2024-03-01T05:00:00Z"},
      {CalendarUnit::kMonth, 3, "", "2026-11-30T00:00:00Z", "2026-10-01T00:00:00Z", "2027-01-01T00:00:00Z"},
      {CalendarUnit::kMonth, 1, "", "1969-12-31T00:00:00Z", "1969-12-01T00:00:00Z", "1970-01-01T00:00:00Z"},
      {CalendarUnit::kYear, 1, "Asia/Tokyo", "2025-12-31T15:00:00Z", "2025-12-31T15:00:00Z", "2026-12-31T15:00:00Z"},
      {CalendarUnit::kYear, 10, "", "1969-06-01T00:00:00Z", "1960-01-01T00:00:00Z", "1970-01-01T00:00:00Z"},
      {CalendarUnit::kDay, 7, "", "1969-12-31T00:00:00Z", "1969-12-25T00:00:00Z", "1970-01-01T00:00:00Z"},
  };
  for (const Row& row : rows) {
    const auto calendar = Calendar::Make(row.unit, row.count, row.zone, kMs);
    ASSERT_TRUE(calendar.ok()) << calendar.status().ToString();
    const TimeRange bucket = calendar->At(At(row.time));
    EXPECT_EQ(FormatTime(bucket.from, kMs), FormatTime(At(row.begin), kMs)) << row.zone << " " << row.time;
    EXPECT_EQ(FormatTime(bucket.to + 1, kMs), FormatTime(At(row.end), kMs)) << row.zone << " " << row.time;
  }
}

TEST(Calendar, BucketsFollowOneAnotherWithoutGaps) {
  for (const char* zone : {"", "Europe/Lisbon", "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca"}) {
    for (const CalendarUnit unit :
         {CalendarUnit::kDay, CalendarUnit::kWeek, CalendarUnit::kMonth, CalendarUnit::kYear}) {
      const Calendar calendar = *Calendar::Make(unit, 1, zone, kMs);
      TimeRange bucket = calendar.At(At("1995-05-05T05:05:05Z"));
      for (int i = 0; i < 800; ++i) {
        ASSERT_LT(bucket.from, bucket.to);
        ASSERT_EQ(calendar.At(bucket.from), bucket);
        ASSERT_EQ(calendar.At(bucket.to), bucket);
        const TimeRange next = calendar.At(bucket.to + 1);
        ASSERT_EQ(next.from, bucket.to + 1);
        bucket = next;
      }
    }
  }
}

TEST(Calendar, AnyTimeHasABucket) {
  for (const TimeUnit unit : {TimeUnit::kSeconds, kMs, TimeUnit::kNanoseconds}) {
    for (const CalendarUnit calendar_unit : {CalendarUnit::kDay, CalendarUnit::kMonth, CalendarUnit::kYear}) {
      const Calendar calendar = *Calendar::Make(calendar_unit, 1, "Europe/Berlin", unit);
      for (int shift = 0; shift < 63; ++shift) {
        for (const Timestamp time : {kTimestampMax >> shift, kTimestampMin >> shift}) {
          const TimeRange bucket = calendar.At(time);
          ASSERT_TRUE(bucket.Contains(time)) << time;
          ASSERT_TRUE(bucket.from == kTimestampMin || calendar.At(bucket.from) == bucket) << time;
          ASSERT_TRUE(bucket.to == kTimestampMax || calendar.At(bucket.to) == bucket) << time;
        }
      }
    }
  }
}

TEST(Calendar, RefusesZonesThatAreNotThere) {
  const auto calendar = Calendar::Make(CalendarUnit::kDay, 1, "Mars/Olympus", kMs);
  EXPECT_EQ(calendar.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(calendar.status().message().find("Mars/Olympus"), std::string::npos);
  EXPECT_EQ(Calendar::Make(CalendarUnit::kDay, 1, "../../etc/passwd", kMs).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Calendar::Make(CalendarUnit::kDay, 0, "", kMs).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tsdb
