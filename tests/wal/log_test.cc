#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "tests/wal/wal_test_util.h"

namespace tsdb::wal {
namespace {

TEST(Log, GivesBackWhatWasWritten) {
  MemoryFileSystem fs;
  auto log = MustOpen(fs);
  for (std::uint64_t n = 1; n <= 100; ++n) {
    const Written written = WriteNext(*log);
    ASSERT_TRUE(written.status.ok()) << written.status.ToString();
    ASSERT_EQ(written.commit, n);
  }
  log.reset();
  const Replayed replayed = ReplayAll(fs);
  EXPECT_EQ(replayed.commits(), UpTo(100));
  EXPECT_TRUE(ContentIsRight(replayed.recorder));
  EXPECT_TRUE(replayed.report.damage.empty());
  EXPECT_EQ(replayed.report.commits, 100u);
  EXPECT_EQ(replayed.report.groups, 100u);
  EXPECT_EQ(replayed.report.last_commit, CommitNumber{100});
  EXPECT_EQ(replayed.report.last_valid_commit, CommitNumber{100});
}

TEST(Log, CreatesNoSegmentBeforeTheFirstWrite) {
  MemoryFileSystem fs;
  auto log = MustOpen(fs);
  ASSERT_TRUE(log->SyncNow().ok());
  EXPECT_EQ(log->GetStats().segments, 0u);
  EXPECT_TRUE(fs.List(kDirectory)->empty());
}

TEST(Log, WritesQueuedRecordsAsOneGroupWithOneSync) {
  MemoryFileSystem fs;
  auto log = MustOpen(fs);
  ASSERT_TRUE(WriteNext(*log).status.ok());
  const LogStats before = log->GetStats();
  std::vector<LogRecord> records(50);
  std::vector<std::string> payloads;
  for (std::size_t i = 0; i < records.size(); ++i) {
    payloads.push_back(PayloadOf(log->last_assigned().value + 1));
    records[i].payload = payloads.back();
    ASSERT_TRUE(log->Enqueue(&records[i], i == 20 ? Durability::kAlways : Durability::kNone, log->epoch()));
  }
  // The last one leads for all; the others find their records done.
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    ASSERT_TRUE(log->Write(&*record).ok());
  }
  const LogStats after = log->GetStats();
  EXPECT_EQ(after.groups, before.groups + 1);
  EXPECT_EQ(after.syncs, before.syncs + 1);
  EXPECT_EQ(after.commits, 51u);
  EXPECT_EQ(after.last_synced, CommitNumber{51});
  EXPECT_EQ(ReplayAll(fs).commits(), UpTo(51));
}

TEST(Log, SharesSyncsBetweenThreads) {
  MemoryFileSystem fs;
  auto log = MustOpen(fs);
  constexpr int kThreads = 8;
  constexpr int kWrites = 200;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kWrites; ++i) {
        RecordBuilder builder;
        builder.AddPuts(std::vector<Put>{{{static_cast<std::uint64_t>(t) + 1}, i, static_cast<double>(i)}});
        LogRecord record;
        record.payload = builder.payload();
        const auto level = static_cast<Durability>((t + i) % 3);
        if (!log->Enqueue(&record, level, log->epoch()) || !log->Write(&record).ok() ||
            (level == Durability::kAlways && log->last_synced() < record.commit())) {
          ++failures;
        }
        if (i % 50 == 0 && !log->SyncThrough(record.commit()).ok()) {
          ++failures;
        }
        if (i % 70 == 0) {
          log->RequestRoll();
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(failures, 0);
  const LogStats stats = log->GetStats();
  EXPECT_EQ(stats.commits, static_cast<std::uint64_t>(kThreads * kWrites));
  log.reset();
  const Replayed replayed = ReplayAll(fs);
  EXPECT_EQ(replayed.commits(), UpTo(kThreads * kWrites));
  std::vector<Timestamp> next(kThreads + 1, 0);
  for (const auto& [commit, puts] : replayed.recorder.puts) {
    ASSERT_EQ(puts.size(), 1u);
    EXPECT_EQ(puts[0].time, next[puts[0].id.value]++) << "a thread's writes keep their order";
  }
}

TEST(Log, KeepsOneThreadsQueueWhileOthersSync) {
  MemoryFileSystem fs;
  auto log = MustOpen(fs);
  std::atomic<bool> stop{false};
  std::thread syncer([&] {
    while (!stop) {
      EXPECT_TRUE(log->SyncNow().ok());
      EXPECT_TRUE(log->RemoveThrough({0}, false).ok());
      (void)log->GetStats();
    }
  });
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(WriteNext(*log).status.ok());
  }
  stop = true;
  syncer.join();
  EXPECT_EQ(ReplayAll(fs).commits(), UpTo(2000));
}

TEST(Log, SyncThreadSyncsIntervalRecords) {
  MemoryFileSystem fs;
  LogOptions options = TestOptions();
  options.sync_interval_ms = 1;
  auto log = MustOpen(fs, options);
  for (int i = 0; i < 20; ++i) {
    const Written written = WriteNext(*log, Durability::kInterval);
    ASSERT_TRUE(written.status.ok());
    while (log->last_synced().value < written.commit) {  // the test's time limit ends it when the thread does not
      std::this_thread::yield();
    }
  }
  EXPECT_EQ(ReplayAll(*fs.AfterPowerCut(MemoryFileSystem::CutMode::kDropUnsynced)).commits(), UpTo(20));
}

TEST(Log, SyncThroughCoversQueuedRecords) {
  MemoryFileSystem fs;
  auto log = MustOpen(fs);
  ASSERT_TRUE(WriteNext(*log).status.ok());
  LogRecord record;
  const std::string payload = PayloadOf(2);
  record.payload = payload;
  ASSERT_TRUE(log->Enqueue(&record, Durability::kNone, log->epoch()));
  ASSERT_TRUE(log->SyncThrough({2}).ok());
  EXPECT_EQ(record.state(), LogRecord::State::kWritten);
  EXPECT_EQ(log->last_synced(), CommitNumber{2});
  ASSERT_TRUE(log->Write(&record).ok());
  const std::uint64_t operations = fs.operations();
  ASSERT_TRUE(log->SyncThrough({1}).ok());
  EXPECT_EQ(fs.operations(), operations) << "already synced: no operation";
  EXPECT_EQ(log->SyncThrough({3}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ReplayAll(*fs.AfterPowerCut(MemoryFileSystem::CutMode::kDropUnsynced)).commits(), UpTo(2));
}

TEST(Log, RefusesARecordJudgedInAnOlderEpoch) {
  MemoryFileSystem fs;
  auto log = MustOpen(fs);
  LogRecord record;
  EXPECT_FALSE(log->Enqueue(&record, Durability::kNone, log->epoch() + 1));
  EXPECT_EQ(log->last_assigned(), CommitNumber{0});
}

TEST(Log, RollsAtItsSizeAndOnRequest) {
  MemoryFileSystem fs;
  LogOptions options = TestOptions();
  options.segment_bytes_max = 1024;
  auto log = MustOpen(fs, options);
  while (log->GetStats().segments < 4) {
    ASSERT_TRUE(WriteNext(*log).status.ok());
  }
  log->RequestRoll();
  ASSERT_TRUE(WriteNext(*log).status.ok());
  EXPECT_EQ(log->GetStats().segments, 5u);
  const auto entries = fs.List(kDirectory);
  ASSERT_TRUE(entries.ok());
  for (const DirectoryEntry& entry : *entries) {
    EXPECT_LE(entry.bytes, 1024u);
  }
  EXPECT_EQ(log->GetStats().bytes, *TreeBytes(fs, kDirectory));
  EXPECT_EQ(ReplayAll(fs).commits(), UpTo(log->last_assigned().value));
  EXPECT_EQ(ReplayAll(fs).report.segments, 5u);
}

TEST(Log, RemovesOnlySegmentsBelowTheCommit) {
  MemoryFileSystem fs;
  auto log = MustOpen(fs);
  for (int segment = 0; segment < 4; ++segment) {  // commits 1-3, 4-6, 7-9, 10-12
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(WriteNext(*log).status.ok());
    }
    log->RequestRoll();
  }
  ASSERT_TRUE(log->RemoveThrough({5}, true).ok());
  EXPECT_EQ(log->GetStats().segments, 3u);
  const Replayed some = ReplayAll(fs, 5);
  EXPECT_EQ(some.commits(), (std::vector<std::uint64_t>{6, 7, 8, 9, 10, 11, 12}));
  EXPECT_TRUE(some.report.damage.empty());
  EXPECT_EQ(some.report.commits_skipped, 2u);

  ASSERT_TRUE(log->RemoveThrough({12}, false).ok());
  EXPECT_EQ(log->GetStats().segments, 1u);
  ASSERT_TRUE(log->RemoveThrough({11}, true).ok());
  EXPECT_EQ(log->GetStats().segments, 1u);
  ASSERT_TRUE(log->RemoveThrough({12}, true).ok());
  EXPECT_TRUE(fs.List(kDirectory)->empty());
  EXPECT_TRUE(ReplayAll(fs, 12).report.damage.empty());

  ASSERT_TRUE(WriteNext(*log).status.ok());
  const Replayed rest = ReplayAll(fs, 12);
  EXPECT_EQ(rest.commits(), (std::vector<std::uint64_t>{13}));
  EXPECT_TRUE(rest.report.damage.empty());
  EXPECT_EQ(rest.report.last_segment, 5u);
}

TEST(Log, GoesOnBehindWhatReplayFound) {
  MemoryFileSystem fs;
  LogOptions options = TestOptions();
  for (int run = 0; run < 5; ++run) {
    auto log = MustOpen(fs, options);
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(WriteNext(*log).status.ok());
    }
    log.reset();
    const Replayed replayed = ReplayAll(fs);
    EXPECT_TRUE(replayed.report.damage.empty());
    EXPECT_EQ(replayed.commits(), UpTo(static_cast<std::uint64_t>(run) * 4 + 4));
    options = OptionsAfter(replayed.report);
  }
  // Segments of earlier runs are removed by what the headers behind them say.
  auto log = MustOpen(fs, options);
  ASSERT_TRUE(log->RemoveThrough({8}, true).ok());
  EXPECT_EQ(log->GetStats().segments, 3u);
  ASSERT_TRUE(log->RemoveThrough({20}, false).ok());
  EXPECT_EQ(log->GetStats().segments, 0u);
}

