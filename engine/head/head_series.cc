#include "engine/head/head_series.h"

#include <algorithm>
#include <utility>

namespace tsdb::engine {
namespace {

// What a node of the map of late samples weighs with its allocation.
constexpr std::ptrdiff_t kLateSampleBytes = 64;

}  // namespace

std::ptrdiff_t HeadSeries::Put(Timestamp time, double value) {
  ++samples_;
  oldest_time_ = std::min(oldest_time_, time);
  const bool in_order = open_.count() == 0 ? (full_ == nullptr || time > full_->back().last_time())
                                           : time > open_.last_time();
  if (!in_order || (late_ != nullptr && !late_->empty() && time <= late_->rbegin()->first)) {
    std::ptrdiff_t grown = 0;
    if (late_ == nullptr) {
      late_ = std::make_unique<std::map<Timestamp, double>>();
      grown += static_cast<std::ptrdiff_t>(sizeof(*late_));
    }
    const auto [it, inserted] = late_->insert_or_assign(time, value);
    newest_time_ = std::max(newest_time_, time);
    return grown + (inserted ? kLateSampleBytes : 0);
  }
  std::ptrdiff_t grown = -static_cast<std::ptrdiff_t>(open_.memory_bytes());
  if (open_.count() >= kHeadChunkSamplesMax) {
    if (full_ == nullptr) {
      full_ = std::make_unique<std::vector<chunk::HeadChunk>>();
    }
    grown += static_cast<std::ptrdiff_t>(open_.memory_bytes() + sizeof(chunk::HeadChunk));
    full_->push_back(std::move(open_));
    open_ = chunk::HeadChunk();
  }
  open_.Append(time, value);
  newest_time_ = std::max(newest_time_, time);
  return grown + static_cast<std::ptrdiff_t>(open_.memory_bytes());
}

namespace {

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

}  // namespace

std::optional<double> HeadSeries::Find(Timestamp time) const {
  if (samples_ == 0 || time < oldest_time_ || time > newest_time_) {
    return std::nullopt;
  }
  if (late_ != nullptr) {
    if (const auto it = late_->find(time); it != late_->end()) {
      return it->second;
    }
  }
  if (auto found = FindInChunk(open_, time)) {
    return found;
  }
  if (full_ != nullptr) {
    for (auto it = full_->rbegin(); it != full_->rend(); ++it) {
      if (auto found = FindInChunk(*it, time)) {
        return found;
      }
    }
  }
  return std::nullopt;
}

std::optional<Sample> HeadSeries::Newest() const {
  if (samples_ == 0) {
    return std::nullopt;
  }
  if (late_ != nullptr && !late_->empty() && late_->rbegin()->first == newest_time_) {
    return Sample{newest_time_, late_->rbegin()->second};
  }
  if (open_.count() != 0) {
    return Sample{newest_time_, open_.last_value()};
  }
  return Sample{newest_time_, full_->back().last_value()};
}

HeadSeries::Snapshot HeadSeries::TakeSnapshot(TimeRange range) const {
  Snapshot snapshot;
  if (samples_ == 0 || range.empty() || range.from > newest_time_ || range.to < oldest_time_) {
    return snapshot;
  }
  const auto take = [&](const chunk::HeadChunk& chunk) {
    if (chunk.count() != 0 && chunk.first_time() <= range.to && chunk.last_time() >= range.from) {
      snapshot.chunks.push_back(chunk.TakeSnapshot());
    }
  };
  if (full_ != nullptr) {
    for (const auto& chunk : *full_) {
      take(chunk);
    }
  }
  take(open_);
  if (late_ != nullptr) {
    for (auto it = late_->lower_bound(range.from); it != late_->end() && it->first <= range.to; ++it) {
      snapshot.late.Append(it->first, it->second);
    }
  }
  return snapshot;
}

Status HeadSeries::ReadAll(chunk::Columns* out) const {
  return DecodeSnapshot(TakeSnapshot(TimeRange{}), TimeRange{}, out);
}

Status DecodeSnapshot(const HeadSeries::Snapshot& snapshot, TimeRange range, chunk::Columns* out) {
  out->Clear();
  chunk::Columns in_order;
  for (const auto& chunk : snapshot.chunks) {
    if (Status status = DecodeHeadChunk(chunk, &in_order.times, &in_order.values); !status.ok()) {
      return Status::Internal("head chunk does not decode: " + std::string(status.message()));
    }
  }
  const chunk::ColumnsView chunks = chunk::Slice({in_order.times, in_order.values}, range);
  if (snapshot.late.empty()) {
    if (chunks.times.size() == in_order.size()) {
      *out = std::move(in_order);
    } else {
      out->times.assign(chunks.times.begin(), chunks.times.end());
      out->values.assign(chunks.values.begin(), chunks.values.end());
    }
    return Status::Ok();
  }
  const chunk::ColumnsView late{snapshot.late.times, snapshot.late.values};
  const chunk::ColumnsView inputs[] = {chunks, late};
  chunk::MergeColumns(inputs, out);
  return Status::Ok();
}

}  // namespace tsdb::engine
