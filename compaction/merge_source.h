// MergeSource: walks many chunk files series by series and gives the chunks of each that touch some ranges of time.
//
// Thread safety: none; belongs to a job. The readers outlive it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "chunk/chunk_file.h"
#include "compaction/series_merger.h"
#include "tsdb/status.h"
#include "tsdb/types.h"

namespace tsdb::compaction {

/// True when one of the ranges (ascending, disjoint) holds a time of [from, to].
bool Touches(std::span<const TimeRange> ranges, Timestamp from, Timestamp to);

class MergeSource {
 public:
  /// `files` oldest first. `ranges` ascending and disjoint; they must outlive the source.
  MergeSource(std::span<const chunk::ChunkFileReader* const> files, std::span<const TimeRange> ranges);

  /// The chunks of the next series that has any; ids ascend. False at the end and on an error; status() tells which.
  bool Next(SeriesId* id, std::vector<SeriesMerger::Piece>* pieces);
  const Status& status() const { return status_; }
  /// The file whose directory could not be read; null when none.
  const chunk::ChunkFileReader* failed_file() const { return failed_file_; }

 private:
  struct Cursor {
    const chunk::ChunkFileReader* file = nullptr;
    std::size_t block = 0;   // of the directory, the next to be read
    chunk::ChunkRows rows;   // of the block at hand
    std::size_t row = 0;     // of those, the next

    bool at_end() const { return row == rows.size(); }
    const chunk::ChunkEntry& entry() const { return rows.entries[row]; }
    /// Makes sure there is a row at hand unless the file has no more.
    Status Load();
    Status Advance();
  };

  std::span<const TimeRange> ranges_;
  std::vector<Cursor> cursors_;
  Status status_;
  const chunk::ChunkFileReader* failed_file_ = nullptr;
};

}  // namespace tsdb::compaction
