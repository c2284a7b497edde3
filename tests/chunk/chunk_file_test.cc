#include "chunk/chunk_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/memory_file_system.h"
#include "chunk/chunk_file_format.h"
#include "chunk/file_dump.h"
#include "chunk/place_seed.h"
#include "tests/chunk/damage.h"

namespace tsdb::chunk {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct TestChunk {
  SeriesId id;
  Columns columns;
};

const ChunkFileOptions kOptions = {
    .store_high = 11, .store_low = 22, .number = 7, .first_commit = {100}, .last_commit = {200}};

/// Times about a second apart, with noise: not even.
std::vector<Timestamp> NoisyTimes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Timestamp> times(count);
  Timestamp t = 1'700'000'000'000;
  for (Timestamp& time : times) {
    time = t += 990 + static_cast<Timestamp>(random() % 20);
  }
  return times;
}

std::vector<double> DecimalValues(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values(count);
  for (double& value : values) {
    value = static_cast<double>(random() % 10000) / 100;
  }
  return values;
}

Status Write(FileSystem& fs, const std::string& path, const std::vector<TestChunk>& chunks, ChunkFileMeta* meta,
             const ChunkFileOptions& options = kOptions) {
  TSDB_ASSIGN_OR_RETURN(auto writer, ChunkFileWriter::Create(fs, path, options));
  for (const TestChunk& chunk : chunks) {
    TSDB_RETURN_IF_ERROR(writer->Add(chunk.id, {chunk.columns.times, chunk.columns.values}));
  }
  TSDB_ASSIGN_OR_RETURN(*meta, writer->Finish());
  return {};
}

bool SameBits(const Columns& a, const Columns& b) {
  return a.times == b.times && a.values.size() == b.values.size() &&
         std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(double)) == 0;
}

/// All rows that can be read, block by block.
std::vector<ChunkEntry> AllEntries(const ChunkFileReader& reader) {
  std::vector<ChunkEntry> entries;
  ChunkRows rows;
  for (std::size_t block = 0; block < reader.blocks(); ++block) {
    if (reader.ReadBlock(block, &rows).ok()) {
      entries.insert(entries.end(), rows.entries.begin(), rows.entries.end());
    }
  }
  return entries;
}

std::vector<ChunkEntry> FindAll(const ChunkFileReader& reader, SeriesId id, TimeRange range = {}) {
  ChunkRows rows;
  const Status status = reader.Find(id, range, &rows);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return rows.entries;
}

void ExpectHolds(const ChunkFileReader& reader, const std::vector<TestChunk>& chunks) {
  const std::vector<ChunkEntry> entries = AllEntries(reader);
  ASSERT_EQ(entries.size(), chunks.size());
  Columns columns;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const ChunkEntry& entry = entries[i];
    EXPECT_EQ(entry.id, chunks[i].id);
    EXPECT_EQ(entry.first_time, chunks[i].columns.times.front());
    EXPECT_EQ(entry.last_time, chunks[i].columns.times.back());
    const Status status = reader.Read(entry, &columns);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_TRUE(SameBits(columns, chunks[i].columns)) << "chunk " << i;
  }
}

/// A small file with every kind of column: shared and own times, even ones, constants, raw bits.
std::vector<TestChunk> SmallChunks() {
  const std::vector<Timestamp> shared = NoisyTimes(9, 1);
  std::vector<Timestamp> even;
  for (int i = 0; i < 9; ++i) {
    even.push_back(-50 + i * 10);
  }
  return {{{3}, {shared, DecimalValues(9, 2)}},
          {{4}, {shared, std::vector<double>(9, 42.5)}},
          {{5}, {even, {0.1, kNaN, -0.0, 1e300, kInf, -kInf, 5e-324, 0.0, 3.0}}},
          {{5}, {{1000, 1001, 5000}, {1, 2, 3}}},
          {{900}, {{kTimestampMin}, {kNaN}}},
          {{900}, {{kTimestampMax}, {-1}}}};
}

TEST(ChunkFile, GivesBackEveryChunkBitForBit) {
  MemoryFileSystem fs;
  ChunkFileMeta meta;
  const std::vector<TestChunk> chunks = SmallChunks();
  const Status written = Write(fs, "f", chunks, &meta);
  ASSERT_TRUE(written.ok()) << written.ToString();
  auto reader = ChunkFileReader::Open(fs, "f");
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  ExpectHolds(**reader, chunks);
  EXPECT_EQ((*reader)->meta(), meta);
  EXPECT_EQ(meta.bytes, fs.ReadWhole("f")->size());
  EXPECT_EQ(meta.series, 4u);
  EXPECT_EQ(meta.samples, 32u);
  EXPECT_EQ(meta.first_time, kTimestampMin);
  EXPECT_EQ(meta.last_time, kTimestampMax);
  EXPECT_EQ((*reader)->options().store_low, 22u);
  std::vector<std::string> damage;
  ASSERT_TRUE((*reader)->Verify(&damage).ok());
  EXPECT_TRUE(damage.empty());
}

