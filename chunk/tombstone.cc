#include "chunk/tombstone.h"

#include <algorithm>
#include <utility>

namespace tsdb::chunk {

namespace {

bool Overlap(TimeRange a, TimeRange b) { return a.from <= b.to && b.from <= a.to; }

}  // namespace

TombstoneSet::TombstoneSet(std::vector<TombstonePtr> all) : all_(std::move(all)) {
  for (std::uint32_t i = 0; i < all_.size(); ++i) {
    if (all_[i]->ids.Count() > kIndexedIdsMax) {
      large_.push_back(i);
      continue;
    }
    all_[i]->ids.ForEach([&](std::uint64_t id) { small_by_id_.emplace(id, i); });
  }
}

void TombstoneSet::Collect(SeriesId id, TimeRange range, std::vector<DeletedRange>* out) const {
  if (all_.empty()) {
    return;
  }
  for (const std::uint32_t i : large_) {
    if (Overlap(all_[i]->range, range) && all_[i]->ids.Contains(id.value)) {
      out->push_back({all_[i]->range, all_[i]->commit});
    }
  }
  const auto [begin, end] = small_by_id_.equal_range(id.value);
  for (auto it = begin; it != end; ++it) {
    const Tombstone& tombstone = *all_[it->second];
    if (Overlap(tombstone.range, range)) {
      out->push_back({tombstone.range, tombstone.commit});
    }
  }
}

void TombstoneSet::CollectAfter(CommitNumber last_commit, TimeRange range, std::vector<TombstonePtr>* out) const {
  for (const TombstonePtr& tombstone : all_) {
    if (tombstone->commit > last_commit && Overlap(tombstone->range, range)) {
      out->push_back(tombstone);
    }
  }
}

void KeepAfter(CommitNumber last_commit, std::vector<DeletedRange>* masks) {
  std::erase_if(*masks, [&](const DeletedRange& mask) { return mask.commit <= last_commit; });
}

bool Touches(std::span<const DeletedRange> masks, CommitNumber last_commit, TimeRange range) {
  return std::ranges::any_of(masks, [&](const DeletedRange& mask) {
    return mask.commit > last_commit && Overlap(mask.range, range);
  });
}

bool IsDeleted(std::span<const DeletedRange> masks, CommitNumber last_commit, Timestamp time) {
  return Touches(masks, last_commit, {time, time});
}

std::size_t RemoveDeleted(std::span<const DeletedRange> masks, CommitNumber last_commit, Columns* columns) {
  std::size_t removed = 0;
  for (const DeletedRange& mask : masks) {
    if (mask.commit <= last_commit) {
      continue;
    }
    const auto begin = std::ranges::lower_bound(columns->times, mask.range.from) - columns->times.begin();
    const auto end = std::ranges::upper_bound(columns->times, mask.range.to) - columns->times.begin();
    if (begin < end) {
      columns->times.erase(columns->times.begin() + begin, columns->times.begin() + end);
      columns->values.erase(columns->values.begin() + begin, columns->values.begin() + end);
      removed += static_cast<std::size_t>(end - begin);
    }
  }
  return removed;
}

}  // namespace tsdb::chunk
