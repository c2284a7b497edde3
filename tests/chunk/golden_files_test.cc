// Golden files: chunk files of tests/golden, byte for byte as this version of the format writes them, one per kind of
// encoding. They must stay readable: a change of the format gets a new version, and new files beside these. No release
// wrote version 1: of it one file is left, which must be refused.
//
// Those that are not there are written by
//   chunk_test --gtest_also_run_disabled_tests --gtest_filter=GoldenFiles.DISABLED_Write
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "chunk/chunk_columns.h"
#include "chunk/chunk_file.h"
#include "chunk/chunk_file_format.h"

namespace tsdb::chunk {
namespace {

const std::string kFolder = std::string(TSDB_TEST_SOURCE_DIR) + "/golden/chunk-2/";

/// The same numbers on every machine.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Below(std::uint64_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % bound;
  }
  std::uint64_t Bits() { return Below(1ull << 31) << 33 ^ Below(1ull << 31) << 11 ^ Below(1 << 11); }

 private:
  std::uint64_t state_;
};

enum class Times { kEven, kJitter, kDrift };
enum class Values {
  kConstant,
  kWalk,
  kDecimals,
  kCounter,
  kBits,
  kSpecial,
  kSteps,
  kNear,
  kMultiples,
  kNarrowBits,
  kMixed
};

struct Golden {
  const char* name;
  Effort effort;
  Times times;
  Values values;
  std::size_t samples;  // of each of two series, whose times are equal
};

constexpr Golden kGolden[] = {
    {"even_times_constant_values", Effort::kFast, Times::kEven, Values::kConstant, 300},
    {"jitter_whole_numbers", Effort::kFast, Times::kJitter, Values::kWalk, 300},
    {"jitter_decimals_two_pages", Effort::kFast, Times::kJitter, Values::kDecimals, 1100},
    {"counter_with_resets", Effort::kFast, Times::kEven, Values::kCounter, 300},
    {"random_bits", Effort::kFast, Times::kEven, Values::kBits, 40},
    {"nan_infinity_negative_zero", Effort::kFast, Times::kJitter, Values::kSpecial, 40},
    {"dense_whole_numbers_three_pages", Effort::kDense, Times::kEven, Values::kWalk, 2100},
    {"dense_decimals", Effort::kDense, Times::kJitter, Values::kDecimals, 300},
    {"dense_steps", Effort::kDense, Times::kEven, Values::kSteps, 1100},
    {"dense_random_bits", Effort::kDense, Times::kJitter, Values::kBits, 40},
    {"drifting_times_near_misses", Effort::kFast, Times::kDrift, Values::kNear, 600},
    {"dense_near_misses_two_pages", Effort::kDense, Times::kDrift, Values::kNear, 1300},
    {"multiples_of_eight", Effort::kFast, Times::kEven, Values::kMultiples, 300},
    {"dense_multiples_of_eight", Effort::kDense, Times::kEven, Values::kMultiples, 1100},
    {"narrow_bits_two_pages", Effort::kFast, Times::kDrift, Values::kNarrowBits, 1100},
    {"dense_narrow_bits_two_pages", Effort::kDense, Times::kJitter, Values::kNarrowBits, 1100},
    {"dense_near_misses_five_pages", Effort::kDense, Times::kEven, Values::kNear, 4200},
    {"dense_pages_apart", Effort::kDense, Times::kEven, Values::kMixed, 3300},
};