TEST(ChunkFile, FindsAllChunksOfOneSeriesAndOnlyThose) {
  MemoryFileSystem fs;
  ChunkFileMeta meta;
  ASSERT_TRUE(Write(fs, "f", SmallChunks(), &meta).ok());
  auto reader = ChunkFileReader::Open(fs, "f");
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(FindAll(**reader, {5}).size(), 2u);
  EXPECT_EQ(FindAll(**reader, {5}).front().first_time, -50);
  EXPECT_EQ(FindAll(**reader, {900}).size(), 2u);
  for (const std::uint64_t absent : {0, 1, 6, 899, 901}) {
    EXPECT_TRUE(FindAll(**reader, {absent}).empty()) << absent;
  }
}

TEST(ChunkFile, RandomFilesRoundTrip) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<TestChunk> chunks;
    std::uint64_t id = 0;
    for (int series = 0; series < 30; ++series) {
      id += 1 + random() % (series % 7 == 0 ? 1'000'000 : 2);
      Timestamp t = static_cast<Timestamp>(random() % 2'000'000) - 1'000'000;
      for (std::uint64_t n = 1 + random() % 3; n > 0; --n) {
        TestChunk chunk{{id}, {}};
        const std::size_t count = 1 + random() % 600;
        const auto kind = random() % 4;
        for (std::size_t i = 0; i < count; ++i) {
          t += 1 + static_cast<Timestamp>(kind == 0 ? 9 : random() % (1ull << (random() % 30)));
          const double value = kind == 1   ? std::bit_cast<double>(random())
                               : kind == 2 ? 17.25
                                           : static_cast<double>(random() % 1000) / 10;
          chunk.columns.Append(t, value);
        }
        chunks.push_back(std::move(chunk));
      }
    }
    MemoryFileSystem fs;
    ChunkFileMeta meta;
    const Status written = Write(fs, "f", chunks, &meta);
    ASSERT_TRUE(written.ok()) << written.ToString();
    auto reader = ChunkFileReader::Open(fs, "f");
    ASSERT_TRUE(reader.ok()) << reader.status().ToString();
    ExpectHolds(**reader, chunks);
    std::vector<std::string> damage;
    ASSERT_TRUE((*reader)->Verify(&damage).ok());
    EXPECT_TRUE(damage.empty()) << damage.front();
  }
}

TEST(ChunkFile, StoresEqualTimeColumnsOnce) {
  const std::vector<Timestamp> times = NoisyTimes(1024, 3);
  std::vector<TestChunk> one = {{{1}, {times, DecimalValues(1024, 1)}}};
  std::vector<TestChunk> many = one;
  for (std::uint64_t i = 2; i <= 10; ++i) {
    many.push_back({{i}, {times, DecimalValues(1024, i)}});
  }
  MemoryFileSystem fs;
  ChunkFileMeta meta_one;
  ChunkFileMeta meta_many;
  ASSERT_TRUE(Write(fs, "one", one, &meta_one).ok());
  ASSERT_TRUE(Write(fs, "many", many, &meta_many).ok());
  auto reader = ChunkFileReader::Open(fs, "many");
  ASSERT_TRUE(reader.ok());
  ExpectHolds(**reader, many);
  std::uint64_t value_bytes = 0;
  const std::vector<ChunkEntry> entries = AllEntries(**reader);
  for (const ChunkEntry& entry : entries) {
    EXPECT_EQ(entry.time_offset, entries[0].time_offset);
    value_bytes += entry.value_bytes;
  }
  EXPECT_GT(AllEntries(**reader)[0].time_bytes, 300u);
  // Nine chunks more cost their values and at most 30 bytes of directory each, statistics included.
  value_bytes -= AllEntries(**reader)[0].value_bytes;
  EXPECT_LE(meta_many.bytes, meta_one.bytes + value_bytes + 9 * 30);
}

