// The crash walk: one scripted workload of appends, flushes and merges, cut at every single I/O operation of ours.
#include "tests/crash/oracle.h"
#include "tests/crash/workload.h"

namespace tsdb::engine {
namespace {

struct Outcome {
  Oracle oracle;
  std::size_t durable = 0;              // batches acknowledged under `always`, or flushed
  std::vector<OracleOp> unanswered;     // the batch that was cut
};

// Runs the script until the disk stops; every run does the same up to there.
Outcome RunScript(MemoryFileSystem* fs, std::uint64_t seed) {
  Outcome outcome;
  FakeClock clock;
  Workload workload(seed);
  auto db = OpenDatabase("/db", QuietOptions(), MemoryEnvironment(fs, &clock));
  if (!db.ok()) {
    return outcome;
  }
  for (int step = 0; step < 40; ++step) {
    clock.Advance(1'000'000);
    if (step % 9 == 8) {
      // Every second one merges as well.
      if (!(step % 18 == 17 ? (*db)->Compact().status() : (*db)->Flush()).ok()) {
        return outcome;
      }
      outcome.durable = outcome.oracle.batches();
      continue;
    }
    const Durability durability = step % 3 == 0 ? Durability::kAlways : static_cast<Durability>(step % 2);
    const RandomBatch batch = workload.Next(durability);
    const auto result = Run(**db, batch);
    if (!result.ok()) {
      outcome.unanswered = batch.ops;
      return outcome;
    }
    outcome.oracle.Apply(batch.ops);
    if (durability == Durability::kAlways && result->commit.value != 0) {
      outcome.durable = outcome.oracle.batches();
    }
  }
  if ((*db)->Close().ok()) {
    outcome.durable = outcome.oracle.batches();
  }
  return outcome;
}

void CheckRecovered(MemoryFileSystem* fs, const Outcome& outcome) {
  FakeClock clock;
  std::unique_ptr<Database> db;
  TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(fs, &clock));
  const Contents found = ReadAll(*db);
  const bool prefix = outcome.oracle.FindPrefix(found, outcome.durable).has_value();
  ASSERT_TRUE(prefix || found == outcome.oracle.With(outcome.unanswered))
      << "neither a prefix of at least " << outcome.durable << " of " << outcome.oracle.batches()
      << " batches, nor all of them with the one that got no answer";
  // Writing goes on, and what was found stays.
  auto ref = db->CreateSeries(Labels{{"__name__", "after"}});
  ASSERT_TRUE(ref.ok()) << ref.status().ToString();
  TSDB_ASSERT_OK(Put(*db, *ref, 1, 1));
  TSDB_ASSERT_OK(db->Close());
  TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(fs, &clock));
  Contents again = ReadAll(*db);
  EXPECT_EQ(again.erase("after"), 1u);
  EXPECT_EQ(again, found);
}

struct Cut {
  MemoryFileSystem::CutMode mode;
  std::uint64_t seed;
};

/// What each cut point is tried with: all of it, nothing of it, and some of the ways between.
std::vector<Cut> Cuts(std::uint64_t operation) {
  std::vector<Cut> cuts = {{MemoryFileSystem::CutMode::kDropUnsynced, 0},
                           {MemoryFileSystem::CutMode::kKeepUnsynced, 0}};
  for (std::uint64_t i = 0; i < 6; ++i) {
    cuts.push_back({MemoryFileSystem::CutMode::kRandom, operation * 1000 + i});
  }
  return cuts;
}

TEST(CrashWalk, EveryCutLeavesAnExactPrefix) {
  constexpr std::uint64_t kSeed = 7;
  MemoryFileSystem whole;
  const Outcome complete = RunScript(&whole, kSeed);
  ASSERT_EQ(complete.durable, complete.oracle.batches());
  const std::uint64_t operations = whole.operations();
  ASSERT_GT(operations, 100u);
  for (std::uint64_t stop = 1; stop <= operations; ++stop) {
    MemoryFileSystem fs;
    fs.StopAt(stop);
    const Outcome outcome = RunScript(&fs, kSeed);
    for (const Cut& cut : Cuts(stop)) {
      // Cut while it was created: the next open creates it, or finds it whole and empty.
      const auto after = fs.AfterPowerCut(cut.mode, cut.seed);
      ASSERT_NO_FATAL_FAILURE(CheckRecovered(after.get(), outcome))
          << "cut at operation " << stop << " of " << operations << ", mode " << static_cast<int>(cut.mode) << " seed "
          << cut.seed;
    }
  }
  RecordProperty("cut_points", static_cast<int>(operations));
}

}  // namespace
}  // namespace tsdb::engine
