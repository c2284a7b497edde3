// Merge: chunk files in, fewer and larger chunk files out, cut along partitions.
//
//   chunks/000004.chunk ┐   series by series,   ┌ chunks/000009.chunk   one output: its ranges of time
//   chunks/000006.chunk ┼─► merged by time, cut ┼ chunks/000010.chunk
//   chunks/000007.chunk ┘   into long chunks    └ …                     ─► ManifestEdit: these in, those out
//
// A pure job: it takes no lock, calls nothing back, and changes no state but the files it writes. Memory is bound by
// the number of input files and one output file at a time, not by the length of a series.
//
// Thread safety: as its arguments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "chunk/chunk_file.h"
#include "chunk/manifest.h"
#include "chunk/tombstone.h"
#include "compaction/file_numbers.h"
#include "compaction/job_control.h"
#include "tsdb/result.h"
#include "tsdb/types.h"

namespace tsdb::compaction {

/// One file to write: which times go into it. Where there are no samples no file is written.
struct MergeOutput {
  std::vector<TimeRange> ranges;  // ascending, disjoint
  std::uint32_t level = 0;        // partition.h
};

struct MergeInput {
  std::string database_path;
  std::uint64_t store_high = 0;
  std::uint64_t store_low = 0;
  /// At least one, oldest first: ascending by last commit; of samples at one time that of the later file stays. No
  /// other live file that shares a series and a time with them may have commits between theirs.
  std::vector<const chunk::ChunkFileReader*> files;
  /// Deletes, in the order of their commits: to each file those with a later commit than its last are applied. All that
  /// lie between the first and the last commit of the files must be here.
  std::vector<chunk::TombstonePtr> tombstones = {};
  /// Series that ended for good: none of their samples are written.
  const IdSet* dead = nullptr;
  /// Samples below it are expired and are not written, but of these series.
  Timestamp floor = kTimestampMin;
  const IdSet* above_floor = nullptr;
  /// Disjoint, together they hold every sample of the files.
  std::vector<MergeOutput> outputs;
  /// Not null; live as long as the call.
  FileNumbers* file_numbers = nullptr;
  JobControl* control = nullptr;
  /// Longest chunk written; a multiple of 1024 or less than that.
  std::size_t chunk_samples_max = chunk::kChunkSamplesMax;
};

/// Writes the outputs; they and their folder are durable when it returns. The edit adds them with the commits from the
/// inputs' first to their last, and removes the inputs; the caller appends it: that is the commit point. On error no
/// file is left behind (unless removing it fails too), and the inputs are as they were.
/// Errors: kInvalidArgument (files or outputs out of order), kNoSpace (the disk has no room for the outputs beside the
/// inputs), kCorruption (a chunk of an input), kCancelled, kInternal (samples went missing on the way, or an encoded
/// column did not decode to the same bits), and those of the file system.
Result<chunk::ManifestEdit> Merge(const MergeInput& input, FileSystem& fs);

}  // namespace tsdb::compaction