TEST(ChunkFile, SharesTimesAlsoBetweenDistantChunksOfInterleavedSeries) {
  std::vector<std::vector<Timestamp>> columns;
  for (std::uint64_t i = 0; i < 4; ++i) {
    columns.push_back(NoisyTimes(100, 10 + i));
    for (Timestamp& t : columns.back()) {
      t += static_cast<Timestamp>(i) * 1'000'000;
    }
  }
  std::vector<TestChunk> chunks;
  for (std::uint64_t id = 1; id <= 50; ++id) {
    for (const auto& times : columns) {
      chunks.push_back({{id}, {times, DecimalValues(100, id)}});
    }
  }
  MemoryFileSystem fs;
  ChunkFileMeta meta;
  ASSERT_TRUE(Write(fs, "f", chunks, &meta).ok());
  auto reader = ChunkFileReader::Open(fs, "f");
  ASSERT_TRUE(reader.ok());
  ExpectHolds(**reader, chunks);
  for (std::size_t i = 4; i < chunks.size(); ++i) {
    EXPECT_EQ(AllEntries(**reader)[i].time_offset, AllEntries(**reader)[i % 4].time_offset);
  }
}

TEST(ChunkFile, ManyThreadsMayReadSharedTimesFromOneReader) {
  std::vector<TestChunk> chunks;
  std::vector<std::vector<Timestamp>> columns;
  for (std::uint64_t i = 0; i < 40; ++i) {  // more than the reader remembers
    columns.push_back(NoisyTimes(50, i));
    for (Timestamp& t : columns.back()) {
      t += static_cast<Timestamp>(i) * 1'000'000;
    }
  }
  for (std::uint64_t id = 1; id <= 8; ++id) {
    for (const auto& times : columns) {
      chunks.push_back({{id}, {times, DecimalValues(50, id)}});
    }
  }
  MemoryFileSystem fs;
  ChunkFileMeta meta;
  ASSERT_TRUE(Write(fs, "f", chunks, &meta).ok());
  auto reader = ChunkFileReader::Open(fs, "f");
  ASSERT_TRUE(reader.ok());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&, seed, entries = AllEntries(**reader)] {
      std::mt19937_64 random(seed);
      Columns read;
      for (int i = 0; i < 2000; ++i) {
        // Mostly near each other, so that threads meet at the same columns.
        const std::size_t at = (static_cast<std::size_t>(i) * 8 + random() % 80) % chunks.size();
        const Status status = (*reader)->Read(entries[at], &read);
        wrong += status.ok() && SameBits(read, chunks[at].columns) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT((*reader)->memory_bytes(), 32 * 50 * sizeof(Timestamp));  // remembered columns
}

TEST(ChunkFile, EvenTimesAndConstantValuesTakeNoBytesBesideTheDirectory) {
  std::vector<TestChunk> chunks;
  for (std::uint64_t id = 1; id <= 100; ++id) {
    TestChunk chunk{{id}, {}};
    for (int i = 0; i < 1024; ++i) {
      chunk.columns.Append(1'700'000'000'000 + i * 1000, static_cast<double>(id) / 4);
    }
    chunks.push_back(std::move(chunk));
  }
  MemoryFileSystem fs;
  ChunkFileMeta meta;
  ASSERT_TRUE(Write(fs, "f", chunks, &meta).ok());
  auto reader = ChunkFileReader::Open(fs, "f");
  ASSERT_TRUE(reader.ok());
  ExpectHolds(**reader, chunks);
  for (const ChunkEntry& entry : AllEntries(**reader)) {
    EXPECT_EQ(entry.time_bytes + entry.value_bytes, 0u);
  }
  EXPECT_LE(meta.bytes, 64u + 96u + 100 * 8);  // header, footer, 8 bytes a chunk
}

TEST(ChunkFile, RefusesChunksOutOfOrder) {
  MemoryFileSystem fs;
  struct Case {
    const char* name;
    SeriesId id;
    Columns columns;
  };
  const Case cases[] = {
      {"a lower series", {4}, {{500}, {1}}},
      {"series 0", {0}, {{500}, {1}}},
      {"an overlap", {5}, {{300, 400}, {1, 2}}},
      {"no samples", {6}, {}},
      {"times that repeat", {6}, {{1, 1}, {1, 2}}},
      {"times that fall", {6}, {{2, 1}, {1, 2}}},
      {"the time kNow", {6}, {{kNow, 1}, {1, 2}}},
      {"more times than values", {6}, {{1, 2}, {1}}},
      {"too many samples", {6}, {NoisyTimes(kChunkSamplesMax + 1, 1), DecimalValues(kChunkSamplesMax + 1, 1)}},
  };
  int number = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto writer = ChunkFileWriter::Create(fs, "f" + std::to_string(number++), kOptions);
    ASSERT_TRUE(writer.ok());
    const Columns first = {{100, 200, 300}, {1, 2, 3}};
    ASSERT_TRUE((*writer)->Add({5}, {first.times, first.values}).ok());
    EXPECT_EQ((*writer)->Add(c.id, {c.columns.times, c.columns.values}).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ((*writer)->Finish().status().code(), StatusCode::kInvalidArgument);
  }
}

TEST(ChunkFile, NeedsAtLeastOneChunkAndAFreeName) {
  MemoryFileSystem fs;
  auto writer = ChunkFileWriter::Create(fs, "f", kOptions);
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ((*writer)->Finish().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ChunkFileWriter::Create(fs, "f", kOptions).status().code(), StatusCode::kAlreadyExists);
}

TEST(ChunkFile, LargestChunksAndManyWritesRoundTrip) {
  std::vector<TestChunk> chunks;
  std::mt19937_64 random(5);
  for (std::uint64_t id = 1; id <= 40; ++id) {
    TestChunk chunk{{id}, {NoisyTimes(kChunkSamplesMax, id), {}}};
    for (std::size_t i = 0; i < kChunkSamplesMax; ++i) {
      chunk.columns.values.push_back(std::bit_cast<double>(random()));
    }
    chunks.push_back(std::move(chunk));
  }
  MemoryFileSystem fs;
  ChunkFileMeta meta;
  ASSERT_TRUE(Write(fs, "f", chunks, &meta).ok());
  EXPECT_GT(meta.bytes, 2u << 20);
  auto reader = ChunkFileReader::Open(fs, "f");
  ASSERT_TRUE(reader.ok());
  ExpectHolds(**reader, chunks);
}

TEST(ChunkFile, EveryFlippedByteIsReported) {
  MemoryFileSystem fs;
  ChunkFileMeta meta;
  ASSERT_TRUE(Write(fs, "f", SmallChunks(), &meta).ok());
  ForEachFlippedByte(fs, "f", [&](const std::string& what) {
    auto reader = ChunkFileReader::Open(fs, "f");
    if (!reader.ok()) {
      EXPECT_EQ(reader.status().code(), StatusCode::kCorruption) << what;
      EXPECT_NE(reader.status().message().find("f@"), std::string::npos) << reader.status().ToString();
      return;
    }
    std::vector<std::string> damage;
    ASSERT_TRUE((*reader)->Verify(&damage).ok()) << what;
    EXPECT_FALSE(damage.empty()) << what << " went unnoticed";
    // What can still be read is what was written.
    const std::vector<TestChunk> chunks = SmallChunks();
    const std::vector<ChunkEntry> entries = AllEntries(**reader);
    EXPECT_TRUE(entries.empty() || entries.size() == chunks.size()) << what;
    Columns columns;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const Status status = (*reader)->Read(entries[i], &columns);
      if (status.ok()) {
        EXPECT_TRUE(SameBits(columns, chunks[i].columns)) << what;
      } else {
        EXPECT_EQ(status.code(), StatusCode::kCorruption) << what;
      }
    }
  });
}

