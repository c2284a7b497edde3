#include "engine/head/head_series.h"

#include <algorithm>
#include <utility>

namespace tsdb::engine {

std::ptrdiff_t HeadSeries::Put(Timestamp time, double value) {
  const bool in_order = open_.count() == 0 ? (full_ == nullptr || time > full_->back().last_time())
                                           : time > open_.last_time();
  std::ptrdiff_t grown = 0;
  if (!in_order) {
    if (late_ == nullptr) {
      auto late = std::make_unique<LateSamples>();
      grown = late->Put(time, value) + static_cast<std::ptrdiff_t>(sizeof(LateSamples));
      late_ = std::move(late);
    } else {
      grown = late_->Put(time, value);
    }
  } else {
    grown = -static_cast<std::ptrdiff_t>(open_.memory_bytes());
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
    grown += static_cast<std::ptrdiff_t>(open_.memory_bytes());
  }
  // Only now: nothing has changed for a reader when there was no memory.
  ++samples_;
  oldest_time_ = std::min(oldest_time_, time);
  return grown;
}

std::optional<double> HeadSeries::Find(Timestamp time) const {
  if (samples_ == 0 || time < oldest_time_ || time > newest_time_) {
    return std::nullopt;
  }
  if (late_ != nullptr) {
    if (auto found = late_->Find(time)) {
      return found;
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
  if (late_ != nullptr && late_->newest_time() == newest_time_) {
    return Sample{newest_time_, *late_->Find(newest_time_)};
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
    snapshot.late = late_->TakeSnapshot(range);
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
  std::vector<chunk::Columns> late;
  TSDB_RETURN_IF_ERROR(DecodeLateSamples(snapshot.late, &late));
  std::vector<chunk::ColumnsView> inputs{chunks};
  for (const chunk::Columns& columns : late) {
    inputs.push_back(chunk::Slice({columns.times, columns.values}, range));
  }
  chunk::MergeColumns(inputs, out);
  return Status::Ok();
}

}  // namespace tsdb::engine
