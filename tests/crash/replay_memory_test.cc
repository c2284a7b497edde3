// An open needs no more memory than the database does while it runs, however long the log is: what is replayed goes
// into files in between. Each opening is a child process that the system lets have only so much.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "base/file_system.h"
#include "tests/engine/engine_test_util.h"
#include "tests/index/index_test_util.h"

namespace tsdb::engine {
namespace {

constexpr std::uint64_t kBudget = 4 << 20;
constexpr std::uint64_t kMemoryMax = 16 << 20;  // what a child may have on top of what a process has at its begin
constexpr int kSeries = 20;
constexpr int kBatches = 3000;
constexpr int kPerBatch = 1000;

WriteBatch Batch(int number, const std::vector<SeriesRef>& refs) {
  std::mt19937_64 random(static_cast<std::uint64_t>(number));
  WriteBatch batch;
  for (int i = 0; i < kPerBatch; ++i) {
    batch.Add(refs[static_cast<std::size_t>(i % kSeries)], number * kPerBatch + i, static_cast<double>(random()) / 7);
  }
  return batch;
}

Result<std::unique_ptr<Database>> Open(const std::string& path, std::uint64_t budget, FakeClock* clock) {
  OpenOptions options = QuietOptions();
  options.memory_bytes_max = budget;
  options.wal_bytes_max = 1ull << 40;
  return OpenDatabase(path, options, MemoryEnvironment(&PosixFileSystem(), clock));
}

std::uint64_t DataBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmData:")) {
      return std::strtoull(line.c_str() + 7, nullptr, 10) << 10;
    }
  }
  return 0;
}

enum ChildResult { kAllThere = 0, kNoMemory = 3, kOtherError = 4, kSamplesMissing = 5, kNoLimit = 6 };

/// The exit code of a child that runs `work`; -1 when a signal ended it.
template <typename Work>
int InChild(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Leaves everything in the log, as a process that dies. In a child: its memory is not left to those that follow.
int Write(const std::string& path) {
  FakeClock clock;
  auto db = Open(path, 1ull << 40, &clock);
  if (!db.ok()) {
    return kOtherError;
  }
  std::vector<SeriesRef> refs;
  for (int s = 0; s < kSeries; ++s) {
    refs.push_back(*(*db)->CreateSeries(Series("m", std::to_string(s))));
  }
  for (int i = 0; i < kBatches; ++i) {
    if (!(*db)->Append(Batch(i, refs), WriteOptions::With(Durability::kNone)).ok()) {
      return kOtherError;
    }
  }
  const Stats stats = (*db)->GetStats();
  return stats.flushes == 0 && stats.wal_bytes > 5 * kBudget ? kAllThere : kSamplesMissing;
}

/// Opens the database with kMemoryMax, and counts its samples.
int OpenInLittleMemory(const std::string& path, std::uint64_t budget) {
  const std::uint64_t used = DataBytes();
  const rlimit limit{used + kMemoryMax, used + kMemoryMax};
  if (used == 0 || setrlimit(RLIMIT_DATA, &limit) != 0) {
    return kNoLimit;
  }
  FakeClock clock;
  auto db = Open(path, budget, &clock);
  if (!db.ok()) {
    return db.status().code() == StatusCode::kOutOfMemory ? kNoMemory : kOtherError;
  }
  const Stats stats = (*db)->GetStats();
  return stats.samples_in_head + stats.samples_in_files == std::uint64_t{kBatches} * kPerBatch ? kAllThere
                                                                                              : kSamplesMissing;
}

TEST(ReplayMemory, OfALogOfManyTimesTheBudgetStaysWithinIt) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve memory of their own";
#endif
  const index::TemporaryDirectory folder;
  const std::string path = folder.path() + "/db";
  ASSERT_EQ(InChild([&] { return Write(path); }), kAllThere);
  // The limit holds: with a budget beyond it the open needs more, says so, and loses nothing.
  EXPECT_EQ(InChild([&] { return OpenInLittleMemory(path, 1ull << 40); }), kNoMemory);
  EXPECT_EQ(InChild([&] { return OpenInLittleMemory(path, kBudget); }), kAllThere);
  EXPECT_EQ(InChild([&] { return OpenInLittleMemory(path, kBudget); }), kAllThere) << "again, now from files";
}

}  // namespace
}  // namespace tsdb::engine
