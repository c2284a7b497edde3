// Eight threads on the same series and times, last, sum and increments mixed, and a SIGKILL: what replay brings back
// equals what a reader saw after the last acknowledgement.
//
// The child works on real files without syncs (a process crash loses nothing that reached the system). Half of the runs
// are killed after everything was acknowledged and read back, half in the middle, where each sum must lie between what
// was acknowledged and what was asked for.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include "base/file_system.h"
#include "tests/engine/engine_test_util.h"

namespace tsdb::engine {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 40;
constexpr Timestamp kFixed = 1'700'000'000'000;

/// Memory shared with the child.
struct Board {
  std::atomic<std::uint64_t> sum_asked;
  std::atomic<std::uint64_t> sum_acknowledged;
  std::atomic<std::uint64_t> increments_asked;
  std::atomic<std::uint64_t> increments_acknowledged;
  std::atomic<std::uint64_t> failed;
  std::atomic<bool> finished;
  double sum_seen;
  double counter_seen;
  double last_seen;
  char message[400];  // of the first failure

  void Fail(const std::string& what) {
    if (failed.fetch_add(1) == 0) {
      message[what.copy(message, sizeof(message) - 1)] = 0;
    }
  }
  void Check(const Result<AppendResult>& result) {
    if (!result.ok()) {
      Fail(result.status().ToString());
    } else if (!result->rejected.empty()) {
      Fail(result->rejected[0].status.ToString());
    }
  }
};

Environment DiskEnvironment() {
  Environment environment = MemoryEnvironment(&PosixFileSystem(), &SystemClock());
  return environment;
}

struct Seen {
  double sum = 0;
  double counter = 0;
  double last = 0;
  std::size_t sum_samples = 0;
  double same_total = 0;
  bool counter_rises = true;  // and times as well
};

Seen Read(Database& db) {
  Seen seen;
  QuerySpec spec;
  spec.selector = Selector::ForKey("fix");
  for (const Sample& sample : ReadRows(db, spec)) {
    seen.sum = sample.value;
    ++seen.sum_samples;
  }
  spec.selector = Selector::ForKey("cnt");
  Timestamp before = kTimestampMin;
  for (const Sample& sample : ReadRows(db, spec)) {
    seen.counter_rises = seen.counter_rises && sample.value >= seen.counter && sample.time > before;
    seen.counter = sample.value;
    before = sample.time;
  }
  spec.selector = Selector::ForKey("same");
  for (const Sample& sample : ReadRows(db, spec)) {
    seen.same_total += sample.value;
  }
  spec.selector = Selector::ForKey("last");
  for (const Sample& sample : ReadRows(db, spec)) {
    seen.last = sample.value;
  }
  return seen;
}

void Write(Database& db, Board* board, int thread) {
  const SeriesRef fix = *db.ResolveKey("fix");
  const SeriesRef cnt = *db.ResolveKey("cnt");
  const SeriesRef last = *db.ResolveKey("last");
  const SeriesRef same = *db.ResolveKey("same");
  WriteOptions sum = WriteOptions::With(Durability::kNone);
  sum.has_duplicates = true;
  sum.duplicates = DuplicatePolicy::kSum;
  for (int round = 0; round < kRounds; ++round) {
    WriteBatch batch;
    batch.Add(fix, kFixed, 1);
    board->sum_asked.fetch_add(1);
    auto result = db.Append(batch, sum);
    board->Check(result);
    board->sum_acknowledged.fetch_add(1);
    batch.Clear();
    batch.Add(same, kNow, 1);
    board->Check(db.Append(batch, sum));
    batch.Clear();
    batch.Increment(cnt, kNow, 1);
    board->increments_asked.fetch_add(1);
    result = db.Append(batch, WriteOptions::With(Durability::kNone));
    board->Check(result);
    board->increments_acknowledged.fetch_add(1);
    batch.Clear();
    batch.Add(last, kFixed, thread * 1000 + round);
    batch.Add(Labels{{"__name__", "new"}, {"round", std::to_string(round)}}, kFixed + thread, round);
    result = db.Append(batch, WriteOptions::With(Durability::kNone));
    board->Check(result);
  }
}

[[noreturn]] void Child(const std::string& path, Board* board) {
  OpenOptions options;
  options.wal_bytes_max = 1 << 13;  // flushes run meanwhile
  options.sync_interval_ms = 1;
  auto db = OpenDatabase(path, options, DiskEnvironment());
  if (!db.ok()) {
    _exit(2);
  }
  for (const char* key : {"fix", "cnt", "last", "same"}) {
    if (!(*db)->CreateSeriesByKey(key, {}).ok()) {
      _exit(3);
    }
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { Write(**db, board, i); });
  }
  // A reader beside them sees times rise and sums only grow.
  Seen before;
  for (int i = 0; i < 10; ++i) {
    const Seen now = Read(**db);
    if (now.sum < before.sum || now.counter < before.counter || !now.counter_rises) {
      board->Fail("a reader saw sum " + std::to_string(now.sum) + " after " + std::to_string(before.sum) +
                  ", counter " + std::to_string(now.counter) + " after " + std::to_string(before.counter));
    }
    before = now;
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const Seen seen = Read(**db);
  board->sum_seen = seen.sum;
  board->counter_seen = seen.counter;
  board->last_seen = seen.last;
  board->finished.store(true);
  for (;;) {
    pause();
  }
}

class ConcurrentKill : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) / ("concurrent_kill_" + std::to_string(getpid()));
    void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    board_ = new (memory) Board();
  }
  void TearDown() override {
    munmap(board_, sizeof(Board));
    std::filesystem::remove_all(root_);
  }

  std::filesystem::path root_;
  Board* board_ = nullptr;
};

