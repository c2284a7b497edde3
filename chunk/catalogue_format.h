// The fixed parts of a catalogue file: header and block header. Byte layout: docs/format/catalogue.md.
//
//   0        72                                   file size
//   | header | block header · zstd · block header · zstd … |
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "tsdb/result.h"
#include "tsdb/types.h"

namespace tsdb::chunk {

inline constexpr std::string_view kCatalogueMagic = "tsdbcata";
inline constexpr std::uint32_t kCatalogueVersion = 1;
inline constexpr std::size_t kCatalogueHeaderBytes = 72;
inline constexpr std::size_t kCatalogueHeaderChecksumOffset = 68;
inline constexpr std::size_t kCatalogueBlockHeaderBytes = 16;
/// A block ends with the definition that makes it this long, uncompressed.
inline constexpr std::size_t kCatalogueBlockBytes = 64 * 1024;
/// No block is longer; bounds what a reader allocates.
inline constexpr std::size_t kCatalogueBlockBytesMax = 1 << 20;

struct CatalogueHeader {
  std::uint64_t store_high = 0;
  std::uint64_t store_low = 0;
  std::uint64_t number = 0;
  CommitNumber first_commit;
  CommitNumber last_commit;
  std::uint64_t definitions = 0;
};

struct CatalogueBlockHeader {
  std::uint32_t checksum = 0;  // of the rest of the block header and the compressed bytes
  std::uint32_t compressed_bytes = 0;
  std::uint32_t raw_bytes = 0;
  std::uint32_t definitions = 0;
};

std::string EncodeCatalogueHeader(const CatalogueHeader& header);
/// Reads and checks the header of a file: kCorruption, kNotSupported (another version), errors of the file system.
Result<CatalogueHeader> ReadCatalogueHeader(const RandomReadFile& file);
/// `data` holds at least kCatalogueBlockHeaderBytes. Nothing is checked.
CatalogueBlockHeader DecodeCatalogueBlockHeader(std::string_view data);

}  // namespace tsdb::chunk