TEST(ChunkFile, EveryTruncationIsCorruption) {
  MemoryFileSystem fs;
  ChunkFileMeta meta;
  ASSERT_TRUE(Write(fs, "f", SmallChunks(), &meta).ok());
  ForEachTruncation(fs, "f", [&](std::size_t length) {
    EXPECT_EQ(ChunkFileReader::Open(fs, "f").status().code(), StatusCode::kCorruption) << length;
  });
}

TEST(ChunkFile, DamageAfterOpeningIsFoundByReadAndNamedByVerify) {
  MemoryFileSystem fs;
  ChunkFileMeta meta;
  const std::vector<TestChunk> chunks = SmallChunks();
  ASSERT_TRUE(Write(fs, "f", chunks, &meta).ok());
  std::string bytes = *fs.ReadWhole("f");
  const std::uint64_t offset = AllEntries(**ChunkFileReader::Open(fs, "f"))[0].value_offset;
  bytes[offset] = static_cast<char>(bytes[offset] ^ 4);
  fs.WriteWhole("f", bytes);
  auto reader = ChunkFileReader::Open(fs, "f");
  ASSERT_TRUE(reader.ok());
  Columns columns;
  const Status status = (*reader)->Read(AllEntries(**reader)[0], &columns);
  EXPECT_EQ(status.code(), StatusCode::kCorruption);
  EXPECT_NE(status.message().find("f@" + std::to_string(offset)), std::string::npos) << status.ToString();
  EXPECT_TRUE((*reader)->Read(AllEntries(**reader)[1], &columns).ok());
  std::vector<std::string> damage;
  ASSERT_TRUE((*reader)->Verify(&damage).ok());
  EXPECT_EQ(damage.size(), 1u);
}

