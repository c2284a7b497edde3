// Time marks: where they are on the time axis of a chart, and what they are called.
//
// Steps are those people count in: 1, 2, 5 … milliseconds, 1 to 30 seconds and minutes, 1 to 12 hours, days, weeks from
// Monday, months, quarters, years. Below a label stands what changes less often: the date below a time of day, the year
// below a day or a month; at the first mark, and where it changes. All in UTC. Times outside the years 0 to 9999 are
// marked by their numbers.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tsdb/types.h"

namespace tsdb::cli {

struct TimeTick {
  Timestamp time = 0;
  std::string label;
  std::string below;  // empty: as at the mark before
};

/// Marks in `range`, rising, at least one; as many as have room side by side in `columns`.
std::vector<TimeTick> MakeTimeTicks(const TimeRange& range, TimeUnit unit, std::size_t columns);

}  // namespace tsdb::cli
