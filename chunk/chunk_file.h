// Chunk file: immutable file of chunks, sorted by (series id, first time). Byte layout: docs/format/chunk-file.md.
//
//   header · column blocks · directory · footer          a checksum on each, verified before first use
//
// Each chunk is a time column and a value column; identical time columns of a file are stored once. The directory
// holds, per chunk, id, first and last time, count, where its columns are, and statistics. It is cut into blocks, each
// with its own checksum, below an index of the blocks.
//
// Writer: writes what it is given in order, decodes what it encoded and compares before it goes on, fsyncs the file on
// Finish; the caller fsyncs the folder. Reader: pread of whole columns and directory blocks; in memory stays only the
// index of the blocks.
//
// Thread safety: a writer belongs to one thread; a reader is thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "chunk/chunk_rows.h"
#include "chunk/column_buffer.h"
#include "chunk/column_codec.h"
#include "chunk/columns.h"
#include "chunk/series_summary.h"
#include "tsdb/result.h"
#include "tsdb/types.h"

namespace tsdb::chunk {

/// What the manifest keeps of a chunk file.
struct ChunkFileMeta {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  /// Commits whose effects are in it.
  CommitNumber first_commit;
  CommitNumber last_commit;
  Timestamp first_time = 0;
  Timestamp last_time = 0;
  std::uint64_t series = 0;
  std::uint64_t chunks = 0;
  std::uint64_t samples = 0;
  /// 0: as flushed. Higher levels come with merging.
  std::uint32_t level = 0;
  /// Deletes up to here are applied to it. Known to the manifest alone; 0 in the file.
  CommitNumber purged_commit = {};
  friend bool operator==(const ChunkFileMeta&, const ChunkFileMeta&) = default;
};

struct ChunkFileOptions {
  std::uint64_t store_high = 0;
  std::uint64_t store_low = 0;
  std::uint64_t number = 0;
  CommitNumber first_commit;
  CommitNumber last_commit;
  std::uint32_t level = 0;
  /// Of the writer; the file does not hold it.
  Effort effort = Effort::kFast;
};

class ChunkFileWriter {
 public:
  /// Creates `path`. On any later error the caller removes it.
  static Result<std::unique_ptr<ChunkFileWriter>> Create(FileSystem& fs, const std::string& path,
                                                         const ChunkFileOptions& options);
  virtual ~ChunkFileWriter() = default;
  /// Adds one chunk: 1 to kChunkSamplesMax samples, (id, first time) ascending from call to call, chunks of one series
  /// not overlapping. Errors: kInvalidArgument for input out of order, kInternal when what was encoded does not decode
  /// to the same bits, and those of the file system; after one every further call returns it.
  virtual Status Add(SeriesId id, ColumnsView columns) = 0;
  /// Size the file would have when finished now.
  virtual std::uint64_t bytes() const = 0;
  /// Writes directory and footer, syncs and closes. kInvalidArgument when no chunk was added.
  virtual Result<ChunkFileMeta> Finish() = 0;
};

/// Columns of one encoding in a file: 0 is the one without bytes.
struct EncodingTotals {
  std::uint8_t encoding = 0;
  std::uint64_t columns = 0;
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const EncodingTotals&, const EncodingTotals&) = default;
};

/// Where the bytes of a file are. Time columns count once, however many chunks share them.
struct ChunkFileTotals {
  std::vector<EncodingTotals> times;  // ascending by encoding
  std::vector<EncodingTotals> values;
  std::uint64_t directory_bytes = 0;
};

class ChunkFileReader {
 public:
  /// Opens and checks header, footer and the index of the directory; rows are checked when they are looked at.
  /// kCorruption (with path@offset), kNotSupported (newer version).
  static Result<std::unique_ptr<ChunkFileReader>> Open(FileSystem& fs, const std::string& path);
  virtual ~ChunkFileReader() = default;

  virtual const ChunkFileOptions& options() const = 0;
  virtual const ChunkFileMeta& meta() const = 0;
  virtual const ChunkFileTotals& totals() const = 0;
  virtual const std::string& path() const = 0;

  /// Replaces `rows` by the chunks of one series that overlap `range`. kCorruption when a block of the directory that
  /// may hold some is damaged: the chunks of other blocks are not touched by that.
  virtual Status Find(SeriesId id, TimeRange range, ChunkRows* rows) const = 0;
  /// What all chunks of a series in this file add up to. Null when it has none here, or when the series of this file
  /// have so few chunks that this would not pay. The first call reads all rows of the series; then it is remembered,
  /// for some series. Errors as Find.
  virtual Result<SeriesSummaryPtr> Summary(SeriesId id) const = 0;
  /// The whole directory, a block at a time, in order: replaces `rows` by the chunks of block 0 .. blocks() - 1.
  /// kCorruption when that block is damaged; the others can still be read.
  virtual std::size_t blocks() const = 0;
  virtual Status ReadBlock(std::size_t block, ChunkRows* rows) const = 0;
  /// The first block that may hold chunks of a series that end at or behind `from`; blocks() when none does.
  virtual std::size_t FindBlock(SeriesId id, Timestamp from) const = 0;

  /// Replaces `out` by the samples of a chunk. Checksums are verified, the decoder checks the rest: kCorruption.
  virtual Status Read(const ChunkEntry& entry, Columns* out) const = 0;
  /// Appends to `out` the samples of rows [begin, end) of `rows`, chunks of one series as Find gave them, in order:
  /// of each chunk the pages that overlap `range` and none else, so the caller still cuts at both ends. Reads
  /// neighbouring columns at once.
  virtual Status ReadPages(const ChunkRows& rows, std::size_t begin, std::size_t end, TimeRange range,
                           ColumnBuffer* out) const = 0;
  /// The same of rows whose times go on in even steps, from each to the next: appends the values alone, without their
  /// times, and returns the time of the first.
  virtual Result<Timestamp> ReadValues(const ChunkRows& rows, std::size_t begin, std::size_t end, TimeRange range,
                                       ColumnBuffer* out) const = 0;
  /// Reads and checks every byte of the file; one message per damaged place.
  virtual Status Verify(std::vector<std::string>* damage) const = 0;
  virtual std::uint64_t memory_bytes() const = 0;
};

}  // namespace tsdb::chunk
