// What the log does when the disk is full, a write fails or a sync fails: what it answers, and how it goes on.
#include <gtest/gtest.h>

#include "tests/wal/faulty_file_system.h"
#include "tests/wal/wal_test_util.h"

namespace tsdb::wal {
namespace {

using CutMode = MemoryFileSystem::CutMode;

/// The next operations of one name fail, this often.
FaultyFileSystem::Plan Fail(std::string name, int times, Fault::Effect effect = Fault::Effect::kNone,
                            StatusCode code = StatusCode::kIoError) {
  return [=, left = times](std::uint64_t, std::string_view operation) mutable {
    return operation == name && left > 0 && left-- > 0 ? Fault{{code, "injected"}, effect} : Fault{};
  };
}

TEST(LogFailure, AFullDiskRefusesAndWritingResumesByItself) {
  MemoryFileSystem fs;
  fs.SetFreeBytes(8192);
  std::vector<StatusCode> changes;
  LogOptions options = TestOptions();
  options.on_state_change = [&](const Status& status) { changes.push_back(status.code()); };
  auto log = MustOpen(fs, options);
  std::vector<std::uint64_t> acknowledged;
  Written written = WriteNext(*log, Durability::kAlways);
  while (written.status.ok()) {
    acknowledged.push_back(written.commit);
    written = WriteNext(*log, Durability::kAlways);
  }
  EXPECT_EQ(written.status.code(), StatusCode::kNoSpace);
  EXPECT_GT(*TreeBytes(fs, kDirectory), 8192u - 200u) << "the last bytes of the disk are used";
  const std::uint64_t full = *TreeBytes(fs, kDirectory);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(WriteNext(*log, Durability::kAlways).status.code(), StatusCode::kNoSpace);
  }
  EXPECT_EQ(log->GetStats().error.code(), StatusCode::kNoSpace);
  EXPECT_EQ(*TreeBytes(fs, kDirectory), full) << "nothing of a refused write is on disk";
  EXPECT_EQ(ReplayAll(fs).commits(), acknowledged);

  fs.SetFreeBytes(1 << 20);
  for (int i = 0; i < 20; ++i) {
    written = WriteNext(*log, Durability::kAlways);
    ASSERT_TRUE(written.status.ok());
    acknowledged.push_back(written.commit);
  }
  EXPECT_TRUE(log->GetStats().error.ok());
  EXPECT_EQ(changes, (std::vector<StatusCode>{StatusCode::kNoSpace, StatusCode::kOk}));
  log.reset();
  const auto cut = fs.AfterPowerCut(CutMode::kDropUnsynced);
  EXPECT_EQ(ReplayAll(*cut).commits(), acknowledged);
  EXPECT_TRUE(ReplayAll(*cut).report.damage.empty());
  EXPECT_EQ(fs.List(kDirectory)->size(), 1u) << "a refusal needs no new segment";
}

TEST(LogFailure, AFullDiskAtANewSegmentLeavesNoFileBehind) {
  MemoryFileSystem fs;
  LogOptions options = TestOptions();
  options.reserve_bytes = 1;  // closing the old segment must not give back enough for the new one
  auto log = MustOpen(fs, options);
  ASSERT_TRUE(WriteNext(*log).status.ok());
  log->RequestRoll();
  fs.SetFreeBytes(10);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(WriteNext(*log).status.code(), StatusCode::kNoSpace);
  }
  EXPECT_EQ(fs.List(kDirectory)->size(), 1u);
  fs.SetFreeBytes(1 << 20);
  ASSERT_TRUE(WriteNext(*log).status.ok());
  EXPECT_EQ(ReplayAll(fs).commits(), (std::vector<std::uint64_t>{1, 7}));
  EXPECT_TRUE(ReplayAll(fs).report.damage.empty());
}

