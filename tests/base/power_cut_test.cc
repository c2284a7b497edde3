// What a power cut leaves in a MemoryFileSystem.
#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/memory_file_system.h"

namespace tsdb {
namespace {

using CutMode = MemoryFileSystem::CutMode;

// A file system with directory "d" whose entry is durable.
class PowerCutTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs_.CreateDirectories("d").ok());
    ASSERT_TRUE(fs_.SyncDirectory("").ok());
  }
  // A file with durable bytes and, when `synced_entry`, a durable entry.
  void Write(const std::string& path, std::string_view data, bool synced_entry = true) {
    auto file = fs_.OpenWritable(path, OpenMode::kTruncate);
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    ASSERT_TRUE((*file)->Append(data).ok());
    ASSERT_TRUE((*file)->Sync().ok());
    if (synced_entry) {
      ASSERT_TRUE(fs_.SyncDirectory(ParentPath(path)).ok());
    }
  }
  // Contents after the cut; "(none)" when the file is gone.
  std::string After(const std::string& path, CutMode mode = CutMode::kDropUnsynced, std::uint64_t seed = 0) const {
    const auto data = fs_.AfterPowerCut(mode, seed)->ReadWhole(path);
    return data.ok() ? *data : "(none)";
  }
  // All outcomes of random cuts.
  std::set<std::string> Outcomes(const std::string& path, std::uint64_t seeds = 200) const {
    std::set<std::string> outcomes;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      outcomes.insert(After(path, CutMode::kRandom, seed));
    }
    return outcomes;
  }

  MemoryFileSystem fs_;
};

TEST_F(PowerCutTest, SyncedBytesStayAndUnsyncedOnesGo) {
  Write("d/f", "synced");
  auto file = *fs_.OpenWritable("d/f", OpenMode::kAppend);
  ASSERT_TRUE(file->Append("+lost").ok());
  EXPECT_EQ(After("d/f"), "synced");
  EXPECT_EQ(After("d/f", CutMode::kKeepUnsynced), "synced+lost");
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_EQ(After("d/f"), "synced+lost");
}

TEST_F(PowerCutTest, AFileWhoseEntryWasNotSyncedIsGone) {
  Write("d/f", "bytes", /*synced_entry=*/false);
  EXPECT_EQ(After("d/f"), "(none)");
  EXPECT_EQ(After("d/f", CutMode::kKeepUnsynced), "bytes");
  ASSERT_TRUE(fs_.SyncDirectory("d").ok());
  EXPECT_EQ(After("d/f"), "bytes");
}

TEST_F(PowerCutTest, AFileWhoseEntryAloneWasSyncedIsEmpty) {
  auto file = *fs_.OpenWritable("d/f", OpenMode::kCreate);
  ASSERT_TRUE(file->Append("bytes").ok());
  ASSERT_TRUE(fs_.SyncDirectory("d").ok());
  EXPECT_EQ(After("d/f"), "");
}

TEST_F(PowerCutTest, ARenameThatWasNotSyncedIsUndone) {
  Write("d/old", "1");
  Write("d/new", "2");
  ASSERT_TRUE(fs_.Rename("d/new", "d/old").ok());
  EXPECT_EQ(After("d/old"), "1");
  EXPECT_EQ(After("d/new"), "2");
  ASSERT_TRUE(fs_.SyncDirectory("d").ok());
  EXPECT_EQ(After("d/old"), "2");
  EXPECT_EQ(After("d/new"), "(none)");
}

TEST_F(PowerCutTest, ARemovalThatWasNotSyncedReappears) {
  Write("d/f", "bytes");
  ASSERT_TRUE(fs_.RemoveFile("d/f").ok());
  EXPECT_EQ(After("d/f"), "bytes");
  EXPECT_EQ(After("d/f", CutMode::kKeepUnsynced), "(none)");
  ASSERT_TRUE(fs_.SyncDirectory("d").ok());
  EXPECT_EQ(After("d/f"), "(none)");
}

TEST_F(PowerCutTest, ADirectoryNeedsASyncOfItsParent) {
  ASSERT_TRUE(fs_.CreateDirectories("d/e/f").ok());
  Write("d/e/f/x", "bytes");
  EXPECT_EQ(After("d/e/f/x"), "(none)");
  ASSERT_TRUE(fs_.SyncDirectory("d/e").ok());
  EXPECT_EQ(After("d/e/f/x"), "(none)") << "the entry of e in d is missing";
  ASSERT_TRUE(fs_.SyncDirectory("d").ok());
  EXPECT_EQ(After("d/e/f/x"), "bytes");
}

