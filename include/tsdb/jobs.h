// Jobs on the files of a database: merging them, by itself or when asked, and following how it goes.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <functional>

namespace tsdb {

/// How far the merge that runs is. What comes after it is not known yet.
struct JobProgress {
  std::uint64_t merges_done = 0;    // of this call
  std::uint64_t samples_done = 0;   // of the merge that runs
  std::uint64_t samples_total = 0;
  std::uint64_t bytes_written = 0;  // by it
};

struct CompactOptions {
  /// Also writes every file anew that still holds something deleted, dropped for good or expired: afterwards none of it
  /// is in any chunk file. Series that can still be brought back are kept. Default: off.
  bool purge = false;
  /// Called in the caller's thread between chunks, many times a second; false ends the call with kCancelled: what was
  /// merged so far stays. Must not call Compact. Default: none.
  std::function<bool(const JobProgress&)> progress;
};

struct CompactReport {
  std::uint64_t merges = 0;
  std::uint64_t files_before = 0;  // chunk files
  std::uint64_t files_after = 0;
  std::uint64_t bytes_before = 0;  // of these
  std::uint64_t bytes_after = 0;
  std::uint64_t samples_before = 0;
  std::uint64_t samples_after = 0;  // fewer when newer samples replaced older ones
};

}  // namespace tsdb
