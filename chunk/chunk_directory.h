// The directory of a chunk file: one row of varints per chunk, each relative to the row before. Byte layout:
// docs/format/chunk-file.md.
//
// Columns are stored in the order of the rows, without gaps, so that a row needs only their lengths; a chunk that
// shares its times with an earlier one names that time column and repeats nothing of it.
//
// Two columns need no bytes of their own: times at even steps (encoding 0: first time, last time and count say it all)
// and values that are all the same bits (encoding 0: the statistics' first).
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chunk/chunk_file.h"
#include "chunk/chunk_file_format.h"
#include "tsdb/status.h"

namespace tsdb::chunk {

/// Encodings of a column that is wholly described by the directory.
inline constexpr std::uint8_t kTimesInDirectory = 0;
inline constexpr std::uint8_t kValuesInDirectory = 0;

/// True when the times are first, first + step, first + 2·step …
bool TimesAreEven(std::span<const Timestamp> times);
/// True when all values a chunk's statistics were made of are the same bits, and not NaN.
bool ValuesAreConstant(const ChunkStatistics& statistics);

/// Decodes a chunk's columns from their (untrusted) bytes, those described by the directory included; `out` has room
/// for entry.statistics.count. kCorruption when the bytes do not fit the entry.
Status DecodeTimeColumn(const ChunkEntry& entry, std::string_view data, Timestamp* out);
Status DecodeValueColumn(const ChunkEntry& entry, std::string_view data, double* out);

class DirectoryEncoder {
 public:
  /// Appends a row. `shared_column`: the ordinal (0 for the file's first) of the time column this chunk shares; absent
  /// when the chunk has a new one, which then gets the next ordinal.
  void Add(const ChunkEntry& entry, std::optional<std::uint64_t> shared_column);
  const std::string& bytes() const { return bytes_; }
  std::uint64_t time_columns() const { return time_columns_; }

 private:
  std::string bytes_;
  ChunkEntry previous_;
  std::uint64_t time_columns_ = 0;
};

/// Reads and checks a whole directory against its footer: order, bounds, and that the columns fill the file from the
/// header to the directory. The message of an error starts at "@<offset>: …".
Status DecodeDirectory(std::string_view data, const ChunkFileFooter& footer, std::vector<ChunkEntry>* entries);

}  // namespace tsdb::chunk
