#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <random>
#include <thread>

#include "compaction/partition.h"
#include "engine/merge_hold.h"
#include "tests/engine/engine_test_util.h"

namespace tsdb::engine {
namespace {

constexpr Timestamp kDay = 86'400'000;
constexpr Timestamp kStart = 1'704'067'200'000;  // 2024-01-01

/// A database whose clock stands at 2024-03-01.
class CompactTest : public testing::Test {
 protected:
  void SetUp() override {
    clock_.Advance((kStart + 60 * kDay) * 1'000'000 - clock_.WallNanos());
    Open();
  }
  void Open() { TSDB_ASSERT_OPEN(db_, "/db", QuietOptions(), MemoryEnvironment(&fs_, &clock_)); }
  /// Opens again with the background at work.
  void OpenBusy() {
    TSDB_ASSERT_OK(db_->Close());
    TSDB_ASSERT_OPEN(db_, "/db", OpenOptions(), MemoryEnvironment(&fs_, &clock_));
  }

  /// Appends samples of some series at random times of [from, to) and flushes.
  void AppendFile(std::mt19937_64& random, std::size_t samples, Timestamp from, Timestamp to) {
    WriteBatch batch;
    for (std::size_t i = 0; i < samples; ++i) {
      const auto time = from + static_cast<Timestamp>(random() % static_cast<std::uint64_t>(to - from));
      batch.Add(Series("m", std::to_string(random() % 5)), time, static_cast<double>(random() % 1000) / 10);
    }
    ASSERT_TRUE(db_->Append(batch).ok());
    TSDB_ASSERT_OK(db_->Flush());
  }
  std::size_t CountChunkFiles() { return fs_.List("/db/chunks")->size(); }

  MemoryFileSystem fs_;
  FakeClock clock_;
  std::unique_ptr<Database> db_;
};

TEST_F(CompactTest, RowsAreTheSameBeforeAndAfterAndAfterReopening) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    for (int file = 0; file < 6; ++file) {
      const Timestamp from = kStart + static_cast<Timestamp>(random() % 30) * kDay;
      const Timestamp length = random() % 2 == 0 ? kDay / 4 : static_cast<Timestamp>(1 + random() % 40) * 1000;
      ASSERT_NO_FATAL_FAILURE(AppendFile(random, 500, from, from + length));
    }
    const Contents before = ReadAll(*db_);
    const auto report = db_->Compact();
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_EQ(ReadAll(*db_), before);
    const Stats stats = db_->GetStats();
    EXPECT_EQ(stats.chunk_files, report->files_after);
    EXPECT_EQ(stats.samples_in_files, report->samples_after);
    EXPECT_EQ(CountChunkFiles(), report->files_after) << "what was merged is gone from the disk";
    EXPECT_LE(report->files_after, report->files_before);
    TSDB_ASSERT_OK(db_->Close());
    Open();
    EXPECT_EQ(ReadAll(*db_), before);
    EXPECT_EQ(db_->recovery_report().files_removed, 0u);
  }
}

TEST_F(CompactTest, LeavesADenseFilePerPartitionAndNothingToDo) {
  std::mt19937_64 random(1);
  for (const int day : {0, 1, 30, 55, 56, 57}) {
    ASSERT_NO_FATAL_FAILURE(AppendFile(random, 300, kStart + day * kDay, kStart + (day + 1) * kDay));
  }
  ASSERT_TRUE(db_->Compact().ok());
  const Stats stats = db_->GetStats();
  ASSERT_EQ(stats.chunk_files_by_level.size(), 5u) << "flushed, rest, warm days, days, 8 days";
  EXPECT_EQ(stats.chunk_files_by_level[0], 0u);
  EXPECT_EQ(stats.chunk_files_by_level[1], 0u);
  EXPECT_EQ(stats.chunk_files_by_level[2], 0u);
  EXPECT_GT(stats.chunk_files_by_level[3], 0u) << "the newest days";
  EXPECT_GT(stats.chunk_files_by_level[4], 0u) << "what is cold";
  const auto again = db_->Compact();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->merges, 0u);
  // A late sample goes into the partition that is there.
  ASSERT_NO_FATAL_FAILURE(AppendFile(random, 1, kStart + kDay, kStart + kDay + 1));
  const Contents before = ReadAll(*db_);
  ASSERT_TRUE(db_->Compact().ok());
  EXPECT_EQ(ReadAll(*db_), before);
  EXPECT_EQ(db_->GetStats().chunk_files, stats.chunk_files);
}