TEST_F(ConcurrentKill, ReplayEqualsWhatAReaderSawAfterTheLastAcknowledgement) {
  const char* runs_text = std::getenv("TSDB_KILL_RUNS");
  const int runs = runs_text == nullptr ? 200 : std::atoi(runs_text);
  std::mt19937_64 random(40);
  for (int run = 0; run < runs; ++run) {
    std::filesystem::remove_all(root_);
    new (board_) Board();
    const bool to_the_end = run % 2 == 0;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Child((root_ / "db").string(), board_);
    }
    if (to_the_end) {
      while (!board_->finished.load() && waitpid(child, nullptr, WNOHANG) == 0) {
        usleep(200);
      }
    } else {
      const std::uint64_t target = 1 + random() % (kThreads * kRounds);
      while (board_->sum_acknowledged.load() < target && waitpid(child, nullptr, WNOHANG) == 0) {
        usleep(20);
      }
    }
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    const std::uint64_t sum_acknowledged = board_->sum_acknowledged.load();
    const std::uint64_t increments_acknowledged = board_->increments_acknowledged.load();
    std::unique_ptr<Database> db;
    TSDB_ASSERT_OPEN(db, (root_ / "db").string(), QuietOptions(), DiskEnvironment());
    const Seen seen = Read(*db);
    ASSERT_EQ(board_->failed.load(), 0u) << "run " << run << ": " << board_->message;
    ASSERT_TRUE(seen.counter_rises);
    ASSERT_LE(seen.sum_samples, 1u);
    if (to_the_end) {
      ASSERT_TRUE(board_->finished.load()) << "run " << run << ": the child ended early";
      ASSERT_EQ(seen.sum, kThreads * kRounds);
      ASSERT_EQ(seen.counter, kThreads * kRounds);
      ASSERT_EQ(seen.same_total, kThreads * kRounds) << "one added at `now` by each thread in each round";
      ASSERT_EQ(seen.sum, board_->sum_seen);
      ASSERT_EQ(seen.counter, board_->counter_seen);
      ASSERT_EQ(seen.last, board_->last_seen);
      ASSERT_EQ(db->ListSeries(*Selector::Parse("new"))->size(), static_cast<std::size_t>(kRounds));
    } else {
      ASSERT_GE(seen.sum, static_cast<double>(sum_acknowledged)) << "run " << run;
      ASSERT_LE(seen.sum, static_cast<double>(board_->sum_asked.load()));
      ASSERT_GE(seen.counter, static_cast<double>(increments_acknowledged)) << "run " << run;
      ASSERT_LE(seen.counter, static_cast<double>(board_->increments_asked.load()));
    }
  }
}

}  // namespace
}  // namespace tsdb::engine
