// Threads append, read and flush on a disk that loses power at a random operation.
//
// Every batch holds a sample of the thread's own series (so that it can be told whether the batch is there), one of a
// series all threads write at one time (the last commit wins) and an increment of a counter all share. What comes back
// must be the batches up to some commit, each whole, and the shared series must have the values those batches give.
//
// The seed fixes the work and the cut; which thread is where when the power goes is the machine's choice. So a failing
// seed is repeated with a few hundred runs, and the disk of the failing run is written below TSDB_SIMULATOR_KEEP when
// that is set: recovery from it does not depend on threads.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "tests/crash/oracle.h"
#include "tests/crash/seeds.h"

namespace tsdb::engine {
namespace {

constexpr Timestamp kShared = 1'000'000;

std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// One batch as its thread saw it.
struct Sent {
  CommitNumber commit;  // 0: no answer
  bool durable = false;
};

struct Writer {
  std::string own;          // key of its series
  std::vector<Sent> sent;   // batch n has time n
};

std::string OwnKey(int thread) { return "own" + std::to_string(thread); }
double IdOf(int thread, std::size_t n) { return static_cast<double>(thread * 100'000 + static_cast<int>(n)); }

class ConcurrentCut {
 public:
  explicit ConcurrentCut(std::uint64_t seed) : random_(seed) {}

  void Run() {
    options_ = QuietOptions();
    options_.background = Below(2) == 0;
    options_.sync_interval_ms = 1;
    options_.wal_bytes_max = 1 << (8 + Below(6));
    const int threads = 2 + static_cast<int>(Below(3));
    fs_ = std::make_unique<MemoryFileSystem>();
    ASSERT_NO_FATAL_FAILURE(Prepare(threads));
    fs_->StopAt(fs_->operations() + 1 + Below(200));
    WorkUntilTheCut(threads);
    db_.reset();
    const auto mode = static_cast<MemoryFileSystem::CutMode>(Below(3));
    const auto after = fs_->AfterPowerCut(mode, random_ = Mix(random_ + 1));
    Keep(*after);
    TSDB_ASSERT_OPEN(db_, "/db", options_, MemoryEnvironment(after.get(), &clock_));
    ASSERT_NO_FATAL_FAILURE(Check(mode == MemoryFileSystem::CutMode::kKeepUnsynced));
    // What was found stays.
    const Contents found = ReadAll(*db_);
    db_.reset();
    const auto again = after->AfterPowerCut(MemoryFileSystem::CutMode::kDropUnsynced);
    TSDB_ASSERT_OPEN(db_, "/db", options_, MemoryEnvironment(again.get(), &clock_));
    EXPECT_EQ(ReadAll(*db_), found);
  }

 private:
  std::uint64_t Below(std::uint64_t n) { return (random_ = Mix(random_ + 0x9e3779b97f4a7c15ull)) % n; }

  void Prepare(int threads) {
    TSDB_ASSERT_OPEN(db_, "/db", options_, MemoryEnvironment(fs_.get(), &clock_));
    for (int i = 0; i < threads; ++i) {
      writers_.push_back({OwnKey(i), {}});
      ASSERT_TRUE(db_->CreateSeriesByKey(writers_.back().own, {}).ok());
    }
    ASSERT_TRUE(db_->CreateSeriesByKey("shared", {}).ok());
    const auto counter = db_->CreateSeriesByKey("counter", {});
    ASSERT_TRUE(counter.ok());
    TSDB_ASSERT_OK(Put(*db_, *counter, kShared, 0, WriteOptions::With(Durability::kAlways)));
  }

  void WorkUntilTheCut(int threads) {
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&, i, seed = Mix(random_ + static_cast<std::uint64_t>(i) + 1)] {
        Write(i, seed, &writers_[static_cast<std::size_t>(i)]);
      });
    }
    running.emplace_back([this] {
      while (!stopped_.load()) {
        auto result = db_->Query({});
        ColumnBatch batch;
        while (result.ok() && (*result)->NextSeries()) {
          while ((*result)->NextBatch(&batch)) {
          }
        }
        std::this_thread::yield();
      }
    });
    if (!options_.background) {
      running.emplace_back([this] {
        while (!stopped_.load()) {
          (void)db_->Flush();
          std::this_thread::yield();
        }
      });
    }
    for (int i = 0; i < threads; ++i) {
      running[static_cast<std::size_t>(i)].join();
    }
    stopped_.store(true);
    for (std::size_t i = static_cast<std::size_t>(threads); i < running.size(); ++i) {
      running[i].join();
    }
  }