TEST_F(PowerCutTest, ATruncationThatWasNotSyncedIsUndone) {
  Write("d/f", "old");
  auto file = *fs_.OpenWritable("d/f", OpenMode::kTruncate);
  ASSERT_TRUE(file->Append("newer").ok());
  EXPECT_EQ(After("d/f"), "old");
  EXPECT_EQ(After("d/f", CutMode::kKeepUnsynced), "newer");
  const std::set<std::string> outcomes = Outcomes("d/f");
  EXPECT_EQ(outcomes.count("old"), 1u);
  EXPECT_EQ(outcomes.count("newer"), 1u);
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_EQ(After("d/f"), "newer");
}

TEST_F(PowerCutTest, ATreeThatWasRemovedReappearsWhole) {
  ASSERT_TRUE(fs_.CreateDirectories("d/e").ok());
  Write("d/e/x", "bytes");
  ASSERT_TRUE(fs_.SyncDirectory("d").ok());
  ASSERT_TRUE(fs_.RemoveAll("d/e").ok());
  EXPECT_EQ(After("d/e/x"), "bytes");
  const std::set<std::string> outcomes = Outcomes("d/e/x");
  EXPECT_EQ(outcomes, (std::set<std::string>{"bytes", "(none)"}));
  ASSERT_TRUE(fs_.SyncDirectory("d").ok());
  EXPECT_EQ(After("d/e/x"), "(none)");
}

TEST_F(PowerCutTest, AMoveToAnotherDirectoryNeverLosesTheFile) {
  ASSERT_TRUE(fs_.CreateDirectories("other").ok());
  ASSERT_TRUE(fs_.SyncDirectory("").ok());
  Write("d/f", "bytes");
  ASSERT_TRUE(fs_.Rename("d/f", "other/g").ok());
  EXPECT_EQ(After("d/f"), "bytes");
  EXPECT_EQ(After("other/g"), "(none)");
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto cut = fs_.AfterPowerCut(CutMode::kRandom, seed);
    EXPECT_NE(*cut->Exists("d/f"), *cut->Exists("other/g")) << "seed " << seed;
  }
  ASSERT_TRUE(fs_.SyncDirectory("d").ok());
  EXPECT_EQ(After("d/f"), "(none)");
  EXPECT_EQ(After("other/g"), "bytes") << "a sync of either directory makes both sides durable";
}

TEST_F(PowerCutTest, ARenameWithinADirectoryIsAllOrNothing) {
  Write("d/a", "1");
  Write("d/b", "2");
  ASSERT_TRUE(fs_.Rename("d/b", "d/a").ok());
  std::set<std::string> outcomes;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    outcomes.insert(After("d/a", CutMode::kRandom, seed) + After("d/b", CutMode::kRandom, seed));
  }
  EXPECT_EQ(outcomes, (std::set<std::string>{"12", "2(none)"}));
}

TEST_F(PowerCutTest, RandomCutsLeaveAnySubsetOfUnsyncedEntryChanges) {
  Write("d/gone", "x");
  ASSERT_TRUE(fs_.RemoveFile("d/gone").ok());
  Write("d/new", "y", /*synced_entry=*/false);
  std::set<std::string> outcomes;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    outcomes.insert(After("d/gone", CutMode::kRandom, seed) + After("d/new", CutMode::kRandom, seed));
  }
  EXPECT_EQ(outcomes.size(), 4u);
}

TEST_F(PowerCutTest, RandomCutsNeverTouchSyncedBytesAndTearTheRestBySectors) {
  const std::string synced(700, 's');
  const std::string unsynced(3'000, 'u');
  Write("d/f", synced);
  auto file = *fs_.OpenWritable("d/f", OpenMode::kAppend);
  ASSERT_TRUE(file->Append(unsynced).ok());
  bool shorter = false;
  bool zero = false;
  bool garbage = false;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const std::string data = After("d/f", CutMode::kRandom, seed);
    ASSERT_LE(data.size(), synced.size() + unsynced.size());
    ASSERT_EQ(data.substr(0, synced.size()), synced) << "seed " << seed;
    shorter |= data.size() < synced.size() + unsynced.size();
    for (std::size_t begin = synced.size(); begin < data.size();) {
      const std::size_t end = std::min(data.size(), begin / 512 * 512 + 512);
      const std::string_view sector = std::string_view(data).substr(begin, end - begin);
      if (sector == std::string(sector.size(), '\0')) {
        zero = true;
      } else if (sector != std::string(sector.size(), 'u')) {
        garbage = true;
        EXPECT_TRUE(sector.size() < 20 || std::count(sector.begin(), sector.end(), 'u') < 20)
            << "a sector is as written, zero or garbage as a whole; seed " << seed;
      }
      begin = end;
    }
  }
  EXPECT_TRUE(shorter);
  EXPECT_TRUE(zero);
  EXPECT_TRUE(garbage);
}

