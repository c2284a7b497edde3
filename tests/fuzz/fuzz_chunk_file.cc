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
#include "chunk/chunk_columns.h"
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

/// Rows that were read, those before a damaged one included.
void CheckRows(const ChunkFileReader& reader, const ChunkRows& rows) {
  Columns columns;
  ColumnBuffer pages;
  ChunkRows found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ChunkEntry& entry = rows.entries[i];
    static_cast<void>(rows.Statistics(i));
    if (reader.Read(entry, &columns).ok()) {
      Require(columns.times.size() == entry.count && columns.values.size() == entry.count);
      Require(columns.times.front() == entry.first_time && columns.times.back() == entry.last_time);
      Require(std::ranges::adjacent_find(columns.times, std::greater_equal<>()) == columns.times.end());
    }
    pages.Clear();
    static_cast<void>(reader.ReadPages(rows, i, i + 1, {entry.first_time + 1, entry.last_time}, &pages));
    Require(pages.size() <= entry.count);
    if (reader.Find(entry.id, {entry.last_time, entry.last_time}, &found).ok()) {
      Require(found.empty() || found.entries.front().id == entry.id);
    }
  }
  pages.Clear();
  static_cast<void>(reader.ReadPages(rows, 0, rows.size(), {}, &pages));
}

void CheckFile(std::string file) {
  MemoryFileSystem fs;
  fs.WriteWhole("f", std::move(file));
  auto reader = ChunkFileReader::Open(fs, "f");
  if (!reader.ok()) {
    Require(reader.status().code() == StatusCode::kCorruption || reader.status().code() == StatusCode::kNotSupported);
    return;
  }
  ChunkRows rows;
  for (std::size_t block = 0; block < (*reader)->blocks(); ++block) {
    static_cast<void>((*reader)->ReadBlock(block, &rows));
    CheckRows(**reader, rows);
  }
  std::vector<std::string> damage;
  Require((*reader)->Verify(&damage).ok());
  static_cast<void>(DumpChunkFileTo(fs, "f", [](std::string_view) {}));
}

/// The checksums of the directory's blocks put right, as far as the index can be read.
void ResealIndex(std::string* file, const ChunkFileFooter& footer, std::uint64_t number) {
  const std::uint64_t footer_offset = file->size() - kChunkFileFooterBytes;
  std::vector<DirectoryBlock> blocks;
  ChunkFileTotals totals;
  const std::string index = file->substr(footer.index_offset, footer_offset - footer.index_offset);
  static_cast<void>(DecodeDirectoryIndex(index, footer, &blocks, &totals));
  for (const DirectoryBlock& block : blocks) {
    const std::uint32_t checksum =
        Checksum32(std::string_view(*file).substr(block.offset, block.bytes), PlaceSeed(number, block.offset));
    // The entry is found again by the checksum it has.
    const std::string was(reinterpret_cast<const char*>(&block.checksum), sizeof(block.checksum));
    const std::size_t at = file->find(was, footer.index_offset);
    if (at != std::string::npos && at + sizeof checksum <= footer_offset) {
      StoreFixed(file->data() + at, checksum);
    }
  }
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
  ChunkFileFooter places;
  places.directory_offset =
      std::clamp<std::uint64_t>(LoadFixed<std::uint64_t>(footer), kChunkFileHeaderBytes, footer_offset);
  places.index_offset =
      std::clamp<std::uint64_t>(LoadFixed<std::uint64_t>(footer + 8), places.directory_offset, footer_offset);
  places.chunks = LoadFixed<std::uint64_t>(footer + 24);
  places.blocks = LoadFixed<std::uint64_t>(footer + 48);
  ResealIndex(&file, places, number);
  StoreFixed(footer, places.directory_offset);
  StoreFixed(footer + 8, places.index_offset);
  StoreFixed(footer + 16, Checksum64(bytes.substr(places.index_offset, footer_offset - places.index_offset),
                                     PlaceSeed(number, places.index_offset)));
  StoreFixed(footer + 72, std::uint64_t{file.size()});
  StoreFixed(footer + kChunkFileFooterChecksumOffset,
             Checksum32(bytes.substr(footer_offset, kChunkFileFooterChecksumOffset), PlaceSeed(number, footer_offset)));
  return file;
}

/// The columns without their checksums.
void CheckColumns(const std::string& file) {
  MemoryFileSystem fs;
  fs.WriteWhole("f", file);
  const auto reader = ChunkFileReader::Open(fs, "f");
  if (!reader.ok()) {
    return;
  }
  std::vector<Timestamp> times(kChunkSamplesMax);
  std::vector<double> values(kChunkSamplesMax);
  ChunkRows rows;
  for (std::size_t block = 0; block < (*reader)->blocks(); ++block) {
    static_cast<void>((*reader)->ReadBlock(block, &rows));
    for (const ChunkEntry& entry : rows.entries) {
      const std::string time_bytes = file.substr(entry.time_offset, entry.time_bytes);
      const std::string value_bytes = file.substr(entry.value_offset, entry.value_bytes);
      const std::size_t last_page = PageCount(entry.count) - 1;
      static_cast<void>(DecodeTimeColumn(entry, time_bytes, times.data()));
      static_cast<void>(DecodeValueColumn(entry, value_bytes, values.data()));
      static_cast<void>(DecodeTimeColumn(entry, time_bytes, {last_page, 1}, times.data()));
      static_cast<void>(DecodeValueColumn(entry, value_bytes, {last_page, 1}, values.data()));
    }
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
