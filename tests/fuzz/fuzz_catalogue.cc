// ReadCatalogueFile over any bytes: as a file, as a file with its checksums put right, and as the uncompressed content
// of one block.
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/memory_file_system.h"
#include "chunk/catalogue_file.h"
#include "chunk/catalogue_format.h"
#include "chunk/file_dump.h"
#include "chunk/place_seed.h"

namespace {

using namespace tsdb;
using namespace tsdb::chunk;

constexpr std::uint64_t kNumber = 5;

void Require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void CheckFile(const std::string& file) {
  MemoryFileSystem fs;
  fs.WriteWhole("f", file);
  static_cast<void>(DumpCatalogueTo(fs, "f", [](std::string_view) {}));
  const auto meta = ReadCatalogueMeta(fs, "f");
  if (!meta.ok()) {
    return;
  }
  std::uint64_t last = 0;
  std::uint64_t count = 0;
  const Status status =
      ReadCatalogueFile(fs, "f", LoadFixed<std::uint64_t>(file.data() + 16), LoadFixed<std::uint64_t>(file.data() + 24),
                        [&](const SeriesDefinition& definition) {
                          Require(definition.id.value > last && definition.commit >= meta->first_commit &&
                                  definition.commit <= meta->last_commit);
                          last = definition.id.value;
                          ++count;
                          return Status();
                        });
  Require(status.ok() ? count == meta->definitions : status.code() == StatusCode::kCorruption);
}

std::string Reseal(std::string file) {
  if (file.size() < kCatalogueHeaderBytes) {
    return file;
  }
  const std::string_view bytes(file);
  const auto number = LoadFixed<std::uint64_t>(file.data() + 32);
  StoreFixed(file.data() + kCatalogueHeaderChecksumOffset,
             Checksum32(bytes.substr(0, kCatalogueHeaderChecksumOffset), PlaceSeed(number, 0)));
  std::size_t offset = kCatalogueHeaderBytes;
  while (file.size() - offset >= kCatalogueBlockHeaderBytes) {
    const CatalogueBlockHeader header = DecodeCatalogueBlockHeader(bytes.substr(offset));
    const std::size_t block_bytes = kCatalogueBlockHeaderBytes + std::size_t{header.compressed_bytes};
    if (block_bytes > file.size() - offset) {
      break;
    }
    StoreFixed(file.data() + offset, Checksum32(bytes.substr(offset + 4, block_bytes - 4), PlaceSeed(number, offset)));
    offset += block_bytes;
  }
  return file;
}

/// A file of one block. The first byte says how many definitions it claims to hold.
std::string FileOfOneBlock(std::string_view raw) {
  CatalogueHeader header;
  header.number = kNumber;
  header.definitions = 1 + (raw.empty() ? 0u : static_cast<unsigned char>(raw[0]) % 8);
  header.last_commit = {1000};
  raw.remove_prefix(std::min<std::size_t>(1, raw.size()));
  std::string compressed(ZSTD_compressBound(raw.size()), '\0');
  compressed.resize(ZSTD_compress(compressed.data(), compressed.size(), raw.data(), raw.size(), 1));
  std::string file = EncodeCatalogueHeader(header);
  PutFixed32(&file, 0);
  PutFixed32(&file, static_cast<std::uint32_t>(compressed.size()));
  PutFixed32(&file, static_cast<std::uint32_t>(raw.size()));
  PutFixed32(&file, static_cast<std::uint32_t>(header.definitions));
  return Reseal(file + compressed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file(reinterpret_cast<const char*>(data), size);
  CheckFile(file);
  CheckFile(Reseal(file));
  CheckFile(FileOfOneBlock(file));
  return 0;
}
