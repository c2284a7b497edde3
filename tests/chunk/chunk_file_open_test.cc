// What opening a large chunk file, and looking up one of its series, reads: how long that takes is codec_bench's
// business.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "chunk/chunk_file.h"
#include "tests/chunk/counting_file_system.h"

namespace tsdb::chunk {
namespace {

TEST(ChunkFileOpen, ReadsOnlyHeaderFooterAndIndexOfAMillionChunks) {
  constexpr std::uint64_t kChunks = 1'000'000;
  constexpr std::uint64_t kChunksPerSeries = 10;
  CountingFileSystem fs;
  ChunkFileOptions options;
  options.number = 1;
  auto writer = ChunkFileWriter::Create(fs, "f", options);
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  for (std::uint64_t i = 0; i < kChunks; ++i) {
    const auto first = static_cast<Timestamp>(1'700'000'000'000 + 120'000 * (i % kChunksPerSeries));
    const std::vector<Timestamp> times = {first, first + 10'000, first + 20'000 + static_cast<Timestamp>(i % 7)};
    const std::vector<double> values = {static_cast<double>(i % 1000) / 10, 5, 6};
    ASSERT_TRUE((*writer)->Add({1 + i / kChunksPerSeries}, {times, values}).ok());
  }
  ASSERT_TRUE((*writer)->Finish().ok());
  const std::uint64_t file_bytes = *fs.FileSize("f");
  ASSERT_GT(file_bytes, 10u << 20);

  fs.TakeCount();
  auto reader = ChunkFileReader::Open(fs, "f");
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  ASSERT_EQ((*reader)->meta().chunks, kChunks);
  const CountingFileSystem::Count opened = fs.TakeCount();
  EXPECT_LE(opened.reads, 4u);
  EXPECT_LE(opened.bytes, kChunks / 4);  // 20 bytes and some for each block of up to 128 chunks
  EXPECT_LE((*reader)->memory_bytes(), kChunks);

  // A series lies in one block of the directory, or in two.
  ChunkRows rows;
  ASSERT_TRUE((*reader)->Find({77'777}, {}, &rows).ok());
  EXPECT_EQ(rows.size(), kChunksPerSeries);
  const CountingFileSystem::Count found = fs.TakeCount();
  EXPECT_LE(found.reads, 2u);
  EXPECT_LE(found.bytes, 16u << 10);
}

}  // namespace
}  // namespace tsdb::chunk
