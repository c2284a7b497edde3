// Partitions: the aligned spans of time that merged files stay inside, and the levels of chunk files.
//
//   level 0  as flushed           any times
//         1  rest                 any times: what was too little for a file of its own
//         2  a day, warm          one span of 1 day    dense only where it pays
//         3  a day                              1 day  dense, as all that follow
//         4  8 days                             8 days
//         5  64 days                           64 days
//         6  512 days                         512 days
//
// Spans begin at multiples of their length since 1970-01-01T00:00Z, so a longer one holds whole shorter ones.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "chunk/chunk_file.h"
#include "tsdb/types.h"

namespace tsdb::compaction {

inline constexpr std::uint32_t kLevelFlushed = 0;
inline constexpr std::uint32_t kLevelRest = 1;
inline constexpr std::uint32_t kLevelWarmDay = 2;
inline constexpr std::uint32_t kLevelDay = 3;
inline constexpr std::uint32_t kLevelLongest = 6;

/// Levels whose files stay inside a partition.
inline bool IsPartitioned(std::uint32_t level) { return level >= kLevelWarmDay && level <= kLevelLongest; }
/// Levels whose chunks are encoded densely whatever it saves.
inline bool IsDense(std::uint32_t level) { return level >= kLevelDay; }

/// Length of the spans of a partitioned level, in days.
std::int64_t SpanDays(std::uint32_t level);
/// The span of `level` that holds `time`, cut to the times there are.
TimeRange SpanOf(Timestamp time, std::uint32_t level, TimeUnit unit);
/// True when the span of `level` ended so long before `now` that little is still written there: half a day for a day,
/// an eighth of its length for a longer one.
bool IsCold(TimeRange span, std::uint32_t level, Timestamp now, TimeUnit unit);

/// A partition of a database: a span no other partition's span holds, and the live files inside it.
struct Partition {
  TimeRange span;
  std::uint32_t level = kLevelDay;  // kLevelDay also for warm days
  std::vector<const chunk::ChunkFileMeta*> files;  // in the order given
  std::uint64_t bytes = 0;
};

/// The partitions that the partitioned ones of `files` make, ascending by time. The pointers point into `files`.
std::vector<Partition> FindPartitions(std::span<const chunk::ChunkFileMeta> files, TimeUnit unit);

}  // namespace tsdb::compaction
