#include "chunk/catalogue_format.h"

#include <fmt/format.h>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/safeguard.h"
#include "chunk/place_seed.h"

namespace tsdb::chunk {

std::string EncodeCatalogueHeader(const CatalogueHeader& header) {
  std::string out(kCatalogueMagic);
  PutFixed32(&out, kCatalogueVersion);
  PutFixed32(&out, 0);
  PutFixed64(&out, header.store_high);
  PutFixed64(&out, header.store_low);
  PutFixed64(&out, header.number);
  PutFixed64(&out, header.first_commit.value);
  PutFixed64(&out, header.last_commit.value);
  PutFixed64(&out, header.definitions);
  PutFixed32(&out, 0);
  PutFixed32(&out, Checksum32(out, PlaceSeed(header.number, 0)));
  return out;
}

Result<CatalogueHeader> ReadCatalogueHeader(const RandomReadFile& file) {
  char bytes[kCatalogueHeaderBytes];
  TSDB_ASSIGN_OR_RETURN(const std::size_t got, file.ReadAt(0, sizeof bytes, bytes));
  const auto corruption = [&](std::string_view what) {
    return Status::Corruption(fmt::format("{}{}", file.path(), what));
  };
  const std::string_view data(bytes, got);
  ByteReader reader(data);
  CatalogueHeader header;
  std::string_view magic;
  std::uint32_t version = 0;
  std::uint32_t reserved[2] = {};
  std::uint32_t checksum = 0;
  reader.ReadBytes(kCatalogueMagic.size(), &magic);
  reader.ReadFixed(&version);
  reader.ReadFixed(&reserved[0]);
  reader.ReadFixed(&header.store_high);
  reader.ReadFixed(&header.store_low);
  reader.ReadFixed(&header.number);
  reader.ReadFixed(&header.first_commit.value);
  reader.ReadFixed(&header.last_commit.value);
  reader.ReadFixed(&header.definitions);
  reader.ReadFixed(&reserved[1]);
  if (!reader.ReadFixed(&checksum)) {
    return corruption("@0: the file is too short for a header");
  }
  if (magic != kCatalogueMagic) {
    return corruption("@0: not a catalogue file (wrong magic)");
  }
  if (TSDB_MISMATCH("catalogue/header", checksum != Checksum32(data.substr(0, kCatalogueHeaderChecksumOffset),
                                                               PlaceSeed(header.number, 0)))) {
    return corruption("@0: header checksum mismatch");
  }
  if (version != kCatalogueVersion) {
    return Status::NotSupported(
        fmt::format("{}@8: format version {}; this program reads version {}: use a newer one", file.path(), version,
                    kCatalogueVersion));
  }
  if (reserved[0] != 0 || reserved[1] != 0) {
    return corruption("@0: reserved bytes of the header are not zero");
  }
  if (header.first_commit > header.last_commit) {
    return corruption("@40: first commit lies after the last");
  }
  return header;
}

CatalogueBlockHeader DecodeCatalogueBlockHeader(std::string_view data) {
  CatalogueBlockHeader header;
  header.checksum = LoadFixed<std::uint32_t>(data.data());
  header.compressed_bytes = LoadFixed<std::uint32_t>(data.data() + 4);
  header.raw_bytes = LoadFixed<std::uint32_t>(data.data() + 8);
  header.definitions = LoadFixed<std::uint32_t>(data.data() + 12);
  return header;
}

}  // namespace tsdb::chunk
