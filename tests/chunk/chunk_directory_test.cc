#include "chunk/chunk_directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "chunk/chunk_columns.h"

namespace tsdb::chunk {
namespace {

/// An entry as a chunk of jittery times and decimal values gives.
ChunkEntry MakeEntry(std::uint64_t id, std::uint32_t count = 1024) {
  std::mt19937_64 random(id);
  ChunkEntry entry;
  entry.id = {id};
  entry.first_time = 1'700'000'000'000 + static_cast<Timestamp>(random() % 60'000);
  entry.last_time = entry.first_time + (count - 1) * 1000 + static_cast<Timestamp>(random() % 1000);
  entry.count = count;
  entry.time_encoding = 2;
  entry.value_encoding = 2;
  entry.time_bytes = 900;
  entry.value_bytes = 1700;
  entry.time_checksum = static_cast<std::uint32_t>(random());
  entry.value_checksum = static_cast<std::uint32_t>(random());
  return entry;
}

/// A directory being written, with what is needed to read it back.
struct Directory {
  explicit Directory() : encoder(7) {}

  /// The chunk has its own times unless `ordinal` is that of an earlier one.
  void Add(ChunkEntry entry, std::uint64_t ordinal, const RowDetails& details = {}) {
    if (ordinal == encoder.time_columns()) {
      entry.time_offset = position;
      position += entry.time_bytes;
    }
    entry.value_offset = position;
    position += entry.value_bytes;
    encoder.Add(entry, ordinal, details, position);
    footer.chunks += 1;
    written.push_back(entry);
  }

  void Finish() {
    bytes = encoder.Finish(&footer);
    const std::string_view index = std::string_view(bytes).substr(footer.index_offset - footer.directory_offset);
    const Status status = DecodeDirectoryIndex(index, footer, &blocks, &totals);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  std::string_view BlockBytes(const DirectoryBlock& block) const {
    return std::string_view(bytes).substr(block.offset - footer.directory_offset, block.bytes);
  }

  DirectoryEncoder encoder;
  ChunkFileFooter footer;
  std::uint64_t position = kChunkFileHeaderBytes;
  std::vector<ChunkEntry> written;
  std::string bytes;
  std::vector<DirectoryBlock> blocks;
  ChunkFileTotals totals;
};

constexpr std::uint64_t kChunks = 1000;

TEST(ChunkDirectory, StaysWithin24BytesAChunkBesideStatistics) {
  Directory own_times;
  Directory shared_times;
  for (std::uint64_t id = 1; id <= kChunks; ++id) {
    own_times.Add(MakeEntry(id), id - 1);
    shared_times.Add(MakeEntry(1), 0);
    shared_times.written.back().id = {id};
  }
  own_times.Finish();
  EXPECT_LE(own_times.bytes.size(), kChunks * 24);
  EXPECT_LE(shared_times.bytes.size(), kChunks * 11);
}

TEST(ChunkDirectory, RowsReadBackWithTheirPlaces) {
  Directory directory;
  const std::string statistics = "what the values are like";
  const std::vector<Timestamp> page_times = {1'700'001'100'000, 1'700'002'200'000};
  for (std::uint64_t id = 1; id <= kChunks; ++id) {
    ChunkEntry entry = MakeEntry(id, id % 10 == 0 ? 2500 : 1024);
    entry.first_time = 1'700'000'000'000 + static_cast<Timestamp>(id);
    entry.time_encoding = static_cast<std::uint8_t>(1 + id % 40);  // also ones that need a byte of their own
    entry.value_encoding = static_cast<std::uint8_t>(1 + id % 50);
    RowDetails details;
    details.statistics = std::string_view(statistics).substr(0, id % statistics.size());
    if (entry.count > kPageSamples) {
      details.page_times = page_times;
    }
    directory.Add(entry, id - 1, details);
  }
  directory.Finish();
  EXPECT_GT(directory.blocks.size(), 4u);
  std::size_t row = 0;
  for (const DirectoryBlock& block : directory.blocks) {
    DirectoryRowReader reader(directory.BlockBytes(block), block);
    ChunkEntry entry;
    RowDetails details;
    while (reader.Next(&entry, &details)) {
      const ChunkEntry& expected = directory.written[row++];
      EXPECT_EQ(entry.id, expected.id);
      EXPECT_EQ(entry.first_time, expected.first_time);
      EXPECT_EQ(entry.last_time, expected.last_time);
      EXPECT_EQ(entry.count, expected.count);
      EXPECT_EQ(entry.time_offset, expected.time_offset);
      EXPECT_EQ(entry.value_offset, expected.value_offset);
      EXPECT_EQ(entry.time_encoding, expected.time_encoding);
      EXPECT_EQ(entry.value_encoding, expected.value_encoding);
      EXPECT_EQ(entry.time_checksum, expected.time_checksum);
      EXPECT_EQ(entry.value_checksum, expected.value_checksum);
      EXPECT_EQ(details.statistics, std::string_view(statistics).substr(0, expected.id.value % statistics.size()));
      EXPECT_EQ(details.page_times.size(), expected.count > kPageSamples ? 2u : 0u);
      EXPECT_TRUE(details.page_times.empty() || std::ranges::equal(details.page_times, page_times));
    }
    EXPECT_EQ(reader.problem(), nullptr) << reader.problem();
  }
  EXPECT_EQ(row, kChunks);
}

TEST(ChunkDirectory, CountsColumnsAndBytesPerEncoding) {
  Directory directory;
  for (std::uint64_t id = 1; id <= 6; ++id) {
    ChunkEntry entry = MakeEntry(1);
    entry.id = {id};
    entry.value_encoding = id <= 2 ? 0 : 3;
    entry.value_bytes = id <= 2 ? 0 : 100;
    directory.Add(entry, 0);
  }
  directory.Finish();
  EXPECT_EQ(directory.totals.times, (std::vector<EncodingTotals>{{2, 1, 1024, 900}}));
  EXPECT_EQ(directory.totals.values, (std::vector<EncodingTotals>{{0, 2, 2048, 0}, {3, 4, 4096, 400}}));
  EXPECT_EQ(directory.totals.directory_bytes, directory.bytes.size());
}

TEST(ChunkDirectory, AnIndexThatDoesNotFitItsBytesAllocatesNothing) {
  ChunkFileFooter footer;
  footer.directory_offset = kChunkFileHeaderBytes;
  footer.blocks = UINT64_MAX;
  std::vector<DirectoryBlock> blocks;
  ChunkFileTotals totals;
  EXPECT_EQ(DecodeDirectoryIndex("short", footer, &blocks, &totals).code(), StatusCode::kCorruption);
  EXPECT_EQ(blocks.capacity(), 0u);
}

TEST(ChunkDirectory, BlocksOfForeignBytesAreRefusedOrReadInBounds) {
  Directory directory;
  for (std::uint64_t id = 1; id <= 50; ++id) {
    directory.Add(MakeEntry(id, id % 3 == 0 ? 1025 : 700), id - 1, {std::vector<Timestamp>{1'700'001'100'000}, "s"});
  }
  directory.Finish();
  const DirectoryBlock block = directory.blocks.front();
  const std::string good(directory.BlockBytes(block));
  std::mt19937_64 random(1);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    DirectoryRowReader reader(bytes, block);
    ChunkEntry entry;
    RowDetails details;
    while (reader.Next(&entry, &details)) {
      ASSERT_LE(entry.value_offset + entry.value_bytes, block.columns_end);
      ASSERT_LE(entry.time_offset + entry.time_bytes, block.columns_end);
      ASSERT_GE(entry.time_offset + 1, entry.time_bytes == 0 ? 1u : kChunkFileHeaderBytes + 1);
      ASSERT_TRUE(entry.count >= 1 && entry.count <= kChunkSamplesMax && entry.first_time <= entry.last_time);
    }
    refused += reader.problem() != nullptr ? 1 : 0;
  }
  EXPECT_GT(refused, 5'000);
}

TEST(ChunkDirectory, TimesAtEvenStepsAreToldApart) {
  EXPECT_TRUE(TimesAreEven(std::vector<Timestamp>{5}));
  EXPECT_TRUE(TimesAreEven(std::vector<Timestamp>{5, 900}));
  EXPECT_TRUE(TimesAreEven(std::vector<Timestamp>{kTimestampMin, 0, kTimestampMax}));
  EXPECT_FALSE(TimesAreEven(std::vector<Timestamp>{0, 10, 20, 31}));
}

TEST(ChunkDirectory, TheLineThroughEvenTimesIsTheTimesThemselves) {
  EXPECT_EQ(LineTime(100, 1000, 10, 3), 400);
  EXPECT_EQ(LineTime(kTimestampMin, kTimestampMax, 3, 1), 0);
  EXPECT_EQ(LineTime(kTimestampMin, kTimestampMax, 8192, 8191), kTimestampMax);
  EXPECT_EQ(LineTime(7, 7, 1, 0), 7);
}

}  // namespace
}  // namespace tsdb::chunk
