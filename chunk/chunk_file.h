// Chunk file: immutable file of chunks, sorted by (series id, first time). Byte layout: docs/format/chunk-file.md.
//
//   header · column blocks · directory · footer          a checksum on each, verified before first use
//
// Each chunk is a time column and a value column; identical time columns of a file are stored once. The directory
// holds, per chunk, id, first and last time, count, where its columns are, and statistics.
//
// Writer: writes what it is given in order, decodes what it encoded and compares before it goes on, fsyncs the file on
// Finish; the caller fsyncs the folder. Reader: pread of whole blocks; the directory stays in memory.
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
#include "chunk/columns.h"
#include "tsdb/result.h"
#include "tsdb/types.h"

namespace tsdb::chunk {

/// Statistics of a chunk's values. NaN values count only in count and nan_count (first and last keep any value, bit for
/// bit). min and max are NaN (the canonical quiet one) when every value is; -0.0 counts as less than +0.0, so that they
/// do not depend on the order of the values.
struct ChunkStatistics {
  std::uint32_t count = 0;
  std::uint32_t nan_count = 0;
  double min = 0;
  double max = 0;
  double first = 0;
  double last = 0;
};
ChunkStatistics ComputeStatistics(std::span<const double> values);

/// One line of the directory.
struct ChunkEntry {
  SeriesId id;
  Timestamp first_time = 0;
  Timestamp last_time = 0;
  ChunkStatistics statistics;
  std::uint64_t time_offset = 0;
  std::uint64_t value_offset = 0;
  std::uint32_t time_bytes = 0;
  std::uint32_t value_bytes = 0;
  std::uint32_t time_checksum = 0;
  std::uint32_t value_checksum = 0;
  std::uint8_t time_encoding = 0;   // numbers in docs/format/encodings.md
  std::uint8_t value_encoding = 0;
};

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
  friend bool operator==(const ChunkFileMeta&, const ChunkFileMeta&) = default;
};

/// Largest number of samples in a chunk.
inline constexpr std::size_t kChunkSamplesMax = 8192;

struct ChunkFileOptions {
  std::uint64_t store_high = 0;
  std::uint64_t store_low = 0;
  std::uint64_t number = 0;
  CommitNumber first_commit;
  CommitNumber last_commit;
  std::uint32_t level = 0;
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

class ChunkFileReader {
 public:
  /// Opens and checks header, footer and directory. kCorruption (with path@offset), kNotSupported (newer version).
  static Result<std::unique_ptr<ChunkFileReader>> Open(FileSystem& fs, const std::string& path);
  virtual ~ChunkFileReader() = default;

  virtual const ChunkFileOptions& options() const = 0;
  virtual const ChunkFileMeta& meta() const = 0;
  virtual const std::string& path() const = 0;
  /// The whole directory, sorted by (id, first time).
  virtual std::span<const ChunkEntry> entries() const = 0;
  /// The chunks of one series; empty when it has none.
  virtual std::span<const ChunkEntry> Find(SeriesId id) const = 0;
  /// Replaces `out` by the samples of a chunk. Checksums are verified, the decoder checks the rest: kCorruption.
  virtual Status Read(const ChunkEntry& entry, Columns* out) const = 0;
  /// Reads and checks every byte of the file; one message per damaged place.
  virtual Status Verify(std::vector<std::string>* damage) const = 0;
  virtual std::uint64_t memory_bytes() const = 0;
};

}  // namespace tsdb::chunk