TEST(LogFailure, AWriteThatFailsForSpaceMidwayIsFailedNotRefused) {
  MemoryFileSystem memory;
  FaultyFileSystem fs(memory);
  auto log = MustOpen(fs);
  ASSERT_TRUE(WriteNext(*log).status.ok());
  fs.set_plan(Fail("Append", 1, Fault::Effect::kHalf, StatusCode::kNoSpace));
  const Written written = WriteNext(*log);
  EXPECT_EQ(written.status.code(), StatusCode::kIoError);
  EXPECT_NE(written.status.message().find("no space"), std::string::npos) << written.status.ToString();
  ASSERT_TRUE(WriteNext(*log).status.ok());
  EXPECT_EQ(ReplayAll(memory).commits(), (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(ReplayAll(memory).report.last_segment, 2u);
}

TEST(LogFailure, AFailedWriteThatReachedTheDiskIsVoidOnceWritingResumed) {
  MemoryFileSystem memory;
  FaultyFileSystem fs(memory);
  auto log = MustOpen(fs);
  ASSERT_TRUE(WriteNext(*log).status.ok());
  fs.set_plan(Fail("Append", 1, Fault::Effect::kWhole));
  EXPECT_EQ(WriteNext(*log, Durability::kAlways).status.code(), StatusCode::kIoError);
  EXPECT_EQ(ReplayAll(memory).commits(), UpTo(2)) << "before that it is there whole or not at all";
  ASSERT_TRUE(WriteNext(*log).status.ok());
  const Replayed replayed = ReplayAll(memory);
  EXPECT_EQ(replayed.commits(), (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(replayed.report.commits_skipped, 1u);
  EXPECT_EQ(replayed.report.last_commit, CommitNumber{3});
  EXPECT_TRUE(replayed.report.damage.empty());
}

TEST(LogFailure, AFailedGroupFailsWhatIsQueuedAndRaisesTheEpoch) {
  MemoryFileSystem memory;
  FaultyFileSystem fs(memory);
  auto log = MustOpen(fs);
  ASSERT_TRUE(WriteNext(*log).status.ok());
  const std::uint64_t epoch = log->epoch();
  const std::string big(3 << 20, 'x');  // a group takes at most 4 MiB, so the second is queued behind the first
  LogRecord first;
  LogRecord second;
  first.payload = big;
  second.payload = big;
  ASSERT_TRUE(log->Enqueue(&first, Durability::kNone, epoch));
  ASSERT_TRUE(log->Enqueue(&second, Durability::kNone, epoch));
  fs.set_plan(Fail("Append", 1));
  EXPECT_EQ(log->Write(&second).code(), StatusCode::kIoError);
  EXPECT_EQ(first.state(), LogRecord::State::kFailed);
  EXPECT_EQ(log->Write(&first).code(), StatusCode::kIoError);
  EXPECT_GT(log->epoch(), epoch);
  LogRecord late;
  EXPECT_FALSE(log->Enqueue(&late, Durability::kNone, epoch));
  EXPECT_TRUE(log->SyncThrough({3}).ok()) << "numbers that failed count as done";
  EXPECT_EQ(log->last_synced(), CommitNumber{3});
  ASSERT_TRUE(WriteNext(*log).status.ok());
  EXPECT_EQ(ReplayAll(memory).commits(), (std::vector<std::uint64_t>{1, 4}));
}

TEST(LogFailure, AFailedSyncWritesWhatIsUnsyncedIntoANewSegment) {
  MemoryFileSystem memory;
  FaultyFileSystem fs(memory);
  auto log = MustOpen(fs);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(WriteNext(*log).status.ok());
  }
  fs.set_plan(Fail("Sync", 1));
  ASSERT_TRUE(WriteNext(*log, Durability::kAlways).status.ok());
  const auto cut = memory.AfterPowerCut(CutMode::kDropUnsynced);
  EXPECT_EQ(ReplayAll(*cut).commits(), UpTo(6));
  EXPECT_EQ(ReplayAll(*cut).report.last_segment, 2u);
  EXPECT_TRUE(ReplayAll(*cut).report.damage.empty());
  EXPECT_EQ(ReplayAll(memory).commits(), UpTo(6));
  ASSERT_TRUE(WriteNext(*log).status.ok());
  EXPECT_EQ(ReplayAll(memory).commits(), UpTo(7));
}

TEST(LogFailure, ASyncThatFailsTwiceFailsTheGroupAndKeepsTheOlderOnes) {
  MemoryFileSystem memory;
  FaultyFileSystem fs(memory);
  auto log = MustOpen(fs);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(WriteNext(*log).status.ok());
  }
  fs.set_plan(Fail("Sync", 2));
  EXPECT_EQ(WriteNext(*log, Durability::kAlways).status.code(), StatusCode::kIoError);
  EXPECT_LT(log->last_synced(), CommitNumber{5});
  ASSERT_TRUE(log->SyncThrough({5}).ok()) << "the next sync writes them again";
  EXPECT_EQ(ReplayAll(*memory.AfterPowerCut(CutMode::kDropUnsynced)).commits(), UpTo(5));
  ASSERT_TRUE(WriteNext(*log).status.ok());
  EXPECT_EQ(ReplayAll(memory).commits(), (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 7}));
}

TEST(LogFailure, ASyncThatFailedIsNeverTrustedLater) {
  MemoryFileSystem memory;
  FaultyFileSystem fs(memory);
  auto log = MustOpen(fs);
  ASSERT_TRUE(WriteNext(*log).status.ok());
  ASSERT_TRUE(WriteNext(*log).status.ok());
  fs.set_plan(Fail("Sync", 2));
  EXPECT_EQ(log->SyncNow().code(), StatusCode::kIoError);
  EXPECT_EQ(log->last_synced(), CommitNumber{1});
  EXPECT_EQ(log->GetStats().error.code(), StatusCode::kIoError);
  ASSERT_TRUE(log->SyncNow().ok());
  EXPECT_TRUE(log->GetStats().error.ok());
  EXPECT_EQ(log->last_synced(), CommitNumber{2});
  const Replayed replayed = ReplayAll(*memory.AfterPowerCut(CutMode::kDropUnsynced));
  EXPECT_EQ(replayed.commits(), UpTo(2));
  EXPECT_GE(replayed.report.last_segment, 2u) << "rewritten, not synced again in place";
}

TEST(LogFailure, SaysWhyItCannotBeOpened) {
  MemoryFileSystem memory;
  FaultyFileSystem fs(memory);
  { ASSERT_TRUE(WriteNext(*MustOpen(fs)).status.ok()); }
  for (const char* operation : {"CreateDirectories", "SyncDirectory", "OpenWritable", "Sync"}) {
    fs.set_plan(Fail(operation, 1));
    EXPECT_EQ(TryOpen(fs, OptionsAfter(ReplayAll(memory).report)).status().code(), StatusCode::kIoError) << operation;
  }
}

TEST(LogFailure, SyncsWhatAnEarlierProcessLeftUnsynced) {
  MemoryFileSystem fs;
  {
    auto log = MustOpen(fs);
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(WriteNext(*log).status.ok());
    }
  }
  const Replayed replayed = ReplayAll(fs);
  auto log = MustOpen(fs, OptionsAfter(replayed.report));
  ASSERT_TRUE(WriteNext(*log, Durability::kAlways).status.ok());
  EXPECT_EQ(ReplayAll(*fs.AfterPowerCut(CutMode::kDropUnsynced)).commits(), UpTo(6));
}

}  // namespace
}  // namespace tsdb::wal
