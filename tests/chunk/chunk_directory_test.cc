#include "chunk/chunk_directory.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

namespace tsdb::chunk {
namespace {

/// An entry as a chunk of 1024 jittery times and decimal values gives.
ChunkEntry MakeEntry(std::uint64_t id) {
  std::mt19937_64 random(id);
  std::vector<double> values(1024);
  for (double& value : values) {
    value = static_cast<double>(random() % 10000) / 100;
  }
  ChunkEntry entry;
  entry.id = {id};
  entry.statistics = ComputeStatistics(values);
  entry.first_time = 1'700'000'000'000 + static_cast<Timestamp>(random() % 60'000);
  entry.last_time = entry.first_time + 1'023'000 + static_cast<Timestamp>(random() % 1000);
  entry.time_encoding = 2;
  entry.value_encoding = 2;
  entry.time_bytes = 900;
  entry.value_bytes = 1700;
  entry.time_checksum = static_cast<std::uint32_t>(random());
  entry.value_checksum = static_cast<std::uint32_t>(random());
  return entry;
}

constexpr std::uint64_t kChunks = 1000;

TEST(ChunkDirectory, StaysWithin24BytesAChunkBesideStatisticsAnd3PercentOfAByteASampleForThose) {
  DirectoryEncoder own_times;
  DirectoryEncoder shared_times;
  std::size_t statistics_bytes = 0;
  for (std::uint64_t id = 1; id <= kChunks; ++id) {
    own_times.Add(MakeEntry(id), std::nullopt);
    shared_times.Add(MakeEntry(id), id == 1 ? std::nullopt : std::optional<std::uint64_t>(0));
    statistics_bytes += 1 + 4 * 3;  // at most: a byte and four numbers below 2^20
  }
  EXPECT_LE(own_times.bytes().size(), kChunks * 24 + statistics_bytes);
  EXPECT_LE(shared_times.bytes().size(), kChunks * 10 + statistics_bytes);
  EXPECT_LE(statistics_bytes, kChunks * 1024 * 3 / 100);
}

TEST(ChunkDirectory, RowsReadBackWithTheirPlaces) {
  DirectoryEncoder encoder;
  ChunkFileFooter footer;
  std::vector<ChunkEntry> written;
  std::uint64_t position = kChunkFileHeaderBytes;
  footer.first_time = kTimestampMax;
  footer.last_time = kTimestampMin;
  for (std::uint64_t id = 1; id <= kChunks; ++id) {
    ChunkEntry entry = MakeEntry(id);
    entry.time_encoding = static_cast<std::uint8_t>(1 + id % 40);  // also ones that need a byte of their own
    entry.value_encoding = static_cast<std::uint8_t>(1 + id % 50);
    entry.time_offset = position;
    entry.value_offset = position += entry.time_bytes;
    position += entry.value_bytes;
    encoder.Add(entry, std::nullopt);
    footer.samples += entry.statistics.count;
    footer.first_time = std::min(footer.first_time, entry.first_time);
    footer.last_time = std::max(footer.last_time, entry.last_time);
    written.push_back(entry);
  }
  footer.directory_offset = position;
  footer.directory_bytes = encoder.bytes().size();
  footer.chunks = footer.series = footer.time_columns = kChunks;
  std::vector<ChunkEntry> entries;
  const Status status = DecodeDirectory(encoder.bytes(), footer, &entries);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(entries.size(), written.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].id, written[i].id);
    EXPECT_EQ(entries[i].first_time, written[i].first_time);
    EXPECT_EQ(entries[i].last_time, written[i].last_time);
    EXPECT_EQ(entries[i].time_offset, written[i].time_offset);
    EXPECT_EQ(entries[i].value_offset, written[i].value_offset);
    EXPECT_EQ(entries[i].time_encoding, written[i].time_encoding);
    EXPECT_EQ(entries[i].value_encoding, written[i].value_encoding);
    EXPECT_EQ(entries[i].time_checksum, written[i].time_checksum);
    EXPECT_EQ(entries[i].value_checksum, written[i].value_checksum);
    EXPECT_EQ(entries[i].statistics.max, written[i].statistics.max);
  }
}

TEST(ChunkDirectory, CountsThatDoNotFitTheBytesAllocateNothing) {
  ChunkFileFooter footer;
  footer.directory_offset = kChunkFileHeaderBytes;
  footer.chunks = UINT64_MAX;
  std::vector<ChunkEntry> entries;
  EXPECT_EQ(DecodeDirectory("short", footer, &entries).code(), StatusCode::kCorruption);
  EXPECT_EQ(entries.capacity(), 0u);
}

TEST(ChunkDirectory, TimesAtEvenStepsAreToldApart) {
  EXPECT_TRUE(TimesAreEven(std::vector<Timestamp>{5}));
  EXPECT_TRUE(TimesAreEven(std::vector<Timestamp>{5, 900}));
  EXPECT_TRUE(TimesAreEven(std::vector<Timestamp>{kTimestampMin, 0, kTimestampMax}));
  EXPECT_FALSE(TimesAreEven(std::vector<Timestamp>{0, 10, 20, 31}));
}

}  // namespace
}  // namespace tsdb::chunk
