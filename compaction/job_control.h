// JobControl: how the outside follows a running job: how far it is, whether it should stop, how fast it may write.
//
// Thread safety: thread-safe, all of it atomic; set the rate before the job starts.
#pragma once

#include <atomic>
#include <cstdint>

#include "tsdb/status.h"

namespace tsdb::compaction {

struct JobControl {
  /// Set by the outside; the job ends with kCancelled at its next chunk and leaves no file behind.
  std::atomic<bool> cancelled{false};
  /// While set, the job waits at its next chunk.
  std::atomic<bool> paused{false};
  /// Bytes a job may write in a second; 0: as many as it can.
  std::atomic<std::uint64_t> bytes_per_second{0};

  // Set by the job. Totals are known when it starts; samples_done reaches samples_total.
  std::atomic<std::uint64_t> samples_total{0};
  std::atomic<std::uint64_t> samples_done{0};
  std::atomic<std::uint64_t> bytes_written{0};
};

/// To be called between chunks by a job that has written `bytes_written` bytes since `start_nanos` of the steady clock:
/// waits while it is paused or ahead of its rate. kCancelled when it should stop.
Status CheckIn(const JobControl& control, std::uint64_t bytes_written, std::int64_t start_nanos);

}  // namespace tsdb::compaction
