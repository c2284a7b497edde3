// Output plan: into which partitions the samples of some files go.
//
//   bytes per day, estimated from the files' directories ─► spans ─► one output each where it pays ─► the rest
//
// A day goes into the longest span that is cold and, with what is there already, not too large; else into the partition
// that is there; else into a partition of its own. Estimates decide how well the outputs are cut, never where a sample
// belongs.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "chunk/chunk_file.h"
#include "compaction/merge.h"
#include "compaction/partition.h"
#include "tsdb/result.h"
#include "tsdb/types.h"

namespace tsdb::compaction {

/// A partition of several spans is made only up to this size.
inline constexpr std::uint64_t kJoinBytesMax = 256ull << 20;
/// Less than this is left in the rest.
inline constexpr std::uint64_t kOutputBytesMin = 1ull << 20;
inline constexpr std::size_t kOutputsMax = 64;

/// Bytes by the day (its span's begin) they are of.
using DayBytes = std::map<Timestamp, std::uint64_t>;
/// On an error `*failed` is the file that could not be read; kCorruption: its directory is damaged.
Result<DayBytes> EstimateDayBytes(std::span<const chunk::ChunkFileReader* const> files, TimeUnit unit,
                                  const chunk::ChunkFileReader** failed);

struct OutputPlanOptions {
  TimeUnit unit = TimeUnit::kMilliseconds;
  /// The newest time in the database, or the clock's when that is earlier: decides what is cold.
  Timestamp now = 0;
  /// No rest, as far as the bound of outputs allows, and everything dense.
  bool final_form = false;
};

/// The outputs of a merge of files with these bytes; together they hold all times. `partitions` are those of the
/// database.
std::vector<MergeOutput> PlanOutputs(const DayBytes& days, std::span<const Partition> partitions,
                                     const OutputPlanOptions& options);

}  // namespace tsdb::compaction
