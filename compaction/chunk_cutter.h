// ChunkCutter: cuts the merged samples of one series into chunks of about equal length.
//
// The number of samples to come (an upper bound) says into how many chunks they go and how long each is: whole pages of
// 1024 samples, so that no short one is left over at the end where it can be helped.
//
// Thread safety: none; belongs to a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "chunk/columns.h"
#include "tsdb/status.h"

namespace tsdb::compaction {

/// Length of the chunks that `samples` go into, each at most `samples_max`.
std::size_t ChunkLength(std::uint64_t samples, std::size_t samples_max);

class ChunkCutter {
 public:
  using Sink = std::function<Status(chunk::ColumnsView)>;

  ChunkCutter(std::uint64_t samples, std::size_t samples_max, Sink sink)
      : length_(ChunkLength(samples, samples_max)), sink_(std::move(sink)) {}

  /// The next samples of the series.
  Status Add(chunk::ColumnsView view);
  /// Hands out what is left.
  Status Finish();

 private:
  const std::size_t length_;
  const Sink sink_;
  chunk::Columns pending_;  // shorter than a chunk
};

}  // namespace tsdb::compaction
