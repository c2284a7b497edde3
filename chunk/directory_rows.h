// The rows of one block of a chunk file's directory: varints, each row relative to the one before; a block stands for
// itself. Byte layout: docs/format/chunk-file.md.
//
// Columns are stored in the order of the rows, without gaps, so that a row needs only their lengths. A time column is
// described once per block, by the first row there that uses it; later rows name it.
//
// Thread safety: values; a reader belongs to one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/coding.h"
#include "chunk/chunk_rows.h"
#include "tsdb/types.h"

namespace tsdb::chunk {

/// One entry of the directory's index.
struct DirectoryBlock {
  /// Of its first row: every row of an earlier block is less.
  SeriesId first_id;
  Timestamp first_time = 0;
  SeriesId last_id;                  // of its last row
  std::uint64_t offset = 0;          // in the file
  std::uint64_t columns_begin = 0;   // in the file: the columns its rows bring
  std::uint64_t columns_end = 0;
  std::uint32_t bytes = 0;
  std::uint32_t rows = 0;
  std::uint32_t checksum = 0;        // of its bytes; low 32 bits, seeded by its place
};

/// What a row holds beside the entry's fixed fields.
struct RowDetails {
  std::span<const Timestamp> page_times;  // empty unless the times are uneven and there is more than one page
  std::string_view statistics;
};

class DirectoryRowWriter {
 public:
  /// Appends a row. `ordinal`: the same for all chunks that share a time column, and only for those.
  void Add(const ChunkEntry& entry, std::uint64_t ordinal, const RowDetails& details);
  std::size_t rows() const { return rows_; }
  SeriesId last_id() const { return previous_.id; }
  const std::string& bytes() const { return bytes_; }
  /// Begins the next block; the columns of its rows start at `columns_begin` of the file.
  void Start(std::uint64_t columns_begin);

 private:
  void AddTimes(const ChunkEntry& entry, bool same_series, std::uint64_t ordinal, const RowDetails& details);

  std::string bytes_;
  std::size_t rows_ = 0;
  ChunkEntry previous_;
  std::uint64_t position_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> described_;  // ordinal to position among the block's time columns
};

/// Reads rows one after another from bytes whose checksum was verified, and which are checked all the same.
class DirectoryRowReader {
 public:
  DirectoryRowReader(std::string_view data, const DirectoryBlock& block);
  /// The next row. statistics_at and page_times_at of the entry are not set. False behind the last row, or when a row
  /// is damaged: problem() tells. `details` is valid until the next call.
  bool Next(ChunkEntry* entry, RowDetails* details);
  /// What is wrong; null while nothing is.
  const char* problem() const { return problem_; }
  std::size_t offset() const { return reader_.offset(); }

 private:
  struct TimeColumn {
    ChunkEntry entry;  // the times' part
    std::size_t page_times_at = 0;
    std::size_t page_times = 0;
  };

  bool Fail(const char* problem) {
    problem_ = problem;
    return false;
  }
  bool ReadRow(ChunkEntry* entry, RowDetails* details);
  bool ReadTimes(unsigned nibble, bool same_series, TimeColumn* column);
  bool ReadTimeRange(bool same_series, ChunkEntry* entry);
  bool ReadTimePlace(TimeColumn* column);
  bool ReadPageTimes(TimeColumn* column);
  bool ReadValues(unsigned nibble, ChunkEntry* entry);
  bool ReadEncoding(unsigned nibble, unsigned none, std::uint8_t* encoding);
  bool ReadLength(std::uint32_t count, std::uint32_t* bytes, std::uint32_t* checksum);
  bool TakePlace(std::uint32_t bytes, std::uint64_t* offset);
  bool CheckEnd();

  ByteReader reader_;
  const DirectoryBlock& block_;
  std::vector<TimeColumn> time_columns_;
  std::vector<Timestamp> page_times_;
  ChunkEntry previous_;
  std::uint64_t position_ = 0;
  std::uint32_t rows_ = 0;
  const char* problem_ = nullptr;
};

}  // namespace tsdb::chunk
