// The small vocabulary every part shares: times, samples, ids, commit numbers, units, policies.
//
// Thread safety: plain values.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string_view>

#include "tsdb/result.h"

namespace tsdb {

/// Time of a sample: signed, in the unit of the database (TimeUnit; milliseconds by default) since 1970-01-01T00:00Z.
/// Every value except kNow may be stored.
using Timestamp = std::int64_t;
inline constexpr Timestamp kTimestampMin = std::numeric_limits<std::int64_t>::min() + 1;
inline constexpr Timestamp kTimestampMax = std::numeric_limits<std::int64_t>::max();
/// In a write: "the time at which the sample is ordered", max(clock, newest sample of the series).
inline constexpr Timestamp kNow = std::numeric_limits<std::int64_t>::min();

/// Values are IEEE doubles and are kept bit for bit (NaN payloads, infinities, the sign of zero).
struct Sample {
  Timestamp time = 0;
  double value = 0;
};

/// From `from` to `to`, both included. Empty when from > to.
struct TimeRange {
  Timestamp from = kTimestampMin;
  Timestamp to = kTimestampMax;
  bool empty() const { return from > to; }
  bool Contains(Timestamp t) const { return from <= t && t <= to; }
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

/// Number of a series within one database: given once, never reused. 0 is no series.
struct SeriesId {
  std::uint64_t value = 0;
  friend auto operator<=>(const SeriesId&, const SeriesId&) = default;
};

/// Number of a logged operation: rises with the order in which operations take effect. 0 is before the first.
struct CommitNumber {
  std::uint64_t value = 0;
  friend auto operator<=>(const CommitNumber&, const CommitNumber&) = default;
};

/// Handle of a resolved series for hot writers; a value, valid as long as the database is open. Appends by a ref whose
/// series was dropped are refused with kDropped.
struct SeriesRef {
  SeriesId id;
  friend bool operator==(const SeriesRef&, const SeriesRef&) = default;
};

enum class TimeUnit : std::uint8_t { kSeconds = 0, kMilliseconds = 1, kMicroseconds = 2, kNanoseconds = 3 };
/// Units in a second: 1, 1e3, 1e6, 1e9.
std::int64_t UnitsPerSecond(TimeUnit unit);
/// "s", "ms", "us", "ns".
std::string_view TimeUnitName(TimeUnit unit);
Result<TimeUnit> ParseTimeUnit(std::string_view text);
/// Converts between units; to a coarser one it rounds towards minus infinity. kOutOfRange when it does not fit.
Result<Timestamp> ConvertTime(Timestamp time, TimeUnit from, TimeUnit to);

/// What happens to a sample whose series already has one at that time.
enum class DuplicatePolicy : std::uint8_t {
  kLast = 0,   // the new value replaces the old one
  kBlock = 1,  // the new sample is refused (kDuplicate)
  kFirst = 2,  // the old value stays, the new sample counts as ignored
  kMin = 3,    // the smaller value stays (a NaN gives way to a number)
  kMax = 4,    // the larger value stays (a NaN gives way to a number)
  kSum = 5,    // old + new
};
std::string_view DuplicatePolicyName(DuplicatePolicy policy);
Result<DuplicatePolicy> ParseDuplicatePolicy(std::string_view text);

/// What an acknowledged write survives.
enum class Durability : std::uint8_t {
  kNone = 0,      // handed to the operating system; survives a crash of the process, not of the machine
  kInterval = 1,  // as kNone, and synced at least every 100 ms: a power cut costs at most that
  kAlways = 2,    // synced before it is acknowledged: survives a power cut
};
std::string_view DurabilityName(Durability durability);
Result<Durability> ParseDurability(std::string_view text);

}  // namespace tsdb
