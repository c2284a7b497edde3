#include "compaction/merge_source.h"

#include <algorithm>

namespace tsdb::compaction {

bool Touches(std::span<const TimeRange> ranges, Timestamp from, Timestamp to) {
  const auto range = std::ranges::lower_bound(ranges, from, {}, &TimeRange::to);
  return range != ranges.end() && range->from <= to;
}

MergeSource::MergeSource(std::span<const chunk::ChunkFileReader* const> files, std::span<const TimeRange> ranges)
    : ranges_(ranges) {
  for (const chunk::ChunkFileReader* file : files) {
    cursors_.push_back({file, file->entries()});
  }
}

bool MergeSource::Next(SeriesId* id, std::vector<SeriesMerger::Piece>* pieces) {
  pieces->clear();
  while (pieces->empty()) {
    const Cursor* first = nullptr;
    for (const Cursor& cursor : cursors_) {
      if (!cursor.rest.empty() && (first == nullptr || cursor.rest.front().id < first->rest.front().id)) {
        first = &cursor;
      }
    }
    if (first == nullptr) {
      return false;
    }
    *id = first->rest.front().id;
    for (std::size_t age = 0; age < cursors_.size(); ++age) {
      Cursor& cursor = cursors_[age];
      while (!cursor.rest.empty() && cursor.rest.front().id == *id) {
        const chunk::ChunkEntry& entry = cursor.rest.front();
        if (Touches(ranges_, entry.first_time, entry.last_time)) {
          pieces->push_back({static_cast<std::uint32_t>(age), cursor.file, entry});
        }
        cursor.rest = cursor.rest.subspan(1);
      }
    }
  }
  return true;
}

}  // namespace tsdb::compaction
