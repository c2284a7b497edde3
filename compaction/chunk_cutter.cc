#include "compaction/chunk_cutter.h"

#include <algorithm>

namespace tsdb::compaction {

namespace {

constexpr std::size_t kPageSamples = 1024;

}  // namespace

std::size_t ChunkLength(std::uint64_t samples, std::size_t samples_max) {
  if (samples <= samples_max) {
    return samples_max;
  }
  const std::uint64_t chunks = (samples + samples_max - 1) / samples_max;
  const std::uint64_t even = (samples + chunks - 1) / chunks;
  const std::uint64_t pages = (even + kPageSamples - 1) / kPageSamples;
  return std::min<std::uint64_t>(samples_max, pages * kPageSamples);
}

Status ChunkCutter::Add(chunk::ColumnsView view) {
  while (!view.times.empty()) {
    if (pending_.empty() && view.times.size() >= length_) {
      TSDB_RETURN_IF_ERROR(sink_({view.times.first(length_), view.values.first(length_)}));
      view = {view.times.subspan(length_), view.values.subspan(length_)};
      continue;
    }
    const std::size_t count = std::min(length_ - pending_.size(), view.times.size());
    const auto n = static_cast<std::ptrdiff_t>(count);
    pending_.times.insert(pending_.times.end(), view.times.begin(), view.times.begin() + n);
    pending_.values.insert(pending_.values.end(), view.values.begin(), view.values.begin() + n);
    view = {view.times.subspan(count), view.values.subspan(count)};
    if (pending_.size() == length_) {
      TSDB_RETURN_IF_ERROR(sink_({pending_.times, pending_.values}));
      pending_.Clear();
    }
  }
  return {};
}

Status ChunkCutter::Finish() {
  if (pending_.empty()) {
    return {};
  }
  const Status status = sink_({pending_.times, pending_.values});
  pending_.Clear();
  return status;
}

}  // namespace tsdb::compaction
