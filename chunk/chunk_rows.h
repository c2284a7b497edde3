// ChunkEntry: one row of a chunk file's directory. ChunkRows: the rows a look-up found.
//
// Rows are decoded from the directory's blocks when somebody asks for them; what only few need (statistics, the first
// times of pages) stays beside them in the form of the file and is decoded on demand.
//
// Thread safety: values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "chunk/chunk_statistics.h"
#include "chunk/column_codec.h"
#include "tsdb/result.h"
#include "tsdb/types.h"

namespace tsdb::chunk {

/// Largest number of samples in a chunk.
inline constexpr std::size_t kChunkSamplesMax = 8192;

/// Pages of a chunk: of kPageSamples each, the last one may be shorter.
inline constexpr std::size_t PageCount(std::size_t samples) { return (samples + kPageSamples - 1) / kPageSamples; }

/// Encodings of a column that is wholly described by the directory: times at even steps (first time, last time and
/// count say it all), and values that are all the same bits.
inline constexpr std::uint8_t kTimesInDirectory = 0;
inline constexpr std::uint8_t kValuesInDirectory = 0;

/// One chunk: what it covers and where its columns are.
struct ChunkEntry {
  SeriesId id;
  Timestamp first_time = 0;
  Timestamp last_time = 0;
  std::uint64_t time_offset = 0;
  std::uint64_t value_offset = 0;
  std::uint32_t count = 0;
  std::uint32_t time_bytes = 0;
  std::uint32_t value_bytes = 0;
  std::uint32_t time_checksum = 0;
  std::uint32_t value_checksum = 0;
  std::uint8_t time_encoding = 0;  // numbers in docs/format/encodings.md, or kTimesInDirectory
  std::uint8_t value_encoding = 0;
  /// Every value, when value_encoding is kValuesInDirectory.
  double constant = 0;
  /// Where ChunkRows keeps the rest.
  std::uint32_t statistics_at = 0;
  std::uint32_t statistics_bytes = 0;
  std::uint32_t page_times_at = 0;
};

/// Rows of a directory, ascending by (id, first time). Reusable: keeps its memory over Clear.
struct ChunkRows {
  std::vector<ChunkEntry> entries;
  std::string statistics;             // as in the file, checksum verified
  std::vector<Timestamp> page_times;  // first times of the pages but the first, of chunks with uneven times

  bool empty() const { return entries.empty(); }
  std::size_t size() const { return entries.size(); }
  void Clear() {
    entries.clear();
    statistics.clear();
    page_times.clear();
  }
  /// Statistics of the row at `index`. kCorruption when their bytes are none.
  Result<ChunkStatistics> Statistics(std::size_t index) const;
  /// First time of a page of the row at `index`.
  Timestamp PageTime(std::size_t index, std::size_t page) const;
};

}  // namespace tsdb::chunk