TEST_F(PowerCutTest, RandomCutsKeepAnySubsetOfUnsyncedAppends) {
  Write("d/f", "s");
  auto file = *fs_.OpenWritable("d/f", OpenMode::kAppend);
  for (const std::string_view part : {"aa", "bb", "cc"}) {
    ASSERT_TRUE(file->Append(part).ok());
  }
  const std::set<std::string> outcomes = Outcomes("d/f", 2'000);
  const std::string zero(2, '\0');
  for (const std::string& outcome :
       {std::string("s"), std::string("saa"), std::string("saabbcc"), "s" + zero + "bb", "s" + zero + zero + "cc",
        "saa" + zero + "cc", "saa" + zero, std::string("sa")}) {
    EXPECT_EQ(outcomes.count(outcome), 1u) << testing::PrintToString(outcome);
  }
  EXPECT_EQ(outcomes.count("scc"), 0u) << "bytes never move";
}

TEST_F(PowerCutTest, ReservedSpaceMayShowAsZerosBehindTheEnd) {
  Write("d/f", "s");
  auto file = *fs_.OpenWritable("d/f", OpenMode::kAppend);
  ASSERT_TRUE(file->Reserve(20).ok());
  bool longer = false;
  for (const std::string& outcome : Outcomes("d/f")) {
    EXPECT_EQ(outcome, "s" + std::string(outcome.size() - 1, '\0'));
    EXPECT_LE(outcome.size(), 20u);
    longer |= outcome.size() > 1;
  }
  EXPECT_TRUE(longer);
}

TEST_F(PowerCutTest, WhatAFailedSyncGaveUpIsNotBroughtBackByTheNextOne) {
  Write("d/f", "s");
  auto file = *fs_.OpenWritable("d/f", OpenMode::kAppend);
  ASSERT_TRUE(file->Append("gone").ok());
  fs_.SetFault([](std::uint64_t, std::string_view operation, const std::string&) {
    return operation == "Sync" ? Status::IoError("told to fail") : Status::Ok();
  });
  ASSERT_FALSE(file->Sync().ok());
  fs_.SetFault(nullptr);
  ASSERT_TRUE(file->Append("there").ok());
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_EQ(*fs_.ReadWhole("d/f"), "sgonethere");
  EXPECT_EQ(After("d/f", CutMode::kKeepUnsynced), "sgonethere");
  EXPECT_EQ(After("d/f"), "s" + std::string(4, '\0') + "there");
}

TEST_F(PowerCutTest, RandomCutsAreReproducibleBySeed) {
  auto file = *fs_.OpenWritable("d/f", OpenMode::kCreate);
  ASSERT_TRUE(fs_.SyncDirectory("d").ok());
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(file->Append(std::string(10'000, 'u')).ok());
  }
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(After("d/f", CutMode::kRandom, seed), After("d/f", CutMode::kRandom, seed));
  }
  EXPECT_GT(Outcomes("d/f", 20).size(), 10u);
}

TEST_F(PowerCutTest, WhatSurvivedIsDurableAndUnlocked) {
  Write("d/f", "abc");
  const auto lock = *fs_.Lock("d/LOCK");
  fs_.StopAt(1);
  const auto first = fs_.AfterPowerCut(CutMode::kKeepUnsynced);
  EXPECT_TRUE(first->Lock("d/LOCK").ok());
  EXPECT_EQ(first->operations(), 0u);
  ASSERT_TRUE(first->CreateDirectories("x").ok()) << "the power is back";
  EXPECT_EQ(*first->AfterPowerCut(CutMode::kDropUnsynced)->ReadWhole("d/f"), "abc");
  EXPECT_FALSE(*first->AfterPowerCut(CutMode::kDropUnsynced)->Exists("x"));
}

TEST_F(PowerCutTest, AtomicWritesAreSeenOldOrNewAtEveryCut) {
  ASSERT_TRUE(WriteFileAtomically(fs_, "d/f", "old contents").ok());
  const auto counter = fs_.Clone();
  ASSERT_TRUE(WriteFileAtomically(*counter, "d/f", "new contents").ok());
  const std::uint64_t steps = counter->operations();
  ASSERT_GT(steps, 3u);
  for (std::uint64_t stop = 1; stop <= steps + 1; ++stop) {
    const auto fs = fs_.Clone();
    fs->StopAt(stop);
    const bool done = WriteFileAtomically(*fs, "d/f", "new contents").ok();
    EXPECT_EQ(done, stop > steps);
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      const CutMode mode = seed == 0 ? CutMode::kDropUnsynced : seed == 1 ? CutMode::kKeepUnsynced : CutMode::kRandom;
      const std::string left = *fs->AfterPowerCut(mode, seed)->ReadWhole("d/f");
      EXPECT_TRUE(left == "new contents" || (left == "old contents" && !done))
          << "stopped at " << stop << ", seed " << seed << ": " << left;
    }
  }
}

}  // namespace
}  // namespace tsdb
