// The directory of a chunk file: blocks of rows, and an index of the blocks. Byte layout: docs/format/chunk-file.md.
//
//   columns │ block · block · block · … │ index │ footer
//
// The index is small (some 12 bytes for about a hundred chunks) and read whole; it also tells how many columns of each
// encoding there are. A block is read when one of its rows is wanted.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "chunk/chunk_file.h"
#include "chunk/chunk_file_format.h"
#include "chunk/directory_rows.h"
#include "tsdb/status.h"

namespace tsdb::chunk {

/// A block ends behind the row that brings it to one of these.
inline constexpr std::size_t kDirectoryBlockRows = 128;
inline constexpr std::size_t kDirectoryBlockBytes = 4096;

/// Gathers the rows of a file; the blocks stay in memory until the end.
class DirectoryEncoder {
 public:
  explicit DirectoryEncoder(std::uint64_t file_number) : file_number_(file_number) {}
  /// Appends a row. `ordinal` of its time column: time_columns() for a new one, else that of an earlier chunk with the
  /// same times. `columns_end`: where the file's columns end so far.
  void Add(const ChunkEntry& entry, std::uint64_t ordinal, const RowDetails& details, std::uint64_t columns_end);
  std::uint64_t time_columns() const { return time_columns_; }
  /// Bytes of the blocks so far.
  std::uint64_t bytes() const { return blocks_bytes_.size() + rows_.bytes().size(); }
  /// Closes the last block; sets the footer's directory_offset (where the columns end), index_offset, index_checksum
  /// and blocks, and returns the blocks and the index.
  std::string Finish(ChunkFileFooter* footer);

 private:
  void EndBlock();

  const std::uint64_t file_number_;
  DirectoryRowWriter rows_;
  std::string blocks_bytes_;
  std::vector<DirectoryBlock> blocks_;  // offsets from the first block on; without checksums
  DirectoryBlock block_;                // the open one
  std::uint64_t columns_end_ = kChunkFileHeaderBytes;
  std::map<std::uint8_t, EncodingTotals> times_;
  std::map<std::uint8_t, EncodingTotals> values_;
  std::uint64_t time_columns_ = 0;
};

/// Reads and checks the index, whose checksum was verified, against its footer. The message of an error starts at
/// "@<offset>: …".
Status DecodeDirectoryIndex(std::string_view data, const ChunkFileFooter& footer, std::vector<DirectoryBlock>* blocks,
                            ChunkFileTotals* totals);

}  // namespace tsdb::chunk
