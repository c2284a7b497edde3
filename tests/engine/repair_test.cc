// Damage in every kind of file: what opening does with it, what repair saves, and that nothing is ever made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "chunk/manifest_log.h"
#include "engine/repair.h"
#include "engine/verify.h"
#include "tests/engine/engine_test_util.h"
#include "tests/index/index_test_util.h"

namespace tsdb::engine {
namespace {

using ::testing::HasSubstr;

class RepairTest : public ::testing::Test {
 protected:
  static Result<std::unique_ptr<Database>> Open(FileSystem& fs) {
    static FakeClock clock;
    OpenOptions options = QuietOptions();
    options.create_if_missing = false;
    return OpenDatabase("/db", options, MemoryEnvironment(&fs, &clock));
  }

  static Result<RepairReport> Repair(FileSystem& fs, RepairOptions options = {}) {
    static FakeClock clock;
    return RepairDatabase("/db", options, MemoryEnvironment(&fs, &clock));
  }

  /// Three flushes of 40 series; what is written last stays in the log unless it is closed.
  void Fill(bool close) {
    auto opened = OpenDatabase("/db", QuietOptions(), MemoryEnvironment(&fs_, &clock_));
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    Database& db = **opened;
    for (int round = 0; round < 4; ++round) {
      WriteBatch batch;
      for (int s = 0; s < 40; ++s) {
        for (int i = 0; i < 30; ++i) {
          batch.Add(Series("m", std::to_string(s + round)), 1000 * round + 20 * i, s * 0.1 + i);
        }
      }
      ASSERT_TRUE(db.Append(batch, WriteOptions::With(Durability::kAlways)).ok());
      if (round < 3) {
        TSDB_ASSERT_OK(db.Flush());
      }
    }
    contents_ = ReadAll(db);
    if (close) {
      TSDB_ASSERT_OK(db.Close());
    }
  }

  static std::vector<std::string> Files(MemoryFileSystem& fs, const std::string& folder = "/db") {
    std::vector<std::string> found;
    const auto entries = fs.List(folder);
    for (const DirectoryEntry& entry : entries.ok() ? *entries : std::vector<DirectoryEntry>()) {
      const std::string path = JoinPath(folder, entry.name);
      if (!entry.is_directory) {
        found.push_back(path);
        continue;
      }
      for (std::string& below : Files(fs, path)) {
        found.push_back(std::move(below));
      }
    }
    return found;
  }

  static std::string OnlyManifest(MemoryFileSystem& fs) {
    const auto entries = fs.List("/db/manifest");
    EXPECT_TRUE(entries.ok() && entries->size() == 1);
    return JoinPath("/db/manifest", entries->front().name);
  }

  static void Flip(MemoryFileSystem& fs, const std::string& path, std::size_t offset) {
    std::string bytes = *fs.ReadWhole(path);
    bytes[offset] = static_cast<char>(bytes[offset] ^ 0x10);
    fs.WriteWhole(path, bytes);
  }

  static void ExpectClean(MemoryFileSystem& fs) {
    const auto report = VerifyDatabase(fs, "/db");
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_THAT(report->damage, ::testing::IsEmpty());
  }

  /// Whether each sample of `part` is one of `whole`.
  static void ExpectPartOf(const Contents& part, const Contents& whole) {
    for (const auto& [key, samples] : part) {
      const auto series = whole.find(key);
      ASSERT_NE(series, whole.end()) << key;
      for (const auto& [time, bits] : samples) {
        const auto sample = series->second.find(time);
        ASSERT_TRUE(sample != series->second.end() && sample->second == bits) << key << " at " << time;
      }
    }
  }

