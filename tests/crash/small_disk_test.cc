// A disk that is really full: a small file system of its own, with RocksDB, in a process that is killed afterwards.
// Needs the right to mount.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include "engine/verify.h"
#include "tests/engine/engine_test_util.h"
#include "tests/index/index_test_util.h"

namespace tsdb::engine {
namespace {

using ::testing::IsEmpty;

constexpr int kSeries = 100;
constexpr int kBatchesMax = 20'000;
constexpr Timestamp kBegin = 1'700'000'000'000;

/// Told by the child.
struct Board {
  bool acknowledged[kBatchesMax];
  int batches;      // tried; the last one is there whole or not at all when the child dies in it
  int failed;       // with the reason
  double resumed_after_seconds;
  char wrong[500];  // what should not have been

  void Fail(const std::string& what) { wrong[what.copy(wrong, sizeof(wrong) - 1)] = 0; }
};

class SmallDisk : public testing::Test {
 protected:
  void SetUp() override {
    mounted_ = ::mount("tsdb-test", folder_.path().c_str(), "tmpfs", 0, "size=8m") == 0;
    if (!mounted_) {
      GTEST_SKIP() << "mounting a small file system is not permitted here: " << std::strerror(errno);
    }
    void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    board_ = new (memory) Board();
  }
  void TearDown() override {
    if (board_ != nullptr) {
      ::munmap(board_, sizeof(Board));
    }
    if (mounted_) {
      ::umount(folder_.path().c_str());
    }
  }

  std::string Db() const { return folder_.path() + "/db"; }
  std::string Ballast() const { return folder_.path() + "/ballast"; }
  std::uint64_t FreeBytes() const {
    struct statvfs info {};
    ::statvfs(folder_.path().c_str(), &info);
    return info.f_bavail * info.f_bsize;
  }
  /// Leaves `left` bytes free.
  void FillUp(std::uint64_t left) const {
    std::ofstream out(Ballast(), std::ios::binary | std::ios::app);
    for (std::uint64_t free = FreeBytes(); free > left && out; free = FreeBytes()) {
      out << std::string(std::min<std::uint64_t>(free - left, 64 << 10), 'x') << std::flush;
    }
  }

  /// One batch over all series.
  Status Append(Database& db) const {
    const int i = ++board_->batches;
    WriteBatch batch;
    for (int s = 0; s < kSeries; ++s) {
      batch.Add(Series("m", std::to_string(s)), kBegin + i * 1000, i);
    }
    const auto result = db.Append(batch, WriteOptions::With(Durability::kAlways));
    board_->acknowledged[i] = result.ok();
    board_->failed += result.ok() ? 0 : 1;
    if (!result.ok() && result.status().code() != StatusCode::kNoSpace) {
      board_->Fail("refused for another reason: " + result.status().ToString());
    }
    return result.status();
  }
  /// Reads go on: as many samples of a series as batches were acknowledged.
  void ReadOn(Database& db) const {
    QuerySpec spec;
    spec.selector = Selector::ForKey(Series("m", "7").CanonicalKey());
    const auto counted = std::count(board_->acknowledged, board_->acknowledged + kBatchesMax, true);
    if (const auto rows = ReadRows(db, spec); static_cast<std::ptrdiff_t>(rows.size()) != counted) {
      board_->Fail("a query found " + std::to_string(rows.size()) + " of " + std::to_string(counted) + " samples");
    }
  }
  /// The ballast goes; the next batches are taken in without a restart.
  void Resume(Database& db) const {
    ::unlink(Ballast().c_str());
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    while (!Append(db).ok() && seconds() < 10) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    board_->resumed_after_seconds = seconds();
    for (int i = 0; i < 20; ++i) {
      if (const Status status = Append(db); !status.ok()) {
        board_->Fail("refused with space: " + status.ToString());
      }
    }
    ReadOn(db);
  }

  /// Runs `work` on a database in another process, kills it, and checks what the next opening finds.
  template <typename Work>
  void KillAfter(const Work& work) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      OpenOptions options;
      options.wal_bytes_max = 64 << 20;
      auto db = Database::Open(Db(), options);
      if (!db.ok()) {
        board_->Fail(db.status().ToString());
      } else {
        work(**db);
      }
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    ASSERT_STREQ(board_->wrong, "");
    EXPECT_LT(board_->resumed_after_seconds, 5);
    auto db = Database::Open(Db());
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    std::set<Timestamp> expected;
    for (int i = 1; i <= board_->batches; ++i) {
      if (board_->acknowledged[i]) {
        expected.insert(kBegin + i * 1000);
      }
    }
    const Contents contents = ReadAll(**db);
    ASSERT_EQ(contents.size(), static_cast<std::size_t>(kSeries));
    for (const auto& [key, samples] : contents) {
      std::set<Timestamp> times;
      for (const auto& [time, bits] : samples) {
        times.insert(times.end(), time);
        ASSERT_EQ(std::bit_cast<double>(bits), static_cast<double>((time - kBegin) / 1000)) << key;
      }
      ASSERT_EQ(times, expected) << key;
    }
    TSDB_ASSERT_OK((*db)->Close());
    db->reset();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Db())) {
      EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
    }
    EXPECT_THAT(Verify(Db())->damage, IsEmpty());
    RecordProperty("batches", board_->batches);
    RecordProperty("refused", board_->failed);
  }

  const index::TemporaryDirectory folder_;
  Board* board_ = nullptr;
  bool mounted_ = false;
};

TEST_F(SmallDisk, FullInTheLogRefusesWholeBatchesAndTakesThemInAgainWithoutARestart) {
  KillAfter([this](Database& db) {
    FillUp(1 << 20);
    while (board_->batches < kBatchesMax - 100 && Append(db).ok()) {
    }
    for (int i = 0; i < 20; ++i) {
      (void)Append(db);
    }
    ReadOn(db);
    if (board_->failed < 20) {
      board_->Fail("only " + std::to_string(board_->failed) + " batches were refused");
    }
    if (db.GetStats().write_error.empty()) {
      board_->Fail("the statistics do not say why writes are refused");
    }
    Resume(db);
  });
}

TEST_F(SmallDisk, FullInAFlushKeepsTheLogAndTheFlushIsMadeUpFor) {
  KillAfter([this](Database& db) {
    for (int i = 0; i < 300; ++i) {
      if (!Append(db).ok()) {
        board_->Fail("no space at the beginning");
      }
    }
    FillUp(0);
    const Status flushed = db.Flush();
    if (flushed.code() != StatusCode::kNoSpace) {
      board_->Fail("flush with no space: " + flushed.ToString());
    }
    ReadOn(db);
    for (int i = 0; i < 200; ++i) {  // into space the log has reserved, or refused
      (void)Append(db);
    }
    ReadOn(db);
    Resume(db);
    if (const Status again = db.Flush(); !again.ok() || !db.GetStats().flush_error.empty()) {
      board_->Fail("flush with space: " + again.ToString() + " " + db.GetStats().flush_error);
    }
    ReadOn(db);
  });
}

}  // namespace
}  // namespace tsdb::engine
