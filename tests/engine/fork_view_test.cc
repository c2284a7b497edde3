// A child forked under load reads what the parent had, to the last bit.
#include "engine/fork_view.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>

#include "engine/append.h"
#include "engine/flush_job.h"
#include "engine/query/query_result.h"
#include "engine/recovery.h"
#include "tests/engine/engine_test_util.h"

namespace tsdb::engine {
namespace {

constexpr int kSeries = 40;
constexpr int kWriters = 3;

/// Order of samples counts; so does every bit.
struct Digest {
  std::uint64_t value = 0xcbf29ce484222325ull;
  std::uint64_t samples = 0;

  void Add(std::uint64_t word) { value = (value ^ word) * 0x100000001b3ull; }
  void Add(SeriesId id, std::span<const Timestamp> times, std::span<const double> values) {
    Add(id.value);
    for (std::size_t i = 0; i < times.size(); ++i, ++samples) {
      Add(static_cast<std::uint64_t>(times[i]));
      Add(std::bit_cast<std::uint64_t>(values[i]));
    }
  }
  friend bool operator==(const Digest&, const Digest&) = default;
};

Digest WalkForked(const Core& core, bool* ok) {
  Digest digest;
  const Status status = ReadForked(core, [&](SeriesId id, const chunk::Columns& columns) {
    digest.Add(id, columns.times, columns.values);
    return Status::Ok();
  });
  *ok = status.ok();
  return digest;
}

/// What an ordinary query of everything gives; ids ascend.
Digest WalkQuery(Core& core) {
  Digest digest;
  auto result = RunQuery(core, {});
  EXPECT_TRUE(result.ok());
  ColumnBatch batch;
  while ((*result)->NextSeries()) {
    digest.Add((*result)->series().id.value);
    while ((*result)->NextBatch(&batch)) {
      for (std::size_t i = 0; i < batch.times.size(); ++i, ++digest.samples) {
        digest.Add(static_cast<std::uint64_t>(batch.times[i]));
        digest.Add(std::bit_cast<std::uint64_t>(batch.columns[0][i]));
      }
    }
  }
  EXPECT_TRUE((*result)->status().ok());
  return digest;
}

class ForkView : public testing::Test {
 protected:
  void SetUp() override {
    // On real files: the file system in memory has a lock of its own.
    path_ = std::filesystem::path(testing::TempDir()) / ("fork_view_" + std::to_string(getpid()));
    std::filesystem::remove_all(path_);
    auto core = Recover(path_.string(), QuietOptions(), MemoryEnvironment(&PosixFileSystem(), &clock_));
    ASSERT_TRUE(core.ok()) << core.status().ToString();
    core_ = std::move(*core);
  }

  void TearDown() override {
    core_.reset();
    std::filesystem::remove_all(path_);
  }

  void Append(int writer, int round) {
    WriteBatch batch;
    for (int i = writer; i < kSeries; i += kWriters) {
      // Mostly forward, every seventh late.
      const Timestamp time = round % 7 == 6 ? -round : round;
      batch.Add(Series("m", std::to_string(i)), time, 0.25 * round + i);
      batch.Add(Series("even", std::to_string(i)), round, 7);
    }
    const auto result = AppendBatch(*core_, batch, {});
    ASSERT_TRUE(result.ok()) << result.status().ToString();
  }

  /// Forks; the child walks and sends its digest. False when the child did not come back with one.
  bool WalkInChild(const std::function<void()>& under_hold, Digest* digest) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_t pid = -1;
    {
      const ForkHold hold(*core_);
      under_hold();
      pid = fork();
      if (pid == 0) {
        alarm(60);  // a lock that nobody gives back
        bool ok = false;
        const Digest found = WalkForked(*core_, &ok);
        const bool sent = ok && write(ends[1], &found, sizeof found) == sizeof found;
        _exit(sent ? 0 : 1);
      }
    }
    close(ends[1]);
    const bool got = read(ends[0], digest, sizeof *digest) == sizeof *digest;
    close(ends[0]);
    int status = -1;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return got && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  std::filesystem::path path_;
  FakeClock clock_;
  std::unique_ptr<Core> core_;
};

TEST_F(ForkView, AChildSeesWhatAQueryGivesFromFilesSealedAndMutableHead) {
  for (int round = 0; round < 300; ++round) {
    for (int writer = 0; writer < kWriters; ++writer) {
      ASSERT_NO_FATAL_FAILURE(Append(writer, round));
    }
    if (round == 100 || round == 200) {
      TSDB_ASSERT_OK(Flush(*core_));
    }
  }
  const Digest expected = WalkQuery(*core_);
  EXPECT_GT(expected.samples, 20'000u);
  Digest found;
  ASSERT_TRUE(WalkInChild([] {}, &found));
  EXPECT_EQ(found, expected);
}

TEST_F(ForkView, ChildrenForkedUnderLoadSeeTheParentAtThatMoment) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      for (int round = 0; !stop.load(); ++round) {
        Append(writer, round);
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop.load()) {
      EXPECT_TRUE(Flush(*core_).ok());
    }
  });
  threads.emplace_back([&] {
    while (!stop.load()) {
      static_cast<void>(WalkQuery(*core_));
    }
  });
  std::uint64_t samples = 0;
  for (int i = 0; i < 20; ++i) {
    Digest expected;
    bool ok = false;
    Digest found;
    const bool came_back = WalkInChild([&] { expected = WalkForked(*core_, &ok); }, &found);
    EXPECT_TRUE(came_back && ok) << "fork " << i;
    EXPECT_EQ(found, expected) << "fork " << i;
    EXPECT_GE(found.samples, samples);
    samples = found.samples;
  }
  stop.store(true);
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GT(samples, 0u);
}

}  // namespace
}  // namespace tsdb::engine
