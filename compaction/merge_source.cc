#include "compaction/merge_source.h"

#include <algorithm>

namespace tsdb::compaction {

bool Touches(std::span<const TimeRange> ranges, Timestamp from, Timestamp to) {
  const auto range = std::ranges::lower_bound(ranges, from, {}, &TimeRange::to);
  return range != ranges.end() && range->from <= to;
}

Status MergeSource::Cursor::Load() {
  while (at_end() && block < file->blocks()) {
    row = 0;
    TSDB_RETURN_IF_ERROR(file->ReadBlock(block++, &rows));
  }
  return {};
}

Status MergeSource::Cursor::Advance() {
  ++row;
  return Load();
}

MergeSource::MergeSource(std::span<const chunk::ChunkFileReader* const> files, std::span<const TimeRange> ranges)
    : ranges_(ranges) {
  for (const chunk::ChunkFileReader* file : files) {
    Cursor& cursor = cursors_.emplace_back();
    cursor.file = file;
    if (status_.ok()) {
      status_ = cursor.Load();
      failed_file_ = file;
    }
  }
}

bool MergeSource::Next(SeriesId* id, std::vector<SeriesMerger::Piece>* pieces) {
  pieces->clear();
  while (status_.ok() && pieces->empty()) {
    const Cursor* first = nullptr;
    for (const Cursor& cursor : cursors_) {
      if (!cursor.at_end() && (first == nullptr || cursor.entry().id < first->entry().id)) {
        first = &cursor;
      }
    }
    if (first == nullptr) {
      return false;
    }
    *id = first->entry().id;
    for (std::size_t age = 0; age < cursors_.size(); ++age) {
      Cursor& cursor = cursors_[age];
      while (status_.ok() && !cursor.at_end() && cursor.entry().id == *id) {
        const chunk::ChunkEntry& entry = cursor.entry();
        if (Touches(ranges_, entry.first_time, entry.last_time)) {
          pieces->push_back({static_cast<std::uint32_t>(age), cursor.file, entry});
        }
        status_ = cursor.Advance();
        failed_file_ = cursor.file;
      }
    }
  }
  return status_.ok();
}

}  // namespace tsdb::compaction