TEST_F(CompactTest, NewerSamplesReplaceOlderOnesForGood) {
  const SeriesRef ref = *db_->CreateSeries(Series("m"));
  for (int value = 1; value <= 3; ++value) {
    TSDB_ASSERT_OK(Put(*db_, ref, kStart, value));
    TSDB_ASSERT_OK(db_->Flush());
  }
  const auto report = db_->Compact();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->samples_before, 3u);
  EXPECT_EQ(report->samples_after, 1u);
  const std::vector<Sample> rows = ReadRows(*db_, {});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].value, 3);
}

TEST_F(CompactTest, AQueryThatRunsKeepsItsFiles) {
  std::mt19937_64 random(2);
  ASSERT_NO_FATAL_FAILURE(AppendFile(random, 3000, kStart, kStart + kDay));
  ASSERT_NO_FATAL_FAILURE(AppendFile(random, 3000, kStart, kStart + kDay));
  const Contents before = ReadAll(*db_);
  auto result = db_->Query({});
  ASSERT_TRUE(result.ok());
  ASSERT_TRUE((*result)->NextSeries());
  ASSERT_TRUE(db_->Compact().ok());
  EXPECT_EQ(CountChunkFiles(), 3u) << "two are still read";
  std::size_t rows = 0;
  ColumnBatch batch;
  do {
    while ((*result)->NextBatch(&batch)) {
      rows += batch.times.size();
    }
  } while ((*result)->NextSeries());
  TSDB_ASSERT_OK((*result)->status());
  std::size_t expected = 0;
  for (const auto& [key, samples] : before) {
    expected += samples.size();
  }
  EXPECT_EQ(rows, expected);
  result->reset();
  ASSERT_NO_FATAL_FAILURE(AppendFile(random, 1, kStart, kStart + kDay));
  EXPECT_EQ(CountChunkFiles(), 2u) << "the next edit takes them away";
}

TEST_F(CompactTest, CanBeCancelledAndSaysHowFarItIs) {
  std::mt19937_64 random(3);
  ASSERT_NO_FATAL_FAILURE(AppendFile(random, 5000, kStart, kStart + kDay));
  ASSERT_NO_FATAL_FAILURE(AppendFile(random, 5000, kStart, kStart + kDay));
  const Contents before = ReadAll(*db_);
  CompactOptions options;
  std::uint64_t total = 0;
  options.progress = [&](const JobProgress& progress) {
    total = progress.samples_total;
    return false;
  };
  EXPECT_EQ(db_->Compact(options).status().code(), StatusCode::kCancelled);
  EXPECT_GT(total, 5000u);
  EXPECT_EQ(CountChunkFiles(), 2u);
  EXPECT_EQ(ReadAll(*db_), before);
  EXPECT_EQ(db_->GetStats().merge_failures, 0u);
}

TEST_F(CompactTest, SaysWhenThereIsNoRoomAndGoesOnServing) {
  std::mt19937_64 random(4);
  ASSERT_NO_FATAL_FAILURE(AppendFile(random, 5000, kStart, kStart + kDay));
  ASSERT_NO_FATAL_FAILURE(AppendFile(random, 5000, kStart, kStart + kDay));
  const Contents before = ReadAll(*db_);
  fs_.SetFreeBytes(1 << 20);
  EXPECT_EQ(db_->Compact().status().code(), StatusCode::kNoSpace);
  EXPECT_EQ(ReadAll(*db_), before);
  EXPECT_EQ(db_->GetStats().merge_failures, 1u);
  fs_.SetFreeBytes(100 << 20);
  EXPECT_TRUE(db_->Compact().ok());
  EXPECT_EQ(ReadAll(*db_), before);
}

TEST_F(CompactTest, LeavesADamagedFileAloneAndMergesTheOthers) {
  std::mt19937_64 random(5);
  for (int day = 0; day < 3; ++day) {
    ASSERT_NO_FATAL_FAILURE(AppendFile(random, 2000, kStart + day * kDay, kStart + (day + 1) * kDay));
    ASSERT_TRUE(db_->Compact().ok());
  }
  ASSERT_NO_FATAL_FAILURE(AppendFile(random, 2000, kStart, kStart + kDay));
  const auto entries = fs_.List("/db/chunks");
  const std::string path = "/db/chunks/" + entries->front().name;
  std::string bytes = *fs_.ReadWhole(path);
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  fs_.WriteWhole(path, bytes);
  const auto report = db_->Compact();
  EXPECT_EQ(report.status().code(), StatusCode::kCorruption);
  EXPECT_NE(report.status().message().find(entries->front().name), std::string_view::npos);
  EXPECT_TRUE(*fs_.Exists(path));
  EXPECT_EQ(db_->GetStats().chunk_files_by_level[0], 0u) << "the flushed one was cut";
}