TEST(Log, SyncsWhenTooMuchIsUnsynced) {
  MemoryFileSystem fs;
  LogOptions options = TestOptions();
  options.unsynced_bytes_max = 1000;
  auto log = MustOpen(fs, options);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(WriteNext(*log).status.ok());
    EXPECT_LE(log->last_assigned().value - log->last_synced().value, 12u);
  }
}

TEST(Log, WallTimeNeverGoesBack) {
  MemoryFileSystem fs;
  FakeClock clock;
  auto log = Log::Open(fs, clock, kDirectory, TestOptions());
  ASSERT_TRUE(log.ok());
  ASSERT_TRUE(WriteNext(**log).status.ok());
  clock.SetWall(clock.WallNanos() - 1'000'000'000);
  ASSERT_TRUE(WriteNext(**log).status.ok());
  EXPECT_EQ(ReplayAll(fs).commits(), UpTo(2));  // the recorder checks the times
}

TEST(Log, GivesReservedSpaceBackWhenItIsClosed) {
  MemoryFileSystem fs;
  fs.SetFreeBytes(1 << 20);
  LogOptions options = TestOptions();
  options.reserve_bytes = 64 << 10;
  auto log = MustOpen(fs, options);
  ASSERT_TRUE(WriteNext(*log).status.ok());
  EXPECT_EQ(*fs.FreeBytes(kDirectory), (1u << 20) - (64u << 10));
  log.reset();
  EXPECT_EQ(*fs.FreeBytes(kDirectory), (1u << 20) - *TreeBytes(fs, kDirectory));
}

TEST(Log, RefusesOptionsThatContradictEachOther) {
  MemoryFileSystem fs;
  LogOptions options = TestOptions();
  options.last_valid_commit = {5};
  EXPECT_EQ(TryOpen(fs, options).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tsdb::wal
