// SeriesMerger: the samples of one series out of the chunks of many files, merged by time, as a stream.
//
//   chunks, by first time ──► open: those that began and are not used up ──► views of samples, ascending
//
// At most one chunk per file is open at a time (chunks of one file do not overlap), so memory is bound by the number of
// files, however long the series is. A chunk that overlaps no other passes through as it was decoded. Of samples at one
// time that of the newest file stays.
//
// Thread safety: none; belongs to a job.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "chunk/chunk_file.h"
#include "chunk/columns.h"
#include "chunk/tombstone.h"
#include "tsdb/status.h"
#include "tsdb/types.h"

namespace tsdb::compaction {

class SeriesMerger {
 public:
  /// A chunk of a file; files with a higher age are newer.
  struct Piece {
    std::uint32_t age = 0;
    const chunk::ChunkFileReader* file = nullptr;
    chunk::ChunkEntry entry;
  };

  /// Begins with the chunks of one series; samples outside of `range` are left out. `pieces` may come in any order. Of
  /// each file what `masks` take from it is left out as well; they outlive the series.
  void Start(std::vector<Piece> pieces, TimeRange range, std::span<const chunk::DeletedRange> masks = {});
  /// The next samples, ascending from call to call; at least one. False at the end and on an error; status() tells
  /// which. The view is valid until the next call.
  bool Next(chunk::ColumnsView* view);
  const Status& status() const { return status_; }
  /// The file of the chunk that could not be read; null when none.
  const chunk::ChunkFileReader* failed_file() const { return failed_file_; }
  /// Samples read so far that lay in the range, and how many of them gave way to a newer one at the same time.
  std::uint64_t samples_read() const { return samples_read_; }
  std::uint64_t samples_replaced() const { return samples_replaced_; }
  /// And how many were deleted.
  std::uint64_t samples_deleted() const { return samples_deleted_; }

 private:
  /// A decoded chunk; `rest` is what was not handed out yet.
  struct OpenPiece {
    std::uint32_t age = 0;
    std::unique_ptr<chunk::Columns> columns;
    chunk::ColumnsView rest;
  };

  void CloseUsedUp();
  void OpenNext();
  void TakeBelow(Timestamp bound, bool bounded, chunk::ColumnsView* view);

  TimeRange range_;
  std::vector<Piece> pieces_;
  std::size_t next_ = 0;
  std::vector<OpenPiece> open_;  // ascending by age
  std::vector<std::unique_ptr<chunk::Columns>> spare_;
  std::vector<chunk::ColumnsView> views_;
  chunk::Columns merged_;
  std::uint64_t samples_read_ = 0;
  std::uint64_t samples_replaced_ = 0;
  std::uint64_t samples_deleted_ = 0;
  std::span<const chunk::DeletedRange> masks_;
  Status status_;
  const chunk::ChunkFileReader* failed_file_ = nullptr;
};

}  // namespace tsdb::compaction
