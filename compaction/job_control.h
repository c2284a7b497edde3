// JobControl: how the outside follows a running job: how far it is, whether it should stop, how fast it may write.
//
// Thread safety: the atomic members are; keep_going belongs to who runs the job.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "tsdb/status.h"

namespace tsdb::compaction {

struct JobControl {
  /// Set by the outside; the job ends with kCancelled at its next chunk and leaves no file behind.
  std::atomic<bool> cancelled{false};
  /// Bytes a job may write in a second; 0: as many as it can.
  std::atomic<std::uint64_t> bytes_per_second{0};

  // Set by the job. Totals are known when it starts; samples_done reaches samples_total.
  std::atomic<std::uint64_t> samples_total{0};
  std::atomic<std::uint64_t> samples_done{0};
  std::atomic<std::uint64_t> bytes_written{0};
  /// Number of the file whose damage ended the job; 0: none.
  std::atomic<std::uint64_t> damaged_file{0};

  /// Asked by the job, in its thread, between chunks; false cancels it. May be empty. Not to be changed while it runs.
  std::function<bool()> keep_going;
};

/// To be called between chunks by a job that has written `bytes_written` bytes since `start_nanos` of the steady clock:
/// waits while it is ahead of its rate. kCancelled when it should stop.
Status CheckIn(const JobControl& control, std::uint64_t bytes_written, std::int64_t start_nanos);

}  // namespace tsdb::compaction
