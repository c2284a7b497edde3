#include "engine/head/late_samples.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace tsdb::engine {
namespace {

/// Samples sorted at a time. A full buffer weighs 2 KiB.
constexpr std::size_t kBufferMax = 128;
/// Samples in a chunk before the next one is opened.
constexpr std::uint32_t kChunkMax = 1024;

/// By time; of equal times only the last to arrive stays.
void SortKeepingLast(std::vector<Sample>* samples) {
  const auto earlier = [](const Sample& a, const Sample& b) { return a.time < b.time; };
  if (!std::is_sorted(samples->begin(), samples->end(), earlier)) {
    std::stable_sort(samples->begin(), samples->end(), earlier);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < samples->size(); ++i) {
    if (i + 1 < samples->size() && (*samples)[i + 1].time == (*samples)[i].time) {
      continue;
    }
    (*samples)[kept++] = (*samples)[i];
  }
  samples->resize(kept);
}

}  // namespace

std::ptrdiff_t LateSamples::MemoryBytes() const {
  return static_cast<std::ptrdiff_t>(chunks_.capacity() * sizeof(chunk::HeadChunk) + chunk_bytes_ +
                                     (chunks_.empty() ? 0 : chunks_.back().memory_bytes()) +
                                     buffer_.capacity() * sizeof(Sample));
}

std::ptrdiff_t LateSamples::Put(Timestamp time, double value) {
  const std::ptrdiff_t before = MemoryBytes();
  const Timestamp newest = empty() ? time : std::max(newest_time_, time);
  if (buffer_.empty() && !chunks_.empty() && time > chunks_.back().last_time() &&
      chunks_.back().count() < kChunkMax) {
    chunks_.back().Append(time, value);
  } else {
    buffer_.push_back({time, value});
    if (buffer_.size() >= kBufferMax) {
      DrainBuffer();
    }
  }
  newest_time_ = newest;
  return MemoryBytes() - before;
}

void LateSamples::DrainBuffer() {
  SortKeepingLast(&buffer_);
  try {
    for (const Sample& sample : buffer_) {
      if (chunks_.empty() || sample.time <= chunks_.back().last_time() || chunks_.back().count() >= kChunkMax) {
        chunks_.emplace_back();
        chunk_bytes_ += chunks_.size() < 2 ? 0 : chunks_[chunks_.size() - 2].memory_bytes();
      }
      chunks_.back().Append(sample.time, sample.value);
    }
    buffer_.clear();
  } catch (const std::bad_alloc&) {
    // The buffer keeps all of them, also those that are in a chunk now: they say the same. The next sample tries again.
    if (!chunks_.empty() && chunks_.back().count() == 0) {
      chunks_.pop_back();
      chunk_bytes_ -= chunks_.empty() ? 0 : chunks_.back().memory_bytes();
    }
  }
}

std::optional<double> FindInChunk(const chunk::HeadChunk& chunk, Timestamp time) {
  if (chunk.count() == 0 || time < chunk.first_time() || time > chunk.last_time()) {
    return std::nullopt;
  }
  if (time == chunk.last_time()) {
    return chunk.last_value();
  }
  chunk::Columns columns;
  if (!DecodeHeadChunk(chunk.TakeSnapshot(), &columns.times, &columns.values).ok()) {
    return std::nullopt;
  }
  const auto it = std::lower_bound(columns.times.begin(), columns.times.end(), time);
  if (it == columns.times.end() || *it != time) {
    return std::nullopt;
  }
  return columns.values[static_cast<std::size_t>(it - columns.times.begin())];
}

std::optional<double> LateSamples::Find(Timestamp time) const {
  for (auto it = buffer_.rbegin(); it != buffer_.rend(); ++it) {
    if (it->time == time) {
      return it->value;
    }
  }
  for (auto it = chunks_.rbegin(); it != chunks_.rend(); ++it) {
    if (auto found = FindInChunk(*it, time)) {
      return found;
    }
  }
  return std::nullopt;
}

LateSamples::Snapshot LateSamples::TakeSnapshot(TimeRange range) const {
  Snapshot snapshot;
  for (const chunk::HeadChunk& chunk : chunks_) {
    if (chunk.first_time() <= range.to && chunk.last_time() >= range.from) {
      snapshot.chunks.push_back(chunk.TakeSnapshot());
    }
  }
  std::copy_if(buffer_.begin(), buffer_.end(), std::back_inserter(snapshot.buffer),
               [&](const Sample& sample) { return sample.time >= range.from && sample.time <= range.to; });
  return snapshot;
}

Status DecodeLateSamples(const LateSamples::Snapshot& snapshot, std::vector<chunk::Columns>* oldest_first) {
  for (const auto& chunk : snapshot.chunks) {
    chunk::Columns& columns = oldest_first->emplace_back();
    if (Status status = DecodeHeadChunk(chunk, &columns.times, &columns.values); !status.ok()) {
      return Status::Internal("head chunk of late samples does not decode: " + std::string(status.message()));
    }
  }
  std::vector<Sample> buffer = snapshot.buffer;
  SortKeepingLast(&buffer);
  chunk::Columns& columns = oldest_first->emplace_back();
  for (const Sample& sample : buffer) {
    columns.Append(sample.time, sample.value);
  }
  return Status::Ok();
}

}  // namespace tsdb::engine
