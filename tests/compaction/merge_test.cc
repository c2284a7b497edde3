#include "compaction/merge.h"

#include <chrono>
#include <random>

#include "compaction/chunk_cutter.h"
#include "compaction/orphans.h"
#include "compaction/partition.h"
#include "tests/compaction/chunk_files.h"

namespace tsdb::compaction {
namespace {

constexpr Timestamp kDay = 86'400'000;

/// A merge of everything in `files` into `outputs`; without outputs: into one file of all times.
class Merging {
 public:
  explicit Merging(const ChunkFiles& files, std::vector<MergeOutput> outputs = {}) {
    input_.database_path = "db";
    input_.store_high = 1;
    input_.store_low = 2;
    input_.files = files.files();
    input_.outputs = std::move(outputs);
    if (input_.outputs.empty()) {
      input_.outputs.push_back({{TimeRange{}}, kLevelDay});
    }
    input_.file_numbers = &numbers_;
    input_.control = &control_;
  }
  Result<chunk::ManifestEdit> Run(FileSystem& fs) { return Merge(input_, fs); }
  MergeInput& input() { return input_; }
  JobControl& control() { return control_; }

 private:
  FileNumbers numbers_{100};
  JobControl control_;
  MergeInput input_;
};

std::size_t CountFiles(FileSystem& fs) {
  const auto entries = fs.List("db/chunks");
  return entries.ok() ? entries->size() : 0;
}

SampleTable ReadTables(FileSystem& fs, const std::vector<chunk::ChunkFileMeta>& metas) {
  SampleTable all;
  for (const chunk::ChunkFileMeta& meta : metas) {
    for (const auto& [id, samples] : ReadTable(fs, meta)) {
      for (const auto& [time, bits] : samples) {
        EXPECT_TRUE(all[id].emplace(time, bits).second) << "series " << id << " has time " << time << " in two files";
      }
    }
  }
  return all;
}

/// Up to `series` series with samples at times of [0, times); some values are NaNs.
SampleTable RandomTable(std::mt19937_64& random, std::uint64_t series, Timestamp times, std::size_t samples) {
  SampleTable table;
  for (std::size_t i = 0; i < samples; ++i) {
    const auto time = static_cast<Timestamp>(random() % static_cast<std::uint64_t>(times));
    const double value = random() % 50 == 0 ? std::numeric_limits<double>::quiet_NaN()
                                            : static_cast<double>(random() % 10'000) / 10;
    table[1 + random() % series][time] = std::bit_cast<std::uint64_t>(value);
  }
  return table;
}

TEST(Merge, OfRandomFilesIsTheNewestSampleAtEachTime) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    MemoryFileSystem fs;
    ChunkFiles files(fs);
    SampleTable expected;
    const std::uint64_t count = 1 + random() % 8;
    for (std::uint64_t n = 1; n <= count; ++n) {
      const SampleTable table =
          RandomTable(random, 1 + random() % 5, 1 << (4 + random() % 9), 1 + random() % 2000);
      files.Add(n, table, n * 10, n * 10 + 5, 1 + random() % 200);
      Overlay(table, &expected);
    }
    std::vector<MergeOutput> outputs;
    if (random() % 2 == 0) {
      // Three partitions and the rest around them.
      outputs = {{{{100, 199}}, kLevelWarmDay},
                 {{{300, 399}}, kLevelWarmDay},
                 {{{1000, 1999}}, kLevelDay},
                 {{{kTimestampMin, 99}, {200, 299}, {400, 999}, {2000, kTimestampMax}}, kLevelRest}};
    }
    Merging merging(files, outputs);
    merging.input().chunk_samples_max = 1 + random() % 300;
    const auto edit = merging.Run(fs);
    ASSERT_TRUE(edit.ok()) << edit.status().ToString();
    EXPECT_EQ(ReadTables(fs, edit->added_chunk_files), expected);
    for (const chunk::ChunkFileMeta& meta : edit->added_chunk_files) {
      EXPECT_EQ(meta.first_commit.value, 10u);
      EXPECT_EQ(meta.last_commit.value, count * 10 + 5);
      for (const MergeOutput& output : outputs) {
        if (output.level == meta.level && output.level != kLevelRest) {
          EXPECT_TRUE(output.ranges[0].Contains(meta.first_time) == output.ranges[0].Contains(meta.last_time));
        }
      }
    }
    EXPECT_EQ(edit->removed_chunk_files.size(), count);
    EXPECT_EQ(CountFiles(fs), count + edit->added_chunk_files.size());
    EXPECT_EQ(merging.control().samples_done.load(), merging.control().samples_total.load());
    EXPECT_GT(merging.control().bytes_written.load(), 0u);
  }
}

TEST(Merge, WritesLongChunksOfWholePages) {
  MemoryFileSystem fs;
  ChunkFiles files(fs);
  SampleTable table;
  for (Timestamp t = 0; t < 20'000; ++t) {
    table[1][t * 10] = std::bit_cast<std::uint64_t>(static_cast<double>(t % 7));
  }
  files.Add(1, table, 1, 2);
  const auto edit = Merging(files).Run(fs);
  ASSERT_TRUE(edit.ok());
  ASSERT_EQ(edit->added_chunk_files.size(), 1u);
  EXPECT_EQ(edit->added_chunk_files[0].chunks, 3u) << "7168 + 7168 + 5664";
  EXPECT_EQ(edit->added_chunk_files[0].level, kLevelDay);
}

TEST(Merge, ChunkLengthsAreEvenAndWholePages) {
  EXPECT_EQ(ChunkLength(10, 8192), 8192u);
  EXPECT_EQ(ChunkLength(8192, 8192), 8192u);
  EXPECT_EQ(ChunkLength(8193, 8192), 5120u);
  EXPECT_EQ(ChunkLength(8640, 8192), 5120u);
  EXPECT_EQ(ChunkLength(16'384, 8192), 8192u);
  EXPECT_EQ(ChunkLength(1'000'000, 8192), 8192u);
  EXPECT_EQ(ChunkLength(100, 30), 30u);
}

TEST(Merge, NoOutputNoFile) {
  MemoryFileSystem fs;
  ChunkFiles files(fs);
  files.Add(1, {{1, {{5, 0}}}}, 1, 2);
  const auto edit = Merging(files, {{{{100, 200}}, kLevelDay}, {{{kTimestampMin, 99}}, kLevelRest}}).Run(fs);
  ASSERT_TRUE(edit.ok()) << edit.status().ToString();
  EXPECT_EQ(edit->added_chunk_files.size(), 1u);
}

TEST(Merge, RefusesOutputsThatLoseSamples) {
  MemoryFileSystem fs;
  ChunkFiles files(fs);
  files.Add(1, {{1, {{5, 0}, {50, 0}}}}, 1, 2);
  EXPECT_EQ(Merging(files, {{{{0, 49}}, kLevelDay}}).Run(fs).status().code(), StatusCode::kInternal);
  EXPECT_EQ(CountFiles(fs), 1u);
}

TEST(Merge, RefusesFilesAndOutputsOutOfOrder) {
  MemoryFileSystem fs;
  ChunkFiles files(fs);
  files.Add(1, {{1, {{5, 0}}}}, 1, 2);
  files.Add(2, {{1, {{5, 0}}}}, 3, 4);
  const auto code = [&](const auto& change) {
    Merging merging(files);
    change(merging.input());
    return merging.Run(fs).status().code();
  };
  EXPECT_EQ(code([](MergeInput& i) { std::swap(i.files[0], i.files[1]); }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](MergeInput& i) { i.files.clear(); }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](MergeInput& i) { i.outputs.clear(); }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](MergeInput& i) { i.outputs.push_back({{{0, 1}}, 2}); }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](MergeInput& i) { i.outputs[0].ranges = {{5, 4}}; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](MergeInput& i) { i.chunk_samples_max = 0; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(CountFiles(fs), 2u);
}

TEST(Merge, SaysWhenTheDiskHasNoRoomBeforeItWrites) {
  MemoryFileSystem fs;
  ChunkFiles files(fs);
  files.Add(1, {{1, {{5, 0}}}}, 1, 2);
  fs.SetFreeBytes(1 << 20);
  const std::uint64_t operations = fs.operations();
  const auto edit = Merging(files).Run(fs);
  EXPECT_EQ(edit.status().code(), StatusCode::kNoSpace);
  EXPECT_NE(edit.status().message().find("free some space"), std::string_view::npos);
  EXPECT_EQ(fs.operations(), operations);
}

TEST(Merge, EndsWhenItIsCancelledAndLeavesNoFile) {
  MemoryFileSystem fs;
  ChunkFiles files(fs);
  files.Add(1, {{1, {{5, 0}}}}, 1, 2);
  Merging merging(files);
  merging.control().cancelled = true;
  EXPECT_EQ(merging.Run(fs).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(CountFiles(fs), 1u);
}

TEST(Merge, WritesNoFasterThanItIsAllowed) {
  MemoryFileSystem fs;
  ChunkFiles files(fs);
  std::mt19937_64 random(11);
  files.Add(1, RandomTable(random, 20, 1'000'000, 20'000), 1, 2);
  const std::uint64_t bytes = fs.FileSize(JoinPath("db", chunk::ChunkFileName(1))).value();
  Merging merging(files);
  merging.control().bytes_per_second = bytes * 4;
  const auto begin = std::chrono::steady_clock::now();
  const auto edit = merging.Run(fs);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(edit.ok()) << edit.status().ToString();
  // Each of the 20 chunks waits for those before it; directory and footer come without waiting.
  const double written = static_cast<double>(edit->added_chunk_files[0].bytes) * 0.8;
  EXPECT_GT(took.count(), written / static_cast<double>(bytes * 4));
}

TEST(Merge, ADamagedChunkIsCorruptionAndLeavesTheInputs) {
  MemoryFileSystem fs;
  std::mt19937_64 random(3);
  const SampleTable table = RandomTable(random, 2, 1'000'000, 3000);
  ChunkFiles files(fs);
  files.Add(1, table, 1, 2);
  const std::string path = JoinPath("db", chunk::ChunkFileName(1));
  std::string bytes = *fs.ReadWhole(path);
  bytes[200] = static_cast<char>(bytes[200] ^ 1);
  fs.WriteWhole(path, bytes);
  Merging merging(files);
  const auto edit = merging.Run(fs);
  EXPECT_EQ(edit.status().code(), StatusCode::kCorruption);
  EXPECT_EQ(merging.control().damaged_file.load(), 1u);
  EXPECT_EQ(CountFiles(fs), 1u);
}

/// Two files that overlap, and what is in both.
struct TwoFiles {
  TwoFiles() : random(9), first(RandomTable(random, 3, 5000, 4000)), second(RandomTable(random, 3, 5000, 2000)) {
    Overlay(first, &expected);
    Overlay(second, &expected);
  }
  /// Writes both and names them in a new manifest.
  std::unique_ptr<chunk::Manifest> Write(MemoryFileSystem* fs, std::unique_ptr<ChunkFiles>* files) const {
    chunk::ManifestState state;
    state.store_high = 1;
    state.store_low = 2;
    auto manifest = chunk::Manifest::Create(*fs, "db", state);
    *files = std::make_unique<ChunkFiles>(*fs);
    (*files)->Add(1, first, 1, 2, 100);
    (*files)->Add(2, second, 3, 4, 100);
    EXPECT_TRUE(fs->SyncDirectory("db/chunks").ok());
    chunk::ManifestEdit edit;
    edit.added_chunk_files = (*files)->metas();
    EXPECT_TRUE((*manifest)->Append(edit).ok());
    return std::move(*manifest);
  }
  std::mt19937_64 random;
  SampleTable first, second, expected;
};

std::vector<MergeOutput> TwoOutputs() {
  return {{{{0, 2499}}, kLevelDay}, {{{kTimestampMin, -1}, {2500, kTimestampMax}}, kLevelRest}};
}

TEST(Merge, EveryFailingOperationLeavesTheInputsAlone) {
  const TwoFiles two;
  for (std::uint64_t n = 1;; ++n) {
    SCOPED_TRACE(n);
    MemoryFileSystem fs;
    std::unique_ptr<ChunkFiles> files;
    const auto manifest = two.Write(&fs, &files);
    const std::uint64_t start = fs.operations();
    bool failed = false;
    fs.SetFault([&](std::uint64_t number, std::string_view, const std::string& path) {
      failed |= number == start + n;
      return number == start + n ? Status::NoSpace(path + ": full") : Status();
    });
    const auto edit = Merging(*files, TwoOutputs()).Run(fs);
    if (!failed) {
      EXPECT_TRUE(edit.ok());
      EXPECT_GT(n, 6u);
      break;
    }
    EXPECT_EQ(edit.status().code(), StatusCode::kNoSpace);
    EXPECT_EQ(CountFiles(fs), 2u);
  }
}

TEST(Merge, APowerCutAtAnyOperationLeavesAllOfItOrNothing) {
  const TwoFiles two;
  bool finished = false;
  for (std::uint64_t n = 1; !finished; ++n) {
    MemoryFileSystem fs;
    std::unique_ptr<ChunkFiles> files;
    const auto manifest = two.Write(&fs, &files);
    const std::uint64_t start = fs.operations();
    fs.StopAt(start + n);
    const auto edit = Merging(*files, TwoOutputs()).Run(fs);
    const bool acknowledged = edit.ok() && manifest->Append(*edit).ok();
    finished = fs.operations() < start + n;
    EXPECT_TRUE(acknowledged || !finished);
    for (const auto mode : {MemoryFileSystem::CutMode::kDropUnsynced, MemoryFileSystem::CutMode::kKeepUnsynced,
                            MemoryFileSystem::CutMode::kRandom}) {
      SCOPED_TRACE("operation " + std::to_string(n) + ", mode " + std::to_string(static_cast<int>(mode)));
      const auto left = fs.AfterPowerCut(mode, n);
      auto again = chunk::Manifest::Open(*left, "db", nullptr);
      ASSERT_TRUE(again.ok()) << again.status().ToString();
      const chunk::ManifestState& state = (*again)->state();
      ASSERT_TRUE(RemoveOrphans(*left, "db", state, nullptr).ok());
      EXPECT_EQ(CountFiles(*left), state.chunk_files.size());
      SampleTable found;
      for (const chunk::ChunkFileMeta& meta : state.chunk_files) {
        Overlay(ReadTable(*left, meta), &found);
      }
      EXPECT_EQ(found, two.expected);
      EXPECT_TRUE(!acknowledged || state.chunk_files[0].level != kLevelFlushed);
    }
  }
}

TEST(Partition, SpansAreAlignedAndHoldTheirTime) {
  std::mt19937_64 random(4);
  for (std::uint32_t level = kLevelWarmDay; level <= kLevelLongest; ++level) {
    const Timestamp length = SpanDays(level) * kDay;
    for (int i = 0; i < 1000; ++i) {
      const auto time = static_cast<Timestamp>(random()) >> (random() % 40);
      const TimeRange span = SpanOf(std::max(time, kTimestampMin), level, TimeUnit::kMilliseconds);
      ASSERT_TRUE(span.Contains(std::max(time, kTimestampMin)));
      if (span.from != kTimestampMin && span.to != kTimestampMax) {
        ASSERT_EQ(span.from % length, 0);
        ASSERT_EQ(span.to - span.from, length - 1);
      }
    }
  }
  EXPECT_EQ(SpanDays(kLevelLongest), 512);
  EXPECT_EQ(SpanOf(-1, kLevelDay, TimeUnit::kSeconds).from, -86'400);
}

}  // namespace
}  // namespace tsdb::compaction
