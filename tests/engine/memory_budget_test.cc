// One memory budget: what is idle is forgotten, what is not yet in files makes a flush or lets writers wait.
#include <atomic>
#include <set>
#include <thread>

#include "engine/registry.h"
#include "tests/engine/engine_test_util.h"

namespace tsdb::engine {
namespace {

SeriesDefinition Define(std::uint64_t id, const std::string& metric) {
  SeriesDefinition definition;
  definition.id = SeriesId{id};
  definition.labels = Series(metric);
  return definition;
}

TEST(RegistryTest, ForgetsWhatWasUnusedForLongestAndKeepsWhatIsOnItsWay) {
  Registry registry;
  for (std::uint64_t id = 1; id <= 100; ++id) {
    registry.Insert(Define(id, "m" + std::to_string(id)), RegistryEntry::State::kLive);
  }
  const auto ordered = registry.Insert(Define(101, "ordered"), RegistryEntry::State::kOrdered);
  const std::uint64_t all = registry.memory_bytes();
  const auto held = registry.FindById(SeriesId{7});
  registry.AdvanceAge();
  registry.AdvanceAge();
  ASSERT_NE(registry.FindById(SeriesId{3}), nullptr);

  registry.Evict(all);
  EXPECT_EQ(registry.size(), 101u) << "nothing goes while there is room";
  EXPECT_EQ(registry.evictions(), 0u);
  registry.Evict(all / 2);
  EXPECT_EQ(registry.size(), 2u);
  EXPECT_GT(registry.evictions(), 0u);
  EXPECT_LT(registry.memory_bytes(), all / 20);
  EXPECT_NE(registry.FindById(SeriesId{3}), nullptr) << "used at this age";
  EXPECT_EQ(registry.FindById(SeriesId{101}), ordered) << "its definition is not in the index yet";
  EXPECT_EQ(registry.FindById(SeriesId{7}), nullptr);
  const Labels labels = Series("m7");
  EXPECT_EQ(registry.FindByLabels(labels.Hash(), EncodeIdentity(labels)), nullptr);
  EXPECT_EQ(held->id, SeriesId{7}) << "who holds an entry may go on looking at it";

  registry.Insert(Define(7, "m7"), RegistryEntry::State::kLive);
  EXPECT_NE(registry.FindByLabels(labels.Hash(), EncodeIdentity(labels)), nullptr);
}

class MemoryBudgetTest : public testing::Test {
 protected:
  void Open(const OpenOptions& options) {
    TSDB_ASSERT_OPEN(db_, "/db", options, MemoryEnvironment(&fs_, &clock_));
  }
  MemoryFileSystem fs_;
  FakeClock clock_;
  std::unique_ptr<Database> db_;
};

TEST_F(MemoryBudgetTest, IdleSeriesAreForgottenBeforeTheyFillIt) {
  OpenOptions options = QuietOptions();
  options.memory_bytes_max = 1 << 20;
  Open(options);
  constexpr int kRounds = 10;
  constexpr int kSeries = 1000;
  std::vector<SeriesRef> first;
  for (int round = 0; round < kRounds; ++round) {
    WriteBatch batch;
    for (int i = 0; i < kSeries; ++i) {
      batch.Add(Series("pod_" + std::to_string(round) + "_" + std::to_string(i)), 1000 + round, i);
    }
    const auto result = db_->Append(batch);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    ASSERT_EQ(result->new_series, static_cast<std::uint64_t>(kSeries));
    if (round == 0) {
      first = result->refs;
    }
    TSDB_ASSERT_OK(db_->Flush());
  }
  const Stats stats = db_->GetStats();
  EXPECT_EQ(stats.series, static_cast<std::uint64_t>(kRounds * kSeries));
  EXPECT_LE(stats.series_in_memory, 2u * kSeries);
  EXPECT_LE(stats.registry_bytes, options.memory_bytes_max / 2);
  EXPECT_EQ(stats.memory_bytes_max, options.memory_bytes_max);
  EXPECT_EQ(stats.memory_bytes,
            stats.head_bytes + stats.registry_bytes + stats.index_memory_bytes + stats.file_memory_bytes);

  // The forgotten ones are still what they were: by ref, by labels, and no name is given twice.
  TSDB_ASSERT_OK(Put(*db_, first[5], 5000, 1));
  WriteBatch again;
  for (int i = 0; i < kSeries; ++i) {
    again.Add(Series("pod_0_" + std::to_string(i)), 6000, i);
  }
  const auto result = db_->Append(again);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->new_series, 0u);
  EXPECT_EQ(result->refs[5].id, first[5].id);
  const auto taken = db_->CreateSeriesByKey(Series("pod_0_9").CanonicalKey(), {});
  EXPECT_EQ(taken.status().code(), StatusCode::kAlreadyExists);
}

TEST_F(MemoryBudgetTest, UnflushedDataMakesAFlushBeforeTheBudgetIsFull) {
  OpenOptions options = QuietOptions();
  options.memory_bytes_max = 256 << 10;
  Open(options);
  const auto ref = db_->CreateSeries(Series("cpu"));
  ASSERT_TRUE(ref.ok());
  std::uint64_t random = 1;
  std::uint64_t most = 0;
  for (int i = 0; i < 400; ++i) {
    WriteBatch batch;
    for (int k = 0; k < 500; ++k) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      batch.Add(*ref, i * 500 + k, static_cast<double>(random) * 1e-3);
    }
    ASSERT_TRUE(db_->Append(batch).ok());
    most = std::max(most, db_->GetStats().head_bytes);
  }
  EXPECT_GT(db_->GetStats().flushes, 3u) << "without background work the writer flushes itself";
  EXPECT_LE(most, options.memory_bytes_max + (16 << 10)) << "a batch in flight comes on top";
  EXPECT_EQ(db_->GetStats().samples_in_files + db_->GetStats().samples_in_head, 200'000u);
}

TEST_F(MemoryBudgetTest, ThreadsNameTheSameSeriesOnceWhileOthersAreForgotten) {
  OpenOptions options;  // with background flushes
  options.memory_bytes_max = 64 << 10;
  Open(options);
  constexpr int kThreads = 3;
  constexpr int kNames = 200;
  std::array<std::vector<std::uint64_t>, kThreads> ids;
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kNames; ++i) {
        const auto ref = db_->CreateSeries(Series("name_" + std::to_string(i)));
        WriteBatch batch;
        batch.Add(Series("name_" + std::to_string(i)), 1000 + t, 1);
        const auto result = db_->Append(batch);
        if (!ref.ok() || !result.ok() || result->refs[0].id != ref->id) {
          failed.fetch_add(1);
          continue;
        }
        ids[static_cast<std::size_t>(t)].push_back(ref->id.value);
        if (i % 8 == t && !db_->Flush().ok()) {
          failed.fetch_add(1);
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(failed.load(), 0);
  EXPECT_EQ(ids[0], ids[1]);
  EXPECT_EQ(ids[0], ids[2]);
  EXPECT_EQ(std::set<std::uint64_t>(ids[0].begin(), ids[0].end()).size(), static_cast<std::size_t>(kNames));
  EXPECT_EQ(db_->GetStats().series, static_cast<std::uint64_t>(kNames));
}

}  // namespace
}  // namespace tsdb::engine
