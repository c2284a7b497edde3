// Figures of an open database, and the report of its recovery: what a person or a monitor looks at.
// Nothing in the engine decides by them.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tsdb/types.h"

namespace tsdb {

/// What opening the database found in the log and repaired. Exact: every number is counted, not estimated.
struct RecoveryReport {
  std::uint64_t segments = 0;         // log segments read
  std::uint64_t commits = 0;          // commits applied
  std::uint64_t samples = 0;          // samples in those
  std::uint64_t commits_skipped = 0;  // already in files, or below a segment's start
  std::uint64_t bytes_dropped = 0;    // bytes of the log that could not be used
  std::uint64_t samples_orphaned = 0; // samples whose series definition was damaged; kept in an evidence file
  std::uint64_t files_removed = 0;    // leftovers of unfinished jobs
  bool index_rebuilt = false;         // the label index was discarded and rebuilt
  double seconds = 0;                 // time from open to ready
  /// One line each: what, file, offset, bytes, what was done. Empty after a clean close.
  std::vector<std::string> notes;
};

/// Columns of one encoding in the chunk files.
struct EncodingStats {
  std::string name;            // as in docs/format/encodings.md; "even" and "constant" stand in the directory alone
  std::uint64_t columns = 0;   // a time column that several chunks share counts once
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
};

/// What the database does not do at the moment because space is short or the disk fails. Each step includes those
/// before it; reads go on throughout, and every step ends by itself when its cause is gone.
enum class Degradation : unsigned char {
  kNone,
  kNotMerging,      // Stats::merge_error: a merge needs the most space, and leaves some of it to writes
  kNotFlushing,     // Stats::flush_error: what is written stays in memory and in the log
  kRefusingWrites,  // Stats::write_error
};

struct Stats {
  std::uint64_t series = 0;             // live series
  std::uint64_t series_in_memory = 0;   // of those, known to the head
  std::uint64_t samples_in_head = 0;    // not yet in files
  std::uint64_t samples_in_files = 0;
  // Memory. Each part counts in memory_bytes, which memory_bytes_max bounds (OpenOptions).
  std::uint64_t head_bytes = 0;         // unflushed samples and definitions
  std::uint64_t registry_bytes = 0;     // series in use
  std::uint64_t index_memory_bytes = 0; // of the label index: changes not yet stored, and its caches
  std::uint64_t file_memory_bytes = 0;  // directories and cached columns of chunk files
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_bytes_max = 0;
  std::uint64_t wal_bytes = 0;
  std::uint64_t wal_segments = 0;
  std::uint64_t chunk_files = 0;
  std::uint64_t chunk_file_bytes = 0;
  std::uint64_t chunks = 0;
  std::uint64_t directory_bytes = 0;    // of the chunk files: what is not columns, statistics included
  std::vector<EncodingStats> time_encodings;
  std::vector<EncodingStats> value_encodings;
  /// Chunk files by level: 0 as flushed, 1 the rest, 2 warm days, 3 days, 4 to 6 spans of 8, 64 and 512 days.
  std::vector<std::uint64_t> chunk_files_by_level;
  /// Chunk files that are damaged or gone and were left out at the opening, and the samples that should be in them.
  std::uint64_t chunk_files_skipped = 0;
  std::uint64_t samples_skipped = 0;
  std::uint64_t files_quarantined = 0;  // what repairs set aside
  std::uint64_t catalogue_bytes = 0;
  std::uint64_t index_bytes = 0;        // RocksDB folder
  std::uint64_t bytes_on_disk = 0;      // everything in the directory
  std::uint64_t flushes = 0;            // since open
  std::uint64_t flush_failures = 0;
  std::uint64_t flush_bytes = 0;        // written to chunk files by flushes, since open
  std::uint64_t merges = 0;             // since open
  std::uint64_t merge_failures = 0;
  std::uint64_t merge_bytes = 0;        // written to chunk files by merges, since open
  /// Bytes written to chunk files for each byte flushed, since open; 0 before the first flush.
  double write_amplification = 0;
  bool merge_running = false;
  bool merging_paused = false;
  std::uint64_t merge_samples_done = 0;  // of the one that runs
  std::uint64_t merge_samples_total = 0;
  std::uint64_t index_rebuilds = 0;     // since open: the index turned out damaged and was built again
  std::uint64_t commits = 0;            // since open
  std::uint64_t syncs = 0;
  CommitNumber last_commit;
  CommitNumber durable_commit;          // synced up to here
  CommitNumber flushed_commit;          // in files up to here
  std::uint64_t tombstones = 0;         // deletes that files still have to be read under
  std::uint64_t dropped_series = 0;     // that can be brought back
  std::uint64_t expired_files = 0;      // removed by retention, since open
  TimeUnit unit = TimeUnit::kMilliseconds;
  Durability durability = Durability::kInterval;
  DuplicatePolicy duplicates = DuplicatePolicy::kLast;
  /// Why writes are refused at the moment; empty when they are not.
  std::string write_error;
  /// Why the last flush failed; empty when it did not. What it was to write stays in memory and in the log.
  std::string flush_error;
  /// Why the last merge failed; empty when it did not. Its files are as they were.
  std::string merge_error;
  Degradation degradation = Degradation::kNone;
};

}  // namespace tsdb
