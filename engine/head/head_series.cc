#include "engine/head/head_series.h"

#include <algorithm>
#include <new>
#include <utility>

namespace tsdb::engine {

namespace {

bool Overlaps(const HeadPart& part, TimeRange range) {
  return !part.empty() && part.oldest_time() <= range.to && part.newest_time() >= range.from;
}

bool Covers(TimeRange range, const HeadPart& part) {
  return range.from <= part.oldest_time() && part.newest_time() <= range.to;
}

void Remove(TimeRange range, chunk::Columns* columns) {
  const auto begin = std::ranges::lower_bound(columns->times, range.from) - columns->times.begin();
  const auto end = std::ranges::upper_bound(columns->times, range.to) - columns->times.begin();
  if (begin < end) {
    columns->times.erase(columns->times.begin() + begin, columns->times.begin() + end);
    columns->values.erase(columns->values.begin() + begin, columns->values.begin() + end);
  }
}

Status DecodePart(const HeadPart::Snapshot& snapshot, TimeRange range, chunk::Columns* out);

}  // namespace

std::ptrdiff_t HeadPart::memory_bytes() const {
  auto bytes = static_cast<std::ptrdiff_t>(open_.memory_bytes());
  if (full_ != nullptr) {
    for (const chunk::HeadChunk& chunk : *full_) {
      bytes += static_cast<std::ptrdiff_t>(chunk.memory_bytes() + sizeof(chunk::HeadChunk));
    }
  }
  return bytes + (late_ == nullptr ? 0 : late_->MemoryBytes() + static_cast<std::ptrdiff_t>(sizeof(LateSamples)));
}

std::ptrdiff_t HeadPart::Put(Timestamp time, double value) {
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

std::optional<double> HeadPart::Find(Timestamp time) const {
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

std::optional<Sample> HeadPart::Newest() const {
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

HeadPart::Snapshot HeadPart::TakeSnapshot(TimeRange range) const {
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

void HeadPart::AddStarts(std::size_t stride, std::vector<Timestamp>* starts) const {
  for (std::size_t i = stride; full_ != nullptr && i < full_->size(); i += stride) {
    starts->push_back((*full_)[i].first_time());
  }
}

void HeadSeries::DropCovered(TimeRange range, Freed* freed) {
  const auto drop = [freed](const HeadPart& part) {
    freed->bytes += part.memory_bytes();
    freed->samples += part.samples();
  };
  if (!part_.empty() && Covers(range, part_)) {
    drop(part_);
    part_ = HeadPart();
  }
  if (frozen_ == nullptr) {
    return;
  }
  for (std::size_t i = frozen_->size(); i-- > 0;) {
    Frozen& frozen = (*frozen_)[i];
    if (!Covers(range, frozen.part)) {
      continue;
    }
    if (i > 0) {
      // What was deleted behind it concerns older parts as well.
      std::vector<TimeRange>& older = (*frozen_)[i - 1].deleted;
      older.insert(older.end(), frozen.deleted.begin(), frozen.deleted.end());
    }
    drop(frozen.part);
    frozen_->erase(frozen_->begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (frozen_->empty()) {
    frozen_ = nullptr;
  }
}

HeadSeries::Freed HeadSeries::Delete(TimeRange range) {
  Freed freed;
  DropCovered(range, &freed);
  const bool in_part = Overlaps(part_, range);
  const bool in_frozen =
      frozen_ != nullptr && std::ranges::any_of(*frozen_, [&](const Frozen& f) { return Overlaps(f.part, range); });
  if (in_part) {
    std::vector<TimeRange> deleted{range};
    if (frozen_ == nullptr) {
      frozen_ = std::make_unique<std::vector<Frozen>>();
    }
    try {
      frozen_->reserve(frozen_->size() + 1);
    } catch (const std::bad_alloc&) {
      frozen_ = frozen_->empty() ? nullptr : std::move(frozen_);
      throw;
    }
    frozen_->push_back(Frozen{std::move(part_), std::move(deleted)});
    part_ = HeadPart();
    freed.bytes -= static_cast<std::ptrdiff_t>(sizeof(Frozen) + sizeof(TimeRange));
  } else if (in_frozen && std::ranges::find(frozen_->back().deleted, range) == frozen_->back().deleted.end()) {
    frozen_->back().deleted.push_back(range);
    freed.bytes -= static_cast<std::ptrdiff_t>(sizeof(TimeRange));
  }
  if (frozen_ != nullptr && (frozen_->size() > kFrozenMax || frozen_->back().deleted.size() > kDeletedMax)) {
    Squash(&freed);
  }
  return freed;
}

std::vector<TimeRange> HeadSeries::DeletedBehind(std::size_t frozen) const {
  std::vector<TimeRange> deleted;
  for (; frozen < frozen_->size(); ++frozen) {
    deleted.insert(deleted.end(), (*frozen_)[frozen].deleted.begin(), (*frozen_)[frozen].deleted.end());
  }
  return deleted;
}

// Only to save work: when it cannot be done now, a later delete does it.
void HeadSeries::Squash(Freed* freed) {
  try {
    Snapshot snapshot;
    std::ptrdiff_t before = 0;
    for (std::size_t i = 0; i < frozen_->size(); ++i) {
      snapshot.parts.push_back({(*frozen_)[i].part.TakeSnapshot(TimeRange{}), DeletedBehind(i)});
      before += (*frozen_)[i].part.memory_bytes() + static_cast<std::ptrdiff_t>(sizeof(Frozen));
    }
    chunk::Columns columns;
    if (!DecodeSnapshot(snapshot, TimeRange{}, &columns).ok()) {
      return;  // a reader meets the same and tells
    }
    auto squashed = std::make_unique<std::vector<Frozen>>(1);
    HeadPart& part = squashed->front().part;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      static_cast<void>(part.Put(columns.times[i], columns.values[i]));
    }
    freed->bytes += before - part.memory_bytes();
    frozen_ = columns.empty() ? nullptr : std::move(squashed);
  } catch (const std::bad_alloc&) {
  }
}

std::optional<double> HeadSeries::Find(Timestamp time) const {
  if (const auto found = part_.Find(time); found || frozen_ == nullptr) {
    return found;
  }
  for (std::size_t i = frozen_->size(); i-- > 0;) {
    const Frozen& frozen = (*frozen_)[i];
    if (std::ranges::any_of(frozen.deleted, [time](TimeRange range) { return range.Contains(time); })) {
      return std::nullopt;  // older parts are under it as well
    }
    if (const auto found = frozen.part.Find(time)) {
      return found;
    }
  }
  return std::nullopt;
}

std::optional<Sample> HeadSeries::Newest() const {
  std::optional<Sample> newest = part_.Newest();
  if (frozen_ == nullptr) {
    return newest;
  }
  // Later parts win at equal times.
  chunk::Columns columns;
  for (std::size_t i = frozen_->size(); i-- > 0;) {
    const HeadPart& part = (*frozen_)[i].part;
    if (newest && newest->time >= part.newest_time()) {
      continue;
    }
    Snapshot snapshot;
    snapshot.parts.push_back({part.TakeSnapshot(TimeRange{}), DeletedBehind(i)});
    if (DecodeSnapshot(snapshot, TimeRange{}, &columns).ok() && !columns.empty() &&
        (!newest || columns.times.back() > newest->time)) {
      newest = Sample{columns.times.back(), columns.values.back()};
    }
  }
  return newest;
}

HeadSeries::Snapshot HeadSeries::TakeSnapshot(TimeRange range) const {
  Snapshot snapshot;
  if (frozen_ != nullptr) {
    for (std::size_t i = 0; i < frozen_->size(); ++i) {
      if (Overlaps((*frozen_)[i].part, range)) {
        snapshot.parts.push_back({(*frozen_)[i].part.TakeSnapshot(range), DeletedBehind(i)});
      }
    }
  }
  if (!range.empty() && Overlaps(part_, range)) {
    snapshot.parts.push_back({part_.TakeSnapshot(range), {}});
  }
  return snapshot;
}

Status HeadSeries::ReadAll(chunk::Columns* out) const {
  return DecodeSnapshot(TakeSnapshot(TimeRange{}), TimeRange{}, out);
}

std::vector<Timestamp> HeadSeries::SliceStarts(std::size_t samples) const {
  const std::size_t stride = std::max<std::size_t>(1, samples / kHeadChunkSamplesMax);
  std::vector<Timestamp> starts;
  part_.AddStarts(stride, &starts);
  for (std::size_t i = 0; frozen_ != nullptr && i < frozen_->size(); ++i) {
    (*frozen_)[i].part.AddStarts(stride, &starts);
  }
  std::ranges::sort(starts);
  starts.erase(std::ranges::unique(starts).begin(), starts.end());
  return starts;
}

Status DecodeSnapshot(const HeadSeries::Snapshot& snapshot, TimeRange range, chunk::Columns* out) {
  out->Clear();
  std::vector<chunk::Columns> parts(snapshot.parts.size());
  std::vector<chunk::ColumnsView> views;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    TSDB_RETURN_IF_ERROR(DecodePart(snapshot.parts[i].samples, range, &parts[i]));
    for (const TimeRange deleted : snapshot.parts[i].deleted) {
      Remove(deleted, &parts[i]);
    }
    views.push_back({parts[i].times, parts[i].values});
  }
  if (parts.size() == 1) {
    *out = std::move(parts.front());
  } else if (!parts.empty()) {
    chunk::MergeColumns(views, out);
  }
  return Status::Ok();
}

namespace {

Status DecodePart(const HeadPart::Snapshot& snapshot, TimeRange range, chunk::Columns* out) {
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

}  // namespace

}  // namespace tsdb::engine
