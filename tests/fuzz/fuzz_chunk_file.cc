// ChunkFileReader over any bytes: as they are, and with the checksums of header, directory and footer put right, so
// that what lies behind them is reached too. What opens must verify without a crash, and read back in bounds.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/memory_file_system.h"
#include "chunk/chunk_directory.h"
#include "chunk/chunk_file.h"
#include "chunk/chunk_file_format.h"
#include "chunk/file_dump.h"
#include "chunk/place_seed.h"

namespace {

using namespace tsdb;
using namespace tsdb::chunk;

void Require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void CheckFile(std::string file) {
  MemoryFileSystem fs;
  fs.WriteWhole("f", std::move(file));
  auto reader = ChunkFileReader::Open(fs, "f");
  if (!reader.ok()) {
    Require(reader.status().code() == StatusCode::kCorruption || reader.status().code() == StatusCode::kNotSupported);
    return;
  }
  Columns columns;
  for (const ChunkEntry& entry : (*reader)->entries()) {
    const Status status = (*reader)->Read(entry, &columns);
    if (status.ok()) {
      Require(columns.times.size() == entry.statistics.count && columns.values.size() == entry.statistics.count);
      Require(columns.times.front() == entry.first_time && columns.times.back() == entry.last_time);
      Require(std::ranges::adjacent_find(columns.times, std::greater_equal<>()) == columns.times.end());
    }
    const auto found = (*reader)->Find(entry.id);
    Require(!found.empty() && found.front().id == entry.id && found.back().id == entry.id);
  }
  std::vector<std::string> damage;
  Require((*reader)->Verify(&damage).ok());
  static_cast<void>(DumpChunkFileTo(fs, "f", [](std::string_view) {}));
}

/// Puts right the checksums and the sizes that follow from the file's size.
std::string Reseal(std::string file) {
  if (file.size() < kChunkFileHeaderBytes + kChunkFileFooterBytes) {
    return file;
  }
  const auto number = LoadFixed<std::uint64_t>(file.data() + 32);
  const std::string_view bytes(file);
  StoreFixed(file.data() + kChunkFileHeaderChecksumOffset,
             Checksum32(bytes.substr(0, kChunkFileHeaderChecksumOffset), PlaceSeed(number, 0)));
  const std::uint64_t footer_offset = file.size() - kChunkFileFooterBytes;
  char* const footer = file.data() + footer_offset;
  const std::uint64_t directory_offset =
      std::clamp<std::uint64_t>(LoadFixed<std::uint64_t>(footer), kChunkFileHeaderBytes, footer_offset);
  StoreFixed(footer, directory_offset);
  StoreFixed(footer + 8, footer_offset - directory_offset);
  StoreFixed(footer + 16, Checksum64(bytes.substr(directory_offset, footer_offset - directory_offset),
                                     PlaceSeed(number, directory_offset)));
  StoreFixed(footer + 72, std::uint64_t{file.size()});
  StoreFixed(footer + kChunkFileFooterChecksumOffset,
             Checksum32(bytes.substr(footer_offset, kChunkFileFooterChecksumOffset), PlaceSeed(number, footer_offset)));
  return file;
}

/// The columns without their checksums.
void CheckColumns(std::string_view file) {
  if (file.size() < kChunkFileHeaderBytes + kChunkFileFooterBytes) {
    return;
  }
  ChunkFileFooter footer;
  const std::uint64_t number = LoadFixed<std::uint64_t>(file.data() + 32);
  if (!DecodeChunkFileFooter(file.substr(file.size() - kChunkFileFooterBytes), number, file.size(), &footer).ok()) {
    return;
  }
  std::vector<ChunkEntry> entries;
  const std::string_view directory = file.substr(footer.directory_offset, footer.directory_bytes);
  static_cast<void>(DecodeDirectory(directory, footer, &entries));  // the rows before a damaged one are there too
  std::vector<Timestamp> times(kChunkSamplesMax);
  std::vector<double> values(kChunkSamplesMax);
  for (const ChunkEntry& entry : entries) {
    const std::string time_bytes(file.substr(entry.time_offset, entry.time_bytes));
    const std::string value_bytes(file.substr(entry.value_offset, entry.value_bytes));
    static_cast<void>(DecodeTimeColumn(entry, time_bytes, times.data()));
    static_cast<void>(DecodeValueColumn(entry, value_bytes, values.data()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file(reinterpret_cast<const char*>(data), size);
  const std::string resealed = Reseal(file);
  CheckFile(file);
  CheckFile(resealed);
  CheckColumns(resealed);
  return 0;
}
