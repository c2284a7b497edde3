#include "engine/masks.h"

namespace tsdb::engine {

std::vector<chunk::DeletedRange> MasksOf(const Version& version, SeriesId id, TimeRange range) {
  std::vector<chunk::DeletedRange> masks;
  version.tombstones->Collect(id, range, &masks);
  const std::size_t stripe = StripeOf(id);
  const auto take = [&](const Generation& generation) {
    for (const chunk::TombstonePtr& tombstone : generation.deletes(stripe)) {
      if (tombstone->range.from <= range.to && tombstone->range.to >= range.from &&
          tombstone->ids.Contains(id.value)) {
        masks.push_back({tombstone->range, tombstone->commit});
      }
    }
  };
  for (const auto& generation : version.sealed) {
    take(*generation);
  }
  take(*version.mutable_generation);
  return masks;
}

std::optional<Sample> NewestOf(const HeadSeries& series, CommitNumber last_commit,
                               const std::vector<chunk::DeletedRange>& masks) {
  const std::optional<Sample> newest = series.Newest();
  if (!newest || !chunk::IsDeleted(masks, last_commit, newest->time)) {
    return newest;
  }
  chunk::Columns columns;
  if (!series.ReadAll(&columns).ok()) {
    return std::nullopt;
  }
  chunk::RemoveDeleted(masks, last_commit, &columns);
  return columns.empty() ? std::nullopt : std::optional(Sample{columns.times.back(), columns.values.back()});
}

}  // namespace tsdb::engine