  MemoryFileSystem fs_;
  FakeClock clock_;
  Contents contents_;
};

TEST_F(RepairTest, AManifestCutBetweenTwoEditsIsNeverTakenForAnEarlierState) {
  for (const bool closed : {true, false}) {
    SCOPED_TRACE(closed);
    TSDB_ASSERT_OK(fs_.RemoveAll("/db"));
    Fill(closed);
    const std::string manifest = OnlyManifest(fs_);
    const std::string bytes = *fs_.ReadWhole(manifest);
    std::vector<std::size_t> ends;
    const std::uint64_t number = *chunk::DecodeManifestHeader(bytes);
    ASSERT_TRUE(chunk::ScanManifest(bytes, number, [&](const chunk::ManifestFrame& frame) {
                  ends.push_back(frame.offset + chunk::kFrameHeaderBytes + frame.record.size());
                  return Status::Ok();
                }).ok());
    ASSERT_GE(ends.size(), 6u);
    int refused = 0;
    for (const std::size_t end : ends) {
      SCOPED_TRACE(end);
      const auto fs = fs_.Clone();
      fs->WriteWhole(manifest, bytes.substr(0, end));
      const auto files = Files(*fs);
      {
        const auto opened = Open(*fs);
        if (opened.ok()) {
          EXPECT_EQ(ReadAll(**opened), contents_);
          continue;
        }
        ++refused;
        EXPECT_EQ(opened.status().code(), StatusCode::kCorruption);
        EXPECT_THAT(opened.status().ToString(), HasSubstr("repair"));
      }
      for (const std::string& file : files) {
        EXPECT_TRUE(*fs->Exists(file)) << file;
      }
      EXPECT_FALSE(VerifyDatabase(*fs, "/db")->damage.empty());
      const auto report = Repair(*fs);
      ASSERT_TRUE(report.ok()) << report.status().ToString();
      ExpectClean(*fs);
      const auto repaired = Open(*fs);
      ASSERT_TRUE(repaired.ok()) << repaired.status().ToString();
      EXPECT_EQ(ReadAll(**repaired), contents_);
    }
    EXPECT_GE(refused, 3);
  }
}

// Edits that add no file: what was deleted, dropped and forgotten, and settings. Without them, what they took away must
// not come back without a word.
TEST_F(RepairTest, AManifestCutBehindDeletesDropsAndRetentionIsNeverTakenForAnEarlierState) {
  Fill(/*close=*/true);
  auto opened = Open(fs_);
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  std::unique_ptr<Database> db = std::move(*opened);
  // The process dies here, and the manifest loses edits.
  const auto check = [&](const char* when) {
    SCOPED_TRACE(when);
    contents_ = ReadAll(*db);
    const std::string manifest = OnlyManifest(fs_);
    const std::string bytes = *fs_.ReadWhole(manifest);
    const std::uint64_t number = *chunk::DecodeManifestHeader(bytes);
    ASSERT_TRUE(chunk::ScanManifest(bytes, number, [&](const chunk::ManifestFrame& frame) {
                  const auto fs = fs_.Clone();
                  fs->WriteWhole(manifest, bytes.substr(0, frame.offset + chunk::kFrameHeaderBytes +
                                                             frame.record.size()));
                  const auto again = Open(*fs);
                  if (again.ok()) {
                    const bool told = !(*again)->recovery_report().notes.empty();
                    EXPECT_TRUE(told || ReadAll(**again) == contents_) << "cut behind byte " << frame.offset;
                  } else {
                    EXPECT_EQ(again.status().code(), StatusCode::kCorruption);
                  }
                  return Status::Ok();
                }).ok());
  };
  ASSERT_TRUE(db->Delete(*Selector::Parse("{host=\"3\"}"), {0, 500}).ok());
  check("a delete in the log");
  TSDB_ASSERT_OK(db->Flush());
  check("a delete flushed");
  ASSERT_TRUE(db->Drop(*Selector::Parse("{host=\"5\"}")).ok());
  check("a drop in the log");
  TSDB_ASSERT_OK(db->Flush());
  check("a drop flushed");
  Retention retention;
  retention.age = 2000;
  TSDB_ASSERT_OK(db->SetRetention(retention));
  check("settings in the log");
  TSDB_ASSERT_OK(db->Flush());
  check("settings flushed");
  TSDB_ASSERT_OK(db->EnforceRetention());
  check("files removed");
  TSDB_ASSERT_OK(db->AcceptClock());
  TSDB_ASSERT_OK(db->EnforceRetention());
  check("more files removed");
  CompactOptions purge;
  purge.purge = true;
  ASSERT_TRUE(db->Compact(purge).ok());
  check("purged");
  ASSERT_TRUE(db->Delete(*Selector::Parse("{host=\"7\"}"), {0, 5000}).ok());
  TSDB_ASSERT_OK(db->Close());
  TSDB_ASSERT_OK(Open(fs_).status());
  db = std::move(*Open(fs_));
  check("closed and opened");
}

TEST_F(RepairTest, WholeChunksOfADamagedFileAreSaved) {
  Fill(true);
  const std::string damaged = JoinPath("/db/chunks", fs_.List("/db/chunks")->front().name);
  Flip(fs_, damaged, 100);  // in the columns of the first series
  const auto report = Repair(fs_);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_GT(report->samples_saved, 0u);
  EXPECT_GT(report->samples_lost, 0u);
  EXPECT_THAT(report->actions, ::testing::Contains(HasSubstr("@")));
  EXPECT_FALSE(*fs_.Exists(damaged));
  EXPECT_EQ(fs_.List("/db/quarantine")->size(), 2u) << "the file, and the manifest that named it";
  ExpectClean(fs_);
  const auto db = Open(fs_);
  ASSERT_TRUE(db.ok());
  EXPECT_TRUE((*db)->recovery_report().notes.empty());
  const Contents left = ReadAll(**db);
  ExpectPartOf(left, contents_);
  std::size_t samples = 0;
  std::size_t before = 0;
  for (const auto& [key, series] : left) {
    samples += series.size();
  }
  for (const auto& [key, series] : contents_) {
    before += series.size();
  }
  EXPECT_EQ(before - samples, report->samples_lost);
}

TEST_F(RepairTest, AManifestThatIsGoneIsPutTogetherFromTheFiles) {
  for (const std::string& gone : {std::string("/db/CURRENT"), std::string("manifest")}) {
    SCOPED_TRACE(gone);
    TSDB_ASSERT_OK(fs_.RemoveAll("/db"));
    Fill(false);
    const std::string path = gone == "manifest" ? OnlyManifest(fs_) : gone;
    fs_.WriteWhole(path, std::string(fs_.ReadWhole(path)->size(), '\0'));
    EXPECT_EQ(Open(fs_).status().code(), StatusCode::kCorruption);
    const auto report = Repair(fs_);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    ExpectClean(fs_);
    const auto db = Open(fs_);
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    EXPECT_EQ(ReadAll(**db), contents_);
  }
}

TEST_F(RepairTest, ADryRunTellsAndChangesNothing) {
  Fill(false);
  Flip(fs_, JoinPath("/db/chunks", fs_.List("/db/chunks")->front().name), 100);
  const std::uint64_t operations = fs_.operations();
  std::map<std::string, std::string> before;
  for (const std::string& file : Files(fs_)) {
    before[file] = *fs_.ReadWhole(file);
  }
  RepairOptions options;
  options.dry_run = true;
  const auto report = Repair(fs_, options);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_FALSE(report->actions.empty());
  EXPECT_GT(report->samples_lost, 0u);
  EXPECT_LE(fs_.operations(), operations + 2);  // folders that are there
  std::map<std::string, std::string> after;
  for (const std::string& file : Files(fs_)) {
    after[file] = *fs_.ReadWhole(file);
  }
  EXPECT_EQ(after, before);
}

TEST_F(RepairTest, AWholeDatabaseIsLeftAsItIs) {
  Fill(true);
  const auto report = Repair(fs_);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->files_set_aside, 0u);
  EXPECT_THAT(report->actions, ::testing::IsEmpty());
  EXPECT_EQ(ReadAll(**Open(fs_)), contents_);
}

TEST_F(RepairTest, RandomDamageIsRepairedAndNothingIsMadeUp) {
  Fill(false);
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto fs = fs_.Clone();
    const auto files = Files(*fs);
    for (unsigned hits = 1 + random() % 3; hits > 0; --hits) {
      const std::string& file = files[random() % files.size()];
      std::string bytes = *fs->ReadWhole(file);
      if (bytes.empty() || file.ends_with("LOCK")) {
        continue;
      }
      switch (random() % 3) {
        case 0:
          Flip(*fs, file, random() % bytes.size());
          break;
        case 1:
          fs->WriteWhole(file, bytes.substr(0, random() % bytes.size()));
          break;
        default:
          bytes.replace(random() % bytes.size(), 1, std::string(1 + random() % 64, '\0'));
          fs->WriteWhole(file, bytes);
      }
    }
    const auto report = Repair(*fs);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    ExpectClean(*fs);
    const auto db = Open(*fs);
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    ExpectPartOf(ReadAll(**db), contents_);
    // A second repair finds nothing to do.
    TSDB_ASSERT_OK((*db)->Close());
    const auto again = Repair(*fs);
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_THAT(again->actions, ::testing::IsEmpty());
  }
}