  void Write(int thread, std::uint64_t seed, Writer* writer) {
    const SeriesRef own = *db_->ResolveKey(writer->own);
    const SeriesRef shared = *db_->ResolveKey("shared");
    const SeriesRef counter = *db_->ResolveKey("counter");
    for (std::size_t n = 0; n < 400; ++n) {
      WriteBatch batch;
      batch.Add(own, static_cast<Timestamp>(n), IdOf(thread, n));
      batch.Add(shared, kShared, IdOf(thread, n));
      batch.Increment(counter, kShared, 1);
      const auto durability = static_cast<Durability>(Mix(seed + n) % 3);
      const auto result = db_->Append(batch, WriteOptions::With(durability));
      if (!result.ok()) {
        writer->sent.push_back({});
        return;
      }
      writer->sent.push_back({result->commit, durability == Durability::kAlways});
    }
  }

  /// How many of a thread's batches are there; they must be its first ones.
  static std::size_t Present(const Samples& own, int thread) {
    std::size_t n = 0;
    for (const auto& [time, bits] : own) {
      EXPECT_EQ(time, static_cast<Timestamp>(n));
      EXPECT_EQ(std::bit_cast<double>(bits), IdOf(thread, n));
      ++n;
    }
    return n;
  }

  void Check(bool nothing_is_lost) {
    Contents found = ReadAll(*db_);
    CommitNumber last_there;
    CommitNumber first_missing{~std::uint64_t{0}};
    std::size_t there = 0;
    double last_value = 0;
    std::set<double> unanswered_there;
    for (std::size_t i = 0; i < writers_.size(); ++i) {
      const auto thread = static_cast<int>(i);
      const std::vector<Sent>& sent = writers_[i].sent;
      const std::size_t present = Present(found[writers_[i].own], thread);
      ASSERT_LE(present, sent.size());
      there += present;
      for (std::size_t n = 0; n < sent.size(); ++n) {
        if (sent[n].commit.value == 0) {
          if (n < present) {
            unanswered_there.insert(IdOf(thread, n));
          }
        } else if (n < present) {
          if (sent[n].commit > last_there) {
            last_there = sent[n].commit;
            last_value = IdOf(thread, n);
          }
        } else {
          ASSERT_FALSE(sent[n].durable) << "a batch that was acknowledged as durable is lost";
          ASSERT_FALSE(nothing_is_lost) << "a crash of the process lost an acknowledged batch";
          first_missing = std::min(first_missing, sent[n].commit);
        }
      }
    }
    ASSERT_LT(last_there, first_missing) << "what came back is no prefix of the commits";
    const double counter = std::bit_cast<double>(found["counter"][kShared]);
    EXPECT_EQ(counter, static_cast<double>(there)) << "each batch that is there counted once";
    if (there != 0) {
      const double shared = std::bit_cast<double>(found["shared"][kShared]);
      EXPECT_TRUE(shared == last_value || unanswered_there.contains(shared))
          << "the shared sample is of " << shared << ", the last commit wrote " << last_value;
    }
  }

  /// Writes a disk below TSDB_SIMULATOR_KEEP; the newest replaces the one before.
  static void Keep(MemoryFileSystem& fs) {
    const char* target = std::getenv("TSDB_SIMULATOR_KEEP");
    if (target == nullptr) {
      return;
    }
    std::filesystem::remove_all(target);
    for (const char* folder : {"", "manifest", "chunks", "catalogue", "wal"}) {
      const auto entries = fs.List(JoinPath("/db", folder));
      std::filesystem::create_directories(std::filesystem::path(target) / folder);
      for (const DirectoryEntry& entry : entries.ok() ? *entries : std::vector<DirectoryEntry>()) {
        if (!entry.is_directory) {
          const auto bytes = fs.ReadWhole(JoinPath(JoinPath("/db", folder), entry.name));
          std::ofstream(std::filesystem::path(target) / folder / entry.name, std::ios::binary) << *bytes;
        }
      }
    }
  }

  std::uint64_t random_;
  OpenOptions options_;
  FakeClock clock_;
  std::unique_ptr<MemoryFileSystem> fs_;
  std::vector<Writer> writers_;
  std::atomic<bool> stopped_{false};
  std::unique_ptr<Database> db_;
};

TEST(ConcurrentPowerCut, WhatComesBackIsWhatThreadsCommittedUpToSomeCommit) {
  ForEachSeed(300, 4, [](std::uint64_t seed) { ConcurrentCut(seed).Run(); });
}

}  // namespace
}  // namespace tsdb::engine
