// A full disk: writes are refused with the reason, reads go on, and all resumes by itself when there is space again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>

#include "engine/verify.h"
#include "tests/engine/engine_test_util.h"
#include "tests/index/index_test_util.h"

namespace tsdb::engine {
namespace {

using ::testing::HasSubstr;
constexpr std::uint64_t kPlenty = 1ull << 40;

/// A batch over many series, of values that take all their bytes on disk.
WriteBatch Round(int round) {
  std::mt19937_64 random(static_cast<std::uint64_t>(round));
  WriteBatch batch;
  for (int s = 0; s < 100; ++s) {
    batch.Add(Series("m", std::to_string(s)), round, static_cast<double>(random()) / 7);
  }
  return batch;
}

/// A small file system on a folder, as long as it lives.
class SmallDisk {
 public:
  explicit SmallDisk(std::string path) : path_(std::move(path)) {
    mounted_ = ::mount("tsdb-test", path_.c_str(), "tmpfs", 0, "size=8m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) {
      ::umount(path_.c_str());
    }
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }

 private:
  const std::string path_;
  bool mounted_ = false;
};

/// Every acknowledged round is there over all series, every refused one over none.
void ExpectExactly(Database& db, const std::vector<int>& acknowledged) {
  const Contents contents = ReadAll(db);
  ASSERT_EQ(contents.size(), 100u);
  for (const auto& [key, samples] : contents) {
    std::vector<int> rounds;
    for (const auto& [time, bits] : samples) {
      rounds.push_back(static_cast<int>(time));
    }
    ASSERT_EQ(rounds, acknowledged) << key;
  }
}

TEST(FullDisk, WritesAreRefusedReadsGoOnAndWritingResumesWithoutARestart) {
  MemoryFileSystem fs;
  FakeClock clock;
  std::vector<int> acknowledged;
  {
    std::unique_ptr<Database> db;
    TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(&fs, &clock));
    int round = 0;
    for (int time_full = 0; time_full < 3; ++time_full) {
      fs.SetFreeBytes(20'000);
      int refused = 0;
      for (int i = 0; i < 5000 && refused < 5; ++i) {
        const auto result = db->Append(Round(++round));
        if (result.ok()) {
          EXPECT_EQ(refused, 0);  // nothing frees space meanwhile
          acknowledged.push_back(round);
        } else {
          ++refused;
          ASSERT_EQ(result.status().code(), StatusCode::kNoSpace) << result.status().ToString();
        }
      }
      ASSERT_GT(refused, 0);
      EXPECT_NE(db->GetStats().write_error, "");
      EXPECT_FALSE(db->Flush().ok());
      ExpectExactly(*db, acknowledged);
      fs.SetFreeBytes(kPlenty);
      ASSERT_TRUE(db->Append(Round(++round)).ok());
      acknowledged.push_back(round);
      EXPECT_EQ(db->GetStats().write_error, "");
      TSDB_ASSERT_OK(db->Flush());
      ExpectExactly(*db, acknowledged);
    }
    ASSERT_TRUE(db->Append(Round(++round)).ok());
    acknowledged.push_back(round);
    // The process dies here.
  }
  EXPECT_THAT(VerifyDatabase(fs, "/db")->damage, ::testing::IsEmpty());
  std::unique_ptr<Database> db;
  TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(&fs, &clock));
  ExpectExactly(*db, acknowledged);
}

TEST(FullDisk, AFlushThatFindsNoSpaceLeavesNoFilesAndIsMadeUpForByItself) {
  MemoryFileSystem fs;
  std::unique_ptr<Database> db;
  OpenOptions options;
  options.wal_bytes_max = 4096;  // flushes by itself all the time
  TSDB_ASSERT_OPEN(db, "/db", options, MemoryEnvironment(&fs, &SystemClock()));
  const auto chunk_files = [&] { return fs.List("/db/chunks")->size(); };
  // No chunk file can be begun, though the log has space.
  fs.SetFault([](std::uint64_t, std::string_view operation, const std::string& path) {
    return operation == "Append" && path.find("/chunks/") != std::string::npos ? Status::NoSpace(path + ": no space")
                                                                               : Status::Ok();
  });
  for (int round = 1; round <= 20; ++round) {
    ASSERT_TRUE(db->Append(Round(round)).ok());
  }
  const auto wait = [&](const auto& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!done() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return done();
  };
  ASSERT_TRUE(wait([&] { return db->GetStats().flush_failures >= 3; }));
  EXPECT_TRUE(wait([&] { return chunk_files() == 0; }));  // the attempt of this moment may have one; none stays
  EXPECT_THAT(db->GetStats().flush_error, HasSubstr("no space"));
  EXPECT_EQ(ReadAll(*db).begin()->second.size(), 20u);
  fs.SetFault({});
  ASSERT_TRUE(wait([&] { return db->GetStats().samples_in_head == 0; }));
  EXPECT_TRUE(wait([&] { return db->GetStats().flush_error.empty(); }));  // told a moment after the files are there
  TSDB_ASSERT_OK(db->Close());
}

// Merges go first, so that flushes and writes have what is left; reads never do.
TEST(FullDisk, ServiceIsGivenUpInStepsAndComesBack) {
  MemoryFileSystem fs;
  FakeClock clock;
  std::unique_ptr<Database> db;
  TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(&fs, &clock));
  int round = 0;
  std::vector<int> acknowledged;
  const auto append = [&] {
    const auto result = db->Append(Round(++round));
    if (result.ok()) {
      acknowledged.push_back(round);
    }
    return result.status();
  };
  for (int i = 0; i < 8; ++i) {
    TSDB_ASSERT_OK(append());
    TSDB_ASSERT_OK(db->Flush());
  }
  EXPECT_EQ(db->GetStats().degradation, Degradation::kNone);
  fs.SetFreeBytes(900'000);
  EXPECT_EQ(db->Compact().status().code(), StatusCode::kNoSpace);
  EXPECT_EQ(db->GetStats().degradation, Degradation::kNotMerging);
  EXPECT_THAT(db->GetStats().merge_error, HasSubstr("free some space"));
  TSDB_ASSERT_OK(append());
  TSDB_ASSERT_OK(db->Flush());
  TSDB_ASSERT_OK(append());
  fs.SetFreeBytes(300);
  EXPECT_EQ(db->Flush().code(), StatusCode::kNoSpace);
  EXPECT_EQ(db->GetStats().degradation, Degradation::kNotFlushing);
  TSDB_ASSERT_OK(append());  // into space the log has reserved
  for (int i = 0; i < 5000 && append().ok(); ++i) {
  }
  EXPECT_EQ(db->GetStats().degradation, Degradation::kRefusingWrites);
  EXPECT_THAT(db->GetStats().write_error, HasSubstr("no space"));
  ExpectExactly(*db, acknowledged);
  fs.SetFreeBytes(kPlenty);
  TSDB_ASSERT_OK(append());
  EXPECT_EQ(db->GetStats().degradation, Degradation::kNotFlushing);
  TSDB_ASSERT_OK(db->Flush());
  EXPECT_EQ(db->GetStats().degradation, Degradation::kNotMerging);
  ASSERT_TRUE(db->Compact().ok());
  EXPECT_EQ(db->GetStats().degradation, Degradation::kNone);
  ExpectExactly(*db, acknowledged);
}

// On a file system of its own, with RocksDB; needs the right to mount.
TEST(FullDisk, SlowASmallDiskFillsUpAndIsEmptiedAgain) {
  const index::TemporaryDirectory folder;
  const SmallDisk disk(folder.path());
  if (!disk.mounted()) {
    GTEST_SKIP() << "mounting a small file system is not permitted here: " << std::strerror(errno);
  }
  std::vector<int> acknowledged;
  const std::string path = folder.path() + "/db";
  const std::string ballast = folder.path() + "/ballast";
  {
    OpenOptions options;
    options.wal_bytes_max = 256 << 10;
    auto opened = Database::Open(path, options);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    Database& db = **opened;
    std::ofstream(ballast, std::ios::binary) << std::string(4 << 20, 'x');
    int round = 0;
    bool full = false;
    for (int i = 0; i < 20'000 && !full; ++i) {
      const auto result = db.Append(Round(++round));
      full = !result.ok();
      if (!full) {
        acknowledged.push_back(round);
      } else {
        EXPECT_TRUE(result.status().code() == StatusCode::kNoSpace ||
                    result.status().code() == StatusCode::kIoError)
            << result.status().ToString();
      }
    }
    ASSERT_TRUE(full);
    ExpectExactly(db, acknowledged);
    std::filesystem::remove(ballast);
    bool resumed = false;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!resumed && std::chrono::steady_clock::now() < end) {
      resumed = db.Append(Round(++round)).ok();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ASSERT_TRUE(resumed);
    acknowledged.push_back(round);
    ExpectExactly(db, acknowledged);
  }
  {
    auto again = Database::Open(path);
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    ExpectExactly(**again, acknowledged);
    TSDB_ASSERT_OK((*again)->Close());
  }
  EXPECT_TRUE(Verify(path)->damage.empty());
}

}  // namespace
}  // namespace tsdb::engine
