// Times and durations as people write them.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tsdb/result.h"
#include "tsdb/types.h"

namespace tsdb {

/// `500ms 10s 5m 1h 7d 2w 1y` (also `us`, `ns`; a day is 24 h, a year 365 d; parts may be strung together: `1h30m`), or
/// an integer in `unit`; larger units come first, each once; a minus in front makes it negative. Result in `unit`;
/// kInvalidArgument when it is not a duration, does not fit, or is not a whole number of units.
Result<std::int64_t> ParseDuration(std::string_view text, TimeUnit unit);
/// Largest units first, exact: "1h30m", "500ms", "0s". Weeks and years are used only when nothing remains below them:
/// "2w", but "15d". ParseDuration gives the same number back.
std::string FormatDuration(std::int64_t duration, TimeUnit unit);

/// An integer in `unit`, RFC 3339 (`2026-11-30T12:00:00.5Z`, offsets, a date alone is midnight UTC), `now`, `now-1h`,
/// `now+5m`, `-` (kTimestampMin), `+` (kTimestampMax). `now` is in `unit`. Finer digits than the unit round down.
/// Errors: kInvalidArgument (not a time), kOutOfRange (does not fit, or is the number of kNow).
Result<Timestamp> ParseTime(std::string_view text, TimeUnit unit, Timestamp now);
/// RFC 3339 in UTC with as many fraction digits as the unit has; years beyond 0000..9999 print the integer instead.
std::string FormatTime(Timestamp time, TimeUnit unit);

}  // namespace tsdb
