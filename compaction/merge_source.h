// MergeSource: walks many chunk files series by series and gives the chunks of each that touch some ranges of time.
//
// Thread safety: none; belongs to a job. The readers outlive it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "chunk/chunk_file.h"
#include "compaction/series_merger.h"
#include "tsdb/types.h"

namespace tsdb::compaction {

/// True when one of the ranges (ascending, disjoint) holds a time of [from, to].
bool Touches(std::span<const TimeRange> ranges, Timestamp from, Timestamp to);

class MergeSource {
 public:
  /// `files` oldest first. `ranges` ascending and disjoint; they must outlive the source.
  MergeSource(std::span<const chunk::ChunkFileReader* const> files, std::span<const TimeRange> ranges);

  /// The chunks of the next series that has any; ids ascend. False at the end.
  bool Next(SeriesId* id, std::vector<SeriesMerger::Piece>* pieces);

 private:
  struct Cursor {
    const chunk::ChunkFileReader* file = nullptr;
    std::span<const chunk::ChunkEntry> rest;
  };

  std::span<const TimeRange> ranges_;
  std::vector<Cursor> cursors_;
};

}  // namespace tsdb::compaction