// What was there is there still, byte by byte: where it was, or in quarantine/.
TEST_F(RepairTest, NothingIsDeleted) {
  Fill(/*close=*/true);
  const auto entries = *fs_.List("/db/chunks");
  ASSERT_EQ(entries.size(), 4u);
  const std::string damaged = "/db/chunks/" + entries[1].name;
  Flip(fs_, damaged, fs_.ReadWhole(damaged)->size() / 3);
  const std::string leftover = "/db/chunks/000900.chunk";  // of commits that are in files
  fs_.WriteWhole(leftover, *fs_.ReadWhole("/db/chunks/" + entries[0].name));
  std::vector<std::string> before;
  for (const std::string& file : Files(fs_)) {
    if (!file.ends_with("LOCK")) {
      before.push_back(*fs_.ReadWhole(file));
    }
  }
  const auto report = Repair(fs_);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_THAT(report->actions, ::testing::Contains(HasSubstr("superseded; copied to quarantine/")));
  ExpectClean(fs_);
  std::multiset<std::string> after;
  for (const std::string& file : Files(fs_)) {
    after.insert(*fs_.ReadWhole(file));
  }
  for (const std::string& bytes : before) {
    // CURRENT is one line, and names another manifest now.
    EXPECT_TRUE(bytes.size() < 32 || after.contains(bytes)) << bytes.size() << " bytes are gone";
  }
  const auto db = Open(fs_);
  ASSERT_TRUE(db.ok());
  EXPECT_EQ((*db)->GetStats().files_quarantined, 3u);  // chunk file, leftover, manifest
  EXPECT_EQ((*db)->GetStats().chunk_files_skipped, 0u);
}

