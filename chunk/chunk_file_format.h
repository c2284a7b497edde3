// The fixed parts of a chunk file: header, footer and their limits. Byte layout: docs/format/chunk-file.md.
//
//   0        64                    directory_offset   index_offset   footer_offset   file size
//   | header | column · column · … | block · block · …  | index        | footer        |
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "chunk/chunk_file.h"
#include "tsdb/status.h"

namespace tsdb::chunk {

inline constexpr std::string_view kChunkFileMagic = "tsdbchnk";
inline constexpr std::string_view kChunkFileFooterMagic = "knhcbdst";
inline constexpr std::uint32_t kChunkFileVersion = 2;
inline constexpr std::size_t kChunkFileHeaderBytes = 64;
inline constexpr std::size_t kChunkFileFooterBytes = 96;
/// The header's checksum is its last field, and so is the footer's but for the magic.
inline constexpr std::size_t kChunkFileHeaderChecksumOffset = 60;
inline constexpr std::size_t kChunkFileFooterChecksumOffset = 84;

struct ChunkFileFooter {
  std::uint64_t directory_offset = 0;
  std::uint64_t index_offset = 0;
  std::uint64_t index_checksum = 0;  // Checksum64
  std::uint64_t chunks = 0;
  std::uint64_t series = 0;
  std::uint64_t samples = 0;
  std::uint64_t blocks = 0;
  Timestamp first_time = 0;
  Timestamp last_time = 0;
  std::uint64_t file_bytes = 0;
};

std::string EncodeChunkFileHeader(const ChunkFileOptions& options);
/// `data` holds kChunkFileHeaderBytes. kCorruption, or kNotSupported for another version; the message starts at "@0:
/// …".
Status DecodeChunkFileHeader(std::string_view data, ChunkFileOptions* options);

std::string EncodeChunkFileFooter(const ChunkFileFooter& footer, std::uint64_t file_number);
/// `data` holds kChunkFileFooterBytes, the last of a file of `file_bytes`. What comes back lies inside the file.
Status DecodeChunkFileFooter(std::string_view data, std::uint64_t file_number, std::uint64_t file_bytes,
                             ChunkFileFooter* footer);

}  // namespace tsdb::chunk
