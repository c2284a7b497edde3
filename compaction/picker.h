// Picker: which files to merge next, as a pure function of the live files.
//
// Files as flushed (level 0) and the rest are cut: the rest and the oldest flushed ones, as they follow one another in
// commits, become files of partitions and a new rest. So at any time all that is in rest or flushed files is newer than
// what partitions hold of the same times, and the files of one partition may be merged by themselves.
//
//   cut    four flushed files or more
//   join   cold neighbours that fit into one file of a longer span
//   tidy   a partition of many files: the newest ones, as long as the next older one is not much larger than they are
//
// A file that cannot be read stays where it is, and so does what must not be merged across it.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "chunk/chunk_file.h"
#include "compaction/partition.h"
#include "tsdb/types.h"

namespace tsdb::compaction {

struct PickOptions {
  TimeUnit unit = TimeUnit::kMilliseconds;
  Timestamp now = 0;                       // as in OutputPlanOptions
  std::set<std::uint64_t> unreadable = {}; // numbers of live files that are left alone
};

/// What to merge; empty `files`: nothing.
struct Pick {
  std::vector<std::uint64_t> files;  // numbers, oldest first
  /// The files are of one partition and go into one file of this span and level; else they are cut (PlanOutputs).
  bool cut = false;
  TimeRange span;
  std::uint32_t level = 0;
};

/// What background merging does next. `files`: the live ones, ascending by last commit.
Pick PickMerge(std::span<const chunk::ChunkFileMeta> files, const PickOptions& options);

/// What is left to do for the final form: no flushed file, no rest (unless `rest_is_final`), one dense file per
/// partition, cold neighbours joined. Only flushed files up to `last_commit` count.
Pick PickFinal(std::span<const chunk::ChunkFileMeta> files, const PickOptions& options, CommitNumber last_commit,
               bool rest_is_final);

}  // namespace tsdb::compaction