TEST_F(CompactTest, RunsBesideWritersFlushesAndReaders) {
  std::mt19937_64 random(6);
  const SeriesRef ref = *db_->CreateSeries(Series("live"));
  std::atomic<bool> stop{false};
  std::atomic<int> written{0};
  std::thread writer([&] {
    while (!stop.load()) {
      ASSERT_TRUE(Put(*db_, ref, kStart + written.load(), written.load()).ok());
      if (written.fetch_add(1) % 50 == 0) {
        ASSERT_TRUE(db_->Flush().ok());
      }
    }
  });
  std::thread reader([&] {
    QuerySpec spec;
    spec.selector = *Selector::Parse("live");
    while (!stop.load()) {
      const auto least = static_cast<std::size_t>(written.load());
      const std::vector<Sample> rows = ReadRows(*db_, spec);
      ASSERT_GE(rows.size(), least);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i].value, static_cast<double>(i));
      }
    }
  });
  // Until enough of them found something to merge; how fast the writer is decides how many that takes.
  bool compacted = true;
  while (compacted && db_->GetStats().merges <= 10) {
    const auto report = db_->Compact();
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    compacted = report.ok();
  }
  stop = true;
  writer.join();
  reader.join();
  EXPECT_GT(db_->GetStats().merges, 10u);
  EXPECT_GT(db_->GetStats().write_amplification, 1.0);
}

