// SeriesReader: the samples of one series in a range, merged from head and files, in blocks.
//
//   file chunks ┐                                  ┌ block 1   sources that overlap in time are decoded and merged
//   sealed gens ┼─► sources sorted by time ─► runs ┼ block 2   together; others pass one by one
//   mutable gen ┘                                  └ …
//
// Of samples at one time the newest wins: mutable generation, sealed ones (newest first), files (highest last commit
// first).
//
// Thread safety: none. The version must stay pinned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "chunk/chunk_rows.h"
#include "chunk/column_buffer.h"
#include "chunk/columns.h"
#include "chunk/tombstone.h"
#include "engine/core.h"
#include "engine/version.h"
#include "tsdb/status.h"
#include "tsdb/types.h"

namespace tsdb::engine {

class SeriesReader {
 public:
  /// Takes what the head holds at this moment (under the stripe of the series: one commit prefix) and finds the chunks.
  Status Open(Core& core, const Version& version, SeriesId id, TimeRange range, bool reverse);
  /// True when there is no source at all.
  bool empty() const { return runs_.empty(); }
  /// Next samples, oldest block first (newest first when reverse; times within a block ascend either way). False at the
  /// end or on error. The view is valid until the next call.
  bool Next(chunk::ColumnsView* block);
  const Status& status() const { return status_; }

 private:
  struct Source {
    Timestamp first = 0;
    Timestamp last = 0;
    std::uint32_t age = 0;                           // order of precedence: higher wins
    const chunk::ChunkFileReader* file = nullptr;    // null: it is in memory_
    std::size_t place = 0;                           // position in memory_, or in rows_
    std::size_t row = 0;                             // of those rows
    std::size_t samples = 0;                         // of a chunk
    bool masked = false;                             // a delete applies to it: read and filtered, never by statistics
  };
  struct Run {
    std::size_t begin = 0;  // of sources_
    std::size_t end = 0;
    Timestamp last = 0;
    std::size_t samples = 0;
    bool chain = false;  // chunks that follow one another in one file: read at once, nothing to merge
  };

  Status ReadHead(Core& core, const Version& version, SeriesId id, TimeRange range);
  Status FindChunks(const Version& version, SeriesId id, TimeRange range);
  void BuildRuns(bool reverse);
  void SplitLast();
  Status ReadRun(const Run& run);
  bool FollowsInFile(const Run& run, const Source& source) const;
  Status ReadSource(const Source& source, std::size_t buffer, chunk::ColumnsView* view);

  TimeRange range_;
  std::vector<Source> sources_;
  std::vector<chunk::Columns> memory_;
  std::vector<chunk::ChunkRows> rows_;  // one per file with chunks; the first rows_used_ are
  std::size_t rows_used_ = 0;
  std::vector<Run> runs_;
  std::size_t next_run_ = 0;
  chunk::Columns block_;
  chunk::ColumnsView view_;
  std::vector<chunk::ColumnBuffer> scratch_;
  std::vector<chunk::Columns> filtered_;  // of masked sources, by buffer
  std::vector<chunk::DeletedRange> masks_;
  Status status_;
};

}  // namespace tsdb::engine