TEST(ChunkFile, ColumnsOfAnotherPlaceDoNotVerify) {
  // The same chunk in two files with other numbers: the bytes are the same, the checksums are not.
  MemoryFileSystem fs;
  ChunkFileMeta meta;
  const std::vector<TestChunk> chunks = {{{1}, {NoisyTimes(50, 1), DecimalValues(50, 1)}}};
  ChunkFileOptions other = kOptions;
  other.number = 8;
  ASSERT_TRUE(Write(fs, "a", chunks, &meta).ok());
  ASSERT_TRUE(Write(fs, "b", chunks, &meta, other).ok());
  auto a = ChunkFileReader::Open(fs, "a");
  auto b = ChunkFileReader::Open(fs, "b");
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_NE(AllEntries(**a)[0].value_checksum, AllEntries(**b)[0].value_checksum);
  EXPECT_NE(AllEntries(**a)[0].time_checksum, AllEntries(**b)[0].time_checksum);
}

TEST(ChunkFile, AnotherVersionIsNotSupportedRatherThanCorrupt) {
  MemoryFileSystem fs;
  ChunkFileMeta meta;
  ASSERT_TRUE(Write(fs, "f", SmallChunks(), &meta).ok());
  for (std::string bytes = *fs.ReadWhole("f"); const auto version : {kChunkFileVersion + 1, kChunkFileVersion - 1}) {
    StoreFixed<std::uint32_t>(bytes.data() + 8, version);
    const std::string header = bytes.substr(0, kChunkFileHeaderChecksumOffset);
    StoreFixed(bytes.data() + header.size(), Checksum32(header, PlaceSeed(kOptions.number, 0)));
    fs.WriteWhole("f", bytes);
    EXPECT_EQ(ChunkFileReader::Open(fs, "f").status().code(), StatusCode::kNotSupported);
  }
}

TEST(ChunkFile, AnEmptyFileIsCorruptAndAMissingOneNotFound) {
  MemoryFileSystem fs;
  fs.WriteWhole("f", "");
  EXPECT_EQ(ChunkFileReader::Open(fs, "f").status().code(), StatusCode::kCorruption);
  EXPECT_EQ(ChunkFileReader::Open(fs, "absent").status().code(), StatusCode::kNotFound);
}

TEST(ChunkFile, AFailedWriteIsReportedByEveryLaterCall) {
  MemoryFileSystem counting;
  ChunkFileMeta meta;
  ASSERT_TRUE(Write(counting, "f", SmallChunks(), &meta).ok());
  const std::uint64_t operations = counting.operations();
  ASSERT_GE(operations, 3u);  // create, append, sync
  for (std::uint64_t n = 1; n <= operations; ++n) {
    MemoryFileSystem fs;
    fs.SetFault([n](std::uint64_t number, std::string_view, const std::string& path) {
      return number == n ? Status::NoSpace(path + ": full") : Status();
    });
    EXPECT_EQ(Write(fs, "f", SmallChunks(), &meta).code(), StatusCode::kNoSpace) << n;
  }
}

TEST(ChunkFile, DumpShowsEveryChunkAndTheDamagedOne) {
  MemoryFileSystem fs;
  ChunkFileMeta meta;
  ASSERT_TRUE(Write(fs, "f", SmallChunks(), &meta).ok());
  const auto dump = [&](Status* status) {
    std::vector<std::string> lines;
    *status = DumpChunkFileTo(fs, "f", [&](std::string_view line) { lines.emplace_back(line); });
    return lines;
  };
  Status status;
  const std::vector<std::string> good = dump(&status);
  EXPECT_TRUE(status.ok());
  const auto count = [&](std::string_view start) {
    return static_cast<std::size_t>(
        std::ranges::count_if(good, [&](const std::string& line) { return line.starts_with(start); }));
  };
  EXPECT_EQ(count("chunk series="), SmallChunks().size());
  EXPECT_EQ(count("  statistics "), SmallChunks().size());
  EXPECT_EQ(count("values decimal blocks columns="), 1u);
  std::string bytes = *fs.ReadWhole("f");
  bytes[70] = static_cast<char>(bytes[70] ^ 1);
  fs.WriteWhole("f", bytes);
  const std::vector<std::string> damaged = dump(&status);
  EXPECT_EQ(status.code(), StatusCode::kCorruption);
  EXPECT_GT(damaged.size(), good.size());
}

}  // namespace
}  // namespace tsdb::chunk
