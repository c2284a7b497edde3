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

bool IsCold(TimeRange span, std::uint32_t level, Timestamp now, TimeUnit unit) {
  const std::int64_t day = 86'400 * UnitsPerSecond(unit);
  const std::int64_t wait = level <= kLevelDay ? day / 2 : SpanDays(level) / 8 * day;
  return now >= kTimestampMin + wait && span.to < now - wait;
}

std::vector<Partition> FindPartitions(std::span<const chunk::ChunkFileMeta> files, TimeUnit unit) {
  std::vector<Partition> all;
  for (const chunk::ChunkFileMeta& file : files) {
    if (IsPartitioned(file.level)) {
      const std::uint32_t level = std::max(file.level, kLevelDay);
      all.push_back({SpanOf(file.first_time, level, unit), level, {&file}, file.bytes});
    }
  }
  // A span comes right before those it holds.
  std::ranges::stable_sort(all, [](const Partition& a, const Partition& b) {
    return a.span.from != b.span.from ? a.span.from < b.span.from : a.level > b.level;
  });
  std::vector<Partition> outermost;
  for (Partition& partition : all) {
    if (outermost.empty() || partition.span.from > outermost.back().span.to) {
      outermost.push_back(std::move(partition));
    } else {
      outermost.back().files.push_back(partition.files.front());
      outermost.back().bytes += partition.bytes;
    }
  }
  for (Partition& partition : outermost) {
    std::ranges::sort(partition.files);  // by address: as they were given
  }
  return outermost;
}

}  // namespace tsdb::compaction