TEST_F(CompactTest, TheBackgroundMergesByItself) {
  ASSERT_NO_FATAL_FAILURE(OpenBusy());
  std::mt19937_64 random(7);
  for (int i = 0; i < 10; ++i) {
    ASSERT_NO_FATAL_FAILURE(AppendFile(random, 100, kStart, kStart + kDay));
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (db_->GetStats().merges == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  const Contents before = ReadAll(*db_);
  TSDB_ASSERT_OK(db_->Close());
  Open();
  EXPECT_EQ(ReadAll(*db_), before);
  EXPECT_LT(db_->GetStats().chunk_files, 10u);
}

TEST_F(CompactTest, NothingIsMergedWhileMergingIsPausedUnlessAskedFor) {
  ASSERT_NO_FATAL_FAILURE(OpenBusy());
  db_->PauseMerging();
  EXPECT_TRUE(db_->GetStats().merging_paused);
  std::mt19937_64 random(8);
  for (int i = 0; i < 6; ++i) {
    ASSERT_NO_FATAL_FAILURE(AppendFile(random, 100, kStart, kStart + kDay));
  }
  TSDB_ASSERT_OK(db_->Close());
  Open();
  EXPECT_EQ(db_->GetStats().chunk_files, 6u);
  ASSERT_NO_FATAL_FAILURE(OpenBusy());
  db_->PauseMerging();
  EXPECT_TRUE(db_->Compact().ok());
  EXPECT_EQ(db_->GetStats().chunk_files, 1u);
}

TEST_F(CompactTest, NothingIsMergedWhileAFileInTheFolderHoldsIt) {
  ASSERT_NO_FATAL_FAILURE(OpenBusy());
  TSDB_ASSERT_OK(SetMergeHold(fs_, "/db", true));
  TSDB_ASSERT_OK(SetMergeHold(fs_, "/db", true));
  EXPECT_TRUE(db_->GetStats().merging_paused);
  std::mt19937_64 random(8);
  for (int i = 0; i < 6; ++i) {
    ASSERT_NO_FATAL_FAILURE(AppendFile(random, 100, kStart, kStart + kDay));
  }
  TSDB_ASSERT_OK(db_->Close());
  ASSERT_NO_FATAL_FAILURE(OpenBusy());  // it is still there
  EXPECT_EQ(db_->GetStats().chunk_files, 6u);
  EXPECT_EQ(db_->GetStats().merges, 0u);
  TSDB_ASSERT_OK(SetMergeHold(fs_, "/db", false));
  TSDB_ASSERT_OK(SetMergeHold(fs_, "/db", false));
  EXPECT_FALSE(db_->GetStats().merging_paused);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (db_->GetStats().merges == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_GT(db_->GetStats().merges, 0u);
  EXPECT_EQ(SetMergeHold(fs_, "/elsewhere", true).code(), StatusCode::kNotFound);
}

/// One sample is written, the retention changed, the sample written anew; the files are merged in every order, by what
/// is due or into the final form. What was written last is what is read.
TEST_F(CompactTest, ARetentionChangedBetweenTwoWritesOfOneTimeChangesNoOrder) {
  enum class Then { kFlush, kFinal, kPurge, kReopen };  // closing runs what is due
  constexpr std::array kThen{Then::kFlush, Then::kFinal, Then::kPurge, Then::kReopen};
  constexpr std::array<std::int64_t, 3> kAges{0, 10 * kDay, 1000 * kDay};
  int number = 0;
  for (const Then first : kThen) {
    for (const Then second : kThen) {
      for (const Then third : kThen) {
        for (const std::int64_t age : kAges) {
          const SeriesRef ref = *db_->CreateSeriesByKey("s" + std::to_string(++number), {});
          const auto run = [&](Then then) {
            if (then == Then::kFlush) {
              TSDB_ASSERT_OK(db_->Flush());
            } else if (then == Then::kReopen) {
              TSDB_ASSERT_OK(db_->Close());
              ASSERT_NO_FATAL_FAILURE(Open());
            } else {
              CompactOptions options;
              options.purge = then == Then::kPurge;
              ASSERT_TRUE(db_->Compact(options).ok());
            }
          };
          // Two cold days and a warm one, so that the versions of a time lie in partitions, in the rest, and flushed.
          for (const Timestamp time : {kStart, kStart + kDay, kStart + 40 * kDay}) {
            TSDB_ASSERT_OK(Put(*db_, ref, time, 1));
          }
          ASSERT_NO_FATAL_FAILURE(run(first));
          SeriesChange change;
          change.retention = age;
          TSDB_ASSERT_OK(db_->Alter(ref, change));
          TSDB_ASSERT_OK(Put(*db_, ref, kStart + 40 * kDay, 2));
          const bool kept = age != 10 * kDay;
          EXPECT_EQ(Put(*db_, ref, kStart, 2).ok(), kept);
          ASSERT_NO_FATAL_FAILURE(run(second));
          change.retention = 0;
          TSDB_ASSERT_OK(db_->Alter(ref, change));
          ASSERT_NO_FATAL_FAILURE(run(third));
          QuerySpec spec;
          spec.selector = Selector::ForKey("s" + std::to_string(number));
          std::map<Timestamp, double> found;
          for (const Sample& sample : ReadRows(*db_, spec)) {
            found[sample.time] = sample.value;
          }
          std::map<Timestamp, double> expected{{kStart + 40 * kDay, 2}};
          if (kept) {
            expected.insert({{kStart, 2}, {kStart + kDay, 1}});
          }
          EXPECT_EQ(found, expected) << number;
          TSDB_ASSERT_OK(db_->Drop(Selector::ForKey("s" + std::to_string(number)), {.grace_ms = 0}).status());
        }
      }
    }
  }
}

TEST_F(CompactTest, UsageCountsEveryChunkBySeries) {
  std::mt19937_64 random(9);
  ASSERT_NO_FATAL_FAILURE(AppendFile(random, 5000, kStart, kStart + kDay));
  ASSERT_TRUE(db_->Compact().ok());
  const auto usage = db_->MeasureUsage(Selector());
  ASSERT_TRUE(usage.ok()) << usage.status().ToString();
  ASSERT_EQ(usage->size(), 5u);
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
  for (const SeriesUsage& series : *usage) {
    EXPECT_EQ(series.chunks, 1u);
    ASSERT_EQ(series.encodings.size(), 1u);
    EXPECT_EQ(series.encodings[0].bytes, series.value_bytes);
    EXPECT_EQ(series.series.labels.Get("__name__"), "m");
    samples += series.samples;
    bytes += series.bytes();
  }
  const Stats stats = db_->GetStats();
  EXPECT_EQ(samples, stats.samples_in_files);
  EXPECT_LE(bytes, stats.chunk_file_bytes);
  EXPECT_GT(bytes, stats.chunk_file_bytes * 9 / 10);
  EXPECT_TRUE(std::ranges::is_sorted(*usage, std::greater(), &SeriesUsage::bytes));
}

TEST_F(CompactTest, AfterCloseIsRefused) {
  TSDB_ASSERT_OK(db_->Close());
  EXPECT_EQ(db_->Compact().status().code(), StatusCode::kClosed);
}

}  // namespace
}  // namespace tsdb::engine