TEST_F(RepairTest, WhatAnOpeningLeavesOutIsInTheStatistics) {
  Fill(/*close=*/true);
  const auto entries = *fs_.List("/db/chunks");
  TSDB_ASSERT_OK(fs_.RemoveFile("/db/chunks/" + entries[2].name));
  fs_.WriteWhole("/db/chunks/" + entries[3].name, "short");
  const auto expect = [](const Result<std::unique_ptr<Database>>& db) {
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    EXPECT_EQ((*db)->GetStats().chunk_files_skipped, 2u);
    EXPECT_EQ((*db)->GetStats().samples_skipped, 2u * 40 * 30);
    EXPECT_THAT((*db)->recovery_report().notes, ::testing::Contains(HasSubstr("1200 samples are missing")).Times(2));
  };
  {
    const auto db = Open(fs_);
    expect(db);
    TSDB_ASSERT_OK(Put(**db, *(*db)->CreateSeries(Series("more")), 1, 1));
    TSDB_ASSERT_OK((*db)->Flush());
    EXPECT_EQ((*db)->GetStats().chunk_files_skipped, 2u);
  }
  static FakeClock clock;
  expect(OpenDatabaseReadOnly("/db", {}, MemoryEnvironment(&fs_, &clock)));
}

// With RocksDB on the real disk.
TEST(RepairDisk, DefinitionsOfADamagedCatalogueComeFromTheIndex) {
  const index::TemporaryDirectory folder;
  const std::string path = folder.path() + "/db";
  Contents contents;
  {
    auto db = Database::Open(path);
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    for (int s = 0; s < 30; ++s) {
      TSDB_ASSERT_OK(Put(**db, *(*db)->CreateSeries(Series("m", std::to_string(s))), 1, s));
    }
    contents = ReadAll(**db);
    TSDB_ASSERT_OK((*db)->Close());
  }
  for (const auto& entry : std::filesystem::directory_iterator(path + "/catalogue")) {
    std::filesystem::resize_file(entry.path(), 90);
  }
  const auto report = Repair(path, {});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_THAT(report->actions, ::testing::Contains(HasSubstr("30 definitions that were saved")));
  EXPECT_TRUE(Verify(path)->damage.empty());
  RepairOptions rebuild;
  rebuild.rebuild_index = true;
  ASSERT_TRUE(Repair(path, rebuild).ok());
  EXPECT_TRUE(std::filesystem::exists(path + "/quarantine/index"));
  auto db = Database::Open(path);
  ASSERT_TRUE(db.ok()) << db.status().ToString();
  EXPECT_EQ(ReadAll(**db), contents);
  EXPECT_EQ(Repair(path, {}).status().code(), StatusCode::kBusy);
}

}  // namespace
}  // namespace tsdb::engine
