// Looking up chunks and reading parts of them: ranges, pages, damaged blocks of the directory, large files.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "chunk/chunk_file.h"

namespace tsdb::chunk {
namespace {

const ChunkFileOptions kOptions = {
    .store_high = 11, .store_low = 22, .number = 7, .first_commit = {100}, .last_commit = {200}};

/// Times some steps apart: even for step kind 0, uneven otherwise.
Columns MakeColumns(std::mt19937_64& random, Timestamp* time, std::size_t count) {
  Columns columns;
  const bool even = random() % 3 == 0;
  const bool constant = random() % 5 == 0;
  for (std::size_t i = 0; i < count; ++i) {
    *time += even ? 10 : 1 + static_cast<Timestamp>(random() % 20);
    columns.Append(*time, constant ? 2.5 : static_cast<double>(random() % 100'000) / 100);
  }
  return columns;
}

struct TestFile {
  MemoryFileSystem fs;
  std::vector<std::pair<SeriesId, Columns>> chunks;
  std::unique_ptr<ChunkFileReader> reader;

  void Write() {
    auto writer = ChunkFileWriter::Create(fs, "f", kOptions);
    ASSERT_TRUE(writer.ok());
    for (const auto& [id, columns] : chunks) {
      ASSERT_TRUE((*writer)->Add(id, {columns.times, columns.values}).ok());
    }
    ASSERT_TRUE((*writer)->Finish().ok());
    Open();
  }
  void Open() {
    auto opened = ChunkFileReader::Open(fs, "f");
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    reader = std::move(*opened);
  }
};

void FillRandom(std::mt19937_64& random, TestFile* file) {
  std::uint64_t id = 0;
  for (int series = 0; series < 12; ++series) {
    id += 1 + random() % 3;
    Timestamp time = static_cast<Timestamp>(random() % 1000);
    for (std::uint64_t n = 1 + random() % 6; n > 0; --n) {
      const std::size_t sizes[] = {1, 700, 1024, 1025, 2500, 8192};
      file->chunks.emplace_back(SeriesId{id}, MakeColumns(random, &time, sizes[random() % 6]));
      // A neighbour with the same times: they are stored once.
      if (random() % 4 == 0) {
        file->chunks.emplace_back(SeriesId{id += 1}, file->chunks.back().second);
        break;
      }
    }
  }
}

Columns Expected(const TestFile& file, SeriesId id, TimeRange range) {
  Columns expected;
  for (const auto& [chunk_id, columns] : file.chunks) {
    for (std::size_t i = 0; chunk_id == id && i < columns.size(); ++i) {
      if (columns.times[i] >= range.from && columns.times[i] <= range.to) {
        expected.Append(columns.times[i], columns.values[i]);
      }
    }
  }
  return expected;
}

TEST(ChunkFileRead, GivesTheSamplesOfARangeFromThePagesThatOverlapItAndNoOthers) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    TestFile file;
    FillRandom(random, &file);
    file.Write();
    ChunkRows rows;
    ColumnBuffer buffer;
    for (int i = 0; i < 300; ++i) {
      const auto& [id, columns] = file.chunks[random() % file.chunks.size()];
      TimeRange range{columns.times[random() % columns.size()] - static_cast<Timestamp>(random() % 30), 0};
      range.to = range.from + static_cast<Timestamp>(random() % (1ull << (random() % 20)));
      ASSERT_TRUE(file.reader->Find(id, range, &rows).ok());
      buffer.Clear();
      ASSERT_TRUE(file.reader->ReadPages(rows, 0, rows.size(), range, &buffer).ok());
      const ColumnsView got = Slice(buffer.view(), range);
      const Columns expected = Expected(file, id, range);
      ASSERT_TRUE(std::ranges::equal(got.times, expected.times)) << range.from << ".." << range.to;
      ASSERT_TRUE(std::ranges::equal(got.values, expected.values)) << range.from << ".." << range.to;
      EXPECT_LE(buffer.size(), expected.size() + 2 * kPageSamples);
    }
  }
}

TEST(ChunkFileRead, TheValuesOfEvenTimesComeWithTheTimeOfTheFirst) {
  std::mt19937_64 random(17);
  TestFile file;
  Timestamp time = 990;
  for (const std::size_t count : {3000, 1024, 2, 8192, 700}) {
    Columns columns;
    for (std::size_t i = 0; i < count; ++i) {
      columns.Append(time += 10, static_cast<double>(random() % 1000));
    }
    file.chunks.emplace_back(SeriesId{5}, columns);
  }
  file.Write();
  ChunkRows rows;
  ColumnBuffer buffer;
  for (int i = 0; i < 500; ++i) {
    const auto from = static_cast<Timestamp>(random() % 131'000);
    const TimeRange range = {from, from + static_cast<Timestamp>(random() % 60'000)};
    const Columns expected = Expected(file, SeriesId{5}, range);
    if (expected.empty()) {
      continue;
    }
    ASSERT_TRUE(file.reader->Find(SeriesId{5}, range, &rows).ok());
    buffer.Clear();
    const auto first = file.reader->ReadValues(rows, 0, rows.size(), range, &buffer);
    ASSERT_TRUE(first.ok());
    ASSERT_LE(*first, expected.times.front());
    const auto skipped = static_cast<std::size_t>(expected.times.front() - *first) / 10;
    ASSERT_LE(skipped + expected.size(), buffer.size());
    EXPECT_LE(buffer.size(), expected.size() + 2 * kPageSamples);
    ASSERT_TRUE(std::ranges::equal(buffer.view().values.subspan(skipped, expected.size()), expected.values));
  }
}

TEST(ChunkFileRead, ADamagedBlockOfTheDirectoryLosesOnlyItsOwnRows) {
  TestFile file;
  std::mt19937_64 random(3);
  for (std::uint64_t id = 1; id <= 1000; ++id) {
    Timestamp time = 5;
    file.chunks.emplace_back(SeriesId{id}, MakeColumns(random, &time, 2));
  }
  file.Write();
  ASSERT_GE(file.reader->blocks(), 5u);
  ChunkRows lost;
  ASSERT_TRUE(file.reader->ReadBlock(2, &lost).ok());
  const std::string bytes = *file.fs.ReadWhole("f");
  std::size_t damaged = 0;
  for (std::size_t offset = 1; offset < bytes.size() && damaged == 0; offset += 97) {
    std::string copy = bytes;
    copy[offset] = static_cast<char>(copy[offset] ^ 1);
    file.fs.WriteWhole("f", copy);
    auto reader = ChunkFileReader::Open(file.fs, "f");
    ChunkRows rows;
    if (reader.ok() && !(*reader)->ReadBlock(2, &rows).ok()) {
      damaged = offset;
    }
  }
  ASSERT_NE(damaged, 0u);
  file.Open();
  ChunkRows rows;
  for (const auto& [id, columns] : file.chunks) {
    const bool mine = id >= lost.entries.front().id && id <= lost.entries.back().id;
    const Status status = file.reader->Find(id, {}, &rows);
    if (mine) {
      EXPECT_EQ(status.code(), StatusCode::kCorruption) << id.value;
      EXPECT_NE(status.message().find("f@"), std::string::npos) << status.ToString();
    } else {
      ASSERT_TRUE(status.ok()) << id.value << status.ToString();
      ASSERT_EQ(rows.size(), 1u);
      Columns read;
      EXPECT_TRUE(file.reader->Read(rows.entries[0], &read).ok());
    }
  }
  std::vector<std::string> damage;
  ASSERT_TRUE(file.reader->Verify(&damage).ok());
  EXPECT_EQ(damage.size(), 1u);
}

}  // namespace
}  // namespace tsdb::chunk
