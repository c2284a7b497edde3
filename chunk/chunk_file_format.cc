#include "chunk/chunk_file_format.h"

#include <fmt/format.h>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/safeguard.h"
#include "chunk/place_seed.h"

namespace tsdb::chunk {

namespace {

Status OtherVersion(std::uint64_t offset, std::uint32_t version) {
  return Status::NotSupported(fmt::format("@{}: format version {}; this program reads version {}: {}", offset, version,
                                          kChunkFileVersion,
                                          version > kChunkFileVersion
                                              ? "use a newer one"
                                              : "export the samples with the program that wrote it"));
}

}  // namespace

std::string EncodeChunkFileHeader(const ChunkFileOptions& options) {
  std::string out(kChunkFileMagic);
  PutFixed32(&out, kChunkFileVersion);
  PutFixed32(&out, options.level);
  PutFixed64(&out, options.store_high);
  PutFixed64(&out, options.store_low);
  PutFixed64(&out, options.number);
  PutFixed64(&out, options.first_commit.value);
  PutFixed64(&out, options.last_commit.value);
  PutFixed32(&out, 0);
  PutFixed32(&out, Checksum32(out, PlaceSeed(options.number, 0)));
  return out;
}

Status DecodeChunkFileHeader(std::string_view data, ChunkFileOptions* options) {
  ByteReader reader(data.substr(0, kChunkFileHeaderBytes));
  std::string_view magic;
  std::uint32_t version = 0;
  std::uint32_t reserved = 0;
  std::uint32_t checksum = 0;
  reader.ReadBytes(kChunkFileMagic.size(), &magic);
  reader.ReadFixed(&version);
  reader.ReadFixed(&options->level);
  reader.ReadFixed(&options->store_high);
  reader.ReadFixed(&options->store_low);
  reader.ReadFixed(&options->number);
  reader.ReadFixed(&options->first_commit.value);
  reader.ReadFixed(&options->last_commit.value);
  reader.ReadFixed(&reserved);
  if (!reader.ReadFixed(&checksum)) {
    return Status::Corruption("@0: the file is too short for a header");
  }
  if (magic != kChunkFileMagic) {
    return Status::Corruption("@0: not a chunk file (wrong magic)");
  }
  if (TSDB_MISMATCH("chunk-file/header", checksum != Checksum32(data.substr(0, kChunkFileHeaderChecksumOffset),
                                                                PlaceSeed(options->number, 0)))) {
    return Status::Corruption("@0: header checksum mismatch");
  }
  if (version != kChunkFileVersion) {
    return OtherVersion(8, version);
  }
  if (reserved != 0) {
    return Status::Corruption("@56: reserved bytes are not zero");
  }
  if (options->first_commit > options->last_commit) {
    return Status::Corruption("@40: first commit lies after the last");
  }
  return {};
}

std::string EncodeChunkFileFooter(const ChunkFileFooter& footer, std::uint64_t file_number) {
  std::string out;
  PutFixed64(&out, footer.directory_offset);
  PutFixed64(&out, footer.index_offset);
  PutFixed64(&out, footer.index_checksum);
  PutFixed64(&out, footer.chunks);
  PutFixed64(&out, footer.series);
  PutFixed64(&out, footer.samples);
  PutFixed64(&out, footer.blocks);
  PutFixed64(&out, static_cast<std::uint64_t>(footer.first_time));
  PutFixed64(&out, static_cast<std::uint64_t>(footer.last_time));
  PutFixed64(&out, footer.file_bytes);
  PutFixed32(&out, kChunkFileVersion);
  PutFixed32(&out, Checksum32(out, PlaceSeed(file_number, footer.file_bytes - kChunkFileFooterBytes)));
  out.append(kChunkFileFooterMagic);
  return out;
}

Status DecodeChunkFileFooter(std::string_view data, std::uint64_t file_number, std::uint64_t file_bytes,
                             ChunkFileFooter* footer) {
  const std::uint64_t footer_offset = file_bytes - kChunkFileFooterBytes;
  ByteReader reader(data.substr(0, kChunkFileFooterBytes));
  std::uint32_t version = 0;
  std::uint32_t checksum = 0;
  std::string_view magic;
  reader.ReadFixed(&footer->directory_offset);
  reader.ReadFixed(&footer->index_offset);
  reader.ReadFixed(&footer->index_checksum);
  reader.ReadFixed(&footer->chunks);
  reader.ReadFixed(&footer->series);
  reader.ReadFixed(&footer->samples);
  reader.ReadFixed(&footer->blocks);
  reader.ReadFixed(&footer->first_time);
  reader.ReadFixed(&footer->last_time);
  reader.ReadFixed(&footer->file_bytes);
  reader.ReadFixed(&version);
  reader.ReadFixed(&checksum);
  if (!reader.ReadBytes(kChunkFileFooterMagic.size(), &magic) || magic != kChunkFileFooterMagic) {
    return Status::Corruption(fmt::format("@{}: no footer at the end of the file (cut short?)", footer_offset));
  }
  if (TSDB_MISMATCH("chunk-file/footer", checksum != Checksum32(data.substr(0, kChunkFileFooterChecksumOffset),
                                                                PlaceSeed(file_number, footer_offset)))) {
    return Status::Corruption(fmt::format("@{}: footer checksum mismatch", footer_offset));
  }
  if (version != kChunkFileVersion) {
    return OtherVersion(footer_offset, version);
  }
  if (footer->file_bytes != file_bytes || footer->directory_offset < kChunkFileHeaderBytes ||
      footer->directory_offset > footer->index_offset || footer->index_offset > footer_offset) {
    return Status::Corruption(
        fmt::format("@{}: the footer does not fit a file of {} bytes", footer_offset, file_bytes));
  }
  return {};
}

}  // namespace tsdb::chunk