double NextValue(Values kind, std::size_t i, double before, Numbers* numbers) {
  switch (kind) {
    case Values::kConstant:
      return 21.5;
    case Values::kWalk:
      return before + static_cast<double>(numbers->Below(3)) - 1;
    case Values::kDecimals:
      return static_cast<double>(20'000 + numbers->Below(500)) / 100;
    case Values::kCounter:
      return i % 100 == 99 ? 0 : before + static_cast<double>(numbers->Below(40));
    case Values::kBits:
      return std::bit_cast<double>(numbers->Bits());
    case Values::kSpecial: {
      const double special[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity(), -0.0, 0.1, 5e-324};
      return special[numbers->Below(6)];
    }
    case Values::kNear: {  // sums of decimals, a few units in the last place off, and now and then something else
      const double tenths = static_cast<double>(numbers->Below(400)) / 10;
      return i % 90 == 41 ? 1e300 / 7 : i % 9 == 4 ? tenths + 0.3 : tenths;
    }
    case Values::kMultiples:
      return before - 50 + 8 * static_cast<double>(numbers->Below(60)) + (i == 0 ? 3 : 0);
    case Values::kNarrowBits:
      return 1 + std::bit_cast<double>(numbers->Bits() >> 12 | 0x3ff0000000000000) / 8;
    case Values::kMixed:  // each page of another kind
      return i < 1024   ? 0.5
             : i < 2048 ? static_cast<double>(numbers->Below(100'000)) / 1000
             : i < 3072 ? 4096 * static_cast<double>(numbers->Below(9))
                        : static_cast<double>(i % 2);
    case Values::kSteps:
      return static_cast<double>(1 + i / 50 % 4) / 8;
  }
  return 0;
}

Columns SamplesOf(const Golden& golden, std::uint64_t series) {
  Numbers jitter(7);
  Numbers numbers(series);
  Columns columns;
  double value = 50;
  Timestamp drift = 0;
  for (std::size_t i = 0; i < golden.samples; ++i) {
    drift += golden.times == Times::kDrift ? static_cast<Timestamp>(jitter.Below(9)) : 0;
    const auto late = drift + static_cast<Timestamp>(golden.times == Times::kJitter ? jitter.Below(20) : 0);
    value = NextValue(golden.values, i, value, &numbers);
    columns.Append(1'700'000'000'000 + static_cast<Timestamp>(i) * 1000 + late, value);
  }
  return columns;
}

void WriteTo(FileSystem& fs, const std::string& path, const Golden& golden) {
  ChunkFileOptions options;
  options.store_high = 1;
  options.store_low = 2;
  options.number = 3;
  options.first_commit = {4};
  options.last_commit = {5};
  options.effort = golden.effort;
  auto writer = ChunkFileWriter::Create(fs, path, options);
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  for (const std::uint64_t series : {10, 11}) {
    const Columns columns = SamplesOf(golden, series);
    ASSERT_TRUE((*writer)->Add({series}, {columns.times, columns.values}).ok());
  }
  const auto meta = (*writer)->Finish();
  ASSERT_TRUE(meta.ok()) << meta.status().ToString();
}

std::string ReadGolden(const Golden& golden) {
  auto bytes = ReadFile(PosixFileSystem(), kFolder + golden.name);
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  return bytes.ok() ? *bytes : std::string();
}

TEST(GoldenFiles, DISABLED_Write) {
  FileSystem& fs = PosixFileSystem();
  ASSERT_TRUE(fs.CreateDirectories(kFolder).ok());
  for (const Golden& golden : kGolden) {
    const auto exists = fs.Exists(kFolder + golden.name);
    ASSERT_TRUE(exists.ok());
    if (!*exists) {
      WriteTo(fs, kFolder + golden.name, golden);
    }
  }
}

TEST(GoldenFiles, OfTheVersionBeforeAreRefusedAndToldFromDamage) {
  auto reader = ChunkFileReader::Open(PosixFileSystem(),
                                      std::string(TSDB_TEST_SOURCE_DIR) + "/golden/chunk-1/counter_with_resets");
  ASSERT_EQ(reader.status().code(), StatusCode::kNotSupported) << reader.status().ToString();
  EXPECT_NE(reader.status().message().find("format version 1; this program reads version 2: export"),
            std::string::npos)
      << reader.status().message();
}

TEST(GoldenFiles, HoldTheirSamplesAndStatistics) {
  for (const Golden& golden : kGolden) {
    SCOPED_TRACE(golden.name);
    auto reader = ChunkFileReader::Open(PosixFileSystem(), kFolder + golden.name);
    ASSERT_TRUE(reader.ok()) << reader.status().ToString();
    std::vector<std::string> damage;
    ASSERT_TRUE((*reader)->Verify(&damage).ok());
    EXPECT_TRUE(damage.empty()) << damage.front();
    EXPECT_EQ((*reader)->meta().samples, 2 * golden.samples);
    ChunkRows rows;
    ColumnBuffer buffer;
    for (const std::uint64_t series : {10, 11}) {
      const Columns expected = SamplesOf(golden, series);
      ASSERT_TRUE((*reader)->Find({series}, {}, &rows).ok());
      buffer.Clear();
      ASSERT_TRUE((*reader)->ReadPages(rows, 0, rows.size(), {}, &buffer).ok());
      EXPECT_TRUE(std::ranges::equal(buffer.view().times, expected.times));
      EXPECT_TRUE(std::ranges::equal(buffer.view().values, expected.values, [](double a, double b) {
        return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
      }));
      ASSERT_EQ(rows.size(), 1u);
      const auto statistics = rows.Statistics(0);
      ASSERT_TRUE(statistics.ok());
      ChunkStatistics computed = ComputeStatistics(expected.values);
      PoolPages(statistics->page_step, &computed);
      EXPECT_TRUE(SameStatistics(*statistics, computed));
    }
  }
}

TEST(GoldenFiles, HaveEveryEncodingAWriterChooses) {
  std::set<std::uint8_t> times;
  std::set<std::uint8_t> values;
  for (const Golden& golden : kGolden) {
    auto reader = ChunkFileReader::Open(PosixFileSystem(), kFolder + golden.name);
    ASSERT_TRUE(reader.ok()) << reader.status().ToString();
    for (const EncodingTotals& encoding : (*reader)->totals().times) {
      times.insert(encoding.encoding);
    }
    for (const EncodingTotals& encoding : (*reader)->totals().values) {
      values.insert(encoding.encoding);
    }
  }
  // Not constant step and constant: the directory alone says what these would.
  EXPECT_EQ(times, (std::set<std::uint8_t>{kTimesInDirectory, static_cast<std::uint8_t>(TimeEncoding::kDeltaBlocks),
                                           static_cast<std::uint8_t>(TimeEncoding::kTokens)}));
  EXPECT_EQ(values,
            (std::set<std::uint8_t>{kValuesInDirectory, static_cast<std::uint8_t>(ValueEncoding::kDecimalBlocks),
                                    static_cast<std::uint8_t>(ValueEncoding::kBits),
                                    static_cast<std::uint8_t>(ValueEncoding::kTokens),
                                    static_cast<std::uint8_t>(ValueEncoding::kApart)}));
}

/// A place in a file, and what is said when a bit there is not what it was.
struct Damage {
  const char* where;
  std::uint64_t offset;
  const char* message;
  bool opens;  // the file itself can still be opened
};

TEST(GoldenFiles, TheirDamagedTwinsAreToldByTheRightMessage) {
  for (const Golden& golden : kGolden) {
    SCOPED_TRACE(golden.name);
    const std::string good = ReadGolden(golden);
    MemoryFileSystem fs;
    fs.WriteWhole("f", good);
    ChunkFileOptions options;
    ASSERT_TRUE(DecodeChunkFileHeader(std::string_view(good).substr(0, kChunkFileHeaderBytes), &options).ok());
    ChunkFileFooter footer;
    const std::string_view end = std::string_view(good).substr(good.size() - kChunkFileFooterBytes);
    ASSERT_TRUE(DecodeChunkFileFooter(end, options.number, good.size(), &footer).ok());
    const Damage places[] = {
        {"magic", 3, "not a chunk file", false},
        {"header", 40, "header checksum mismatch", false},
        {"index", footer.index_offset + 2, "checksum mismatch in the index", false},
        {"footer", good.size() - 40, "footer checksum mismatch", false},
        {"end", good.size() - 1, "no footer at the end", false},
        {"block", footer.directory_offset + 1, "directory: checksum mismatch", true},
        {"column", kChunkFileHeaderBytes, "checksum mismatch", true},
    };
    for (const Damage& damage : places) {
      SCOPED_TRACE(damage.where);
      if (damage.offset >= footer.directory_offset && std::string_view(damage.where) == "column") {
        continue;  // this one has no columns
      }
      std::string bad = good;
      bad[damage.offset] = static_cast<char>(bad[damage.offset] ^ 16);
      fs.WriteWhole("f", bad);
      auto reader = ChunkFileReader::Open(fs, "f");
      ASSERT_EQ(reader.ok(), damage.opens) << reader.status().ToString();
      std::string said;
      if (!damage.opens) {
        EXPECT_EQ(reader.status().code(), StatusCode::kCorruption);
        said = reader.status().message();
      } else {
        std::vector<std::string> found;
        ASSERT_TRUE((*reader)->Verify(&found).ok());
        ASSERT_FALSE(found.empty());
        said = found.front();
      }
      EXPECT_NE(said.find(damage.message), std::string::npos) << said;
      EXPECT_NE(said.find("f@"), std::string::npos) << said;
    }
  }
}

}  // namespace
}  // namespace tsdb::chunk
