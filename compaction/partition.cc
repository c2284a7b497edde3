#include "compaction/partition.h"

#include <algorithm>
#include <limits>

namespace tsdb::compaction {

std::int64_t SpanDays(std::uint32_t level) {
  std::int64_t days = 1;
  for (std::uint32_t l = kLevelDay; l < level; ++l) {
    days *= 8;
  }
  return days;
}

TimeRange SpanOf(Timestamp time, std::uint32_t level, TimeUnit unit) {
  const std::int64_t span = SpanDays(level) * 86'400 * UnitsPerSecond(unit);
  std::int64_t offset = time % span;
  offset += offset < 0 ? span : 0;
  TimeRange range;
  // Near the ends of time the span is cut off.
  range.from = time < std::numeric_limits<std::int64_t>::min() + offset ? kTimestampMin
                                                                         : std::max(kTimestampMin, time - offset);
  const std::int64_t left = span - 1 - offset;
  range.to = time > kTimestampMax - left ? kTimestampMax : time + left;
  return range;
}

}  // namespace tsdb::compaction
