// The log holds effects only: replaying it into a map, without head, files, settings or policies, gives the final
// values.
#include <map>

#include "tests/crash/oracle.h"
#include "tests/crash/workload.h"
#include "wal/replay.h"

namespace tsdb::engine {
namespace {

class PutIntoMap final : public wal::ReplayVisitor {
 public:
  Status OnCommit(CommitNumber commit, std::int64_t wall_nanos) override {
    EXPECT_GT(commit, last_);
    EXPECT_GE(wall_nanos, last_wall_);
    last_ = commit;
    last_wall_ = wall_nanos;
    return Status::Ok();
  }
  Status OnDefinition(const SeriesDefinition& definition) override {
    names_[definition.id.value] = definition.ShownKey();
    return Status::Ok();
  }
  Status OnPuts(std::span<const wal::Put> puts) override {
    for (const wal::Put& put : puts) {
      contents[names_.at(put.id.value)][put.time] = std::bit_cast<std::uint64_t>(put.value);
    }
    return Status::Ok();
  }

  Contents contents;

 private:
  std::map<std::uint64_t, std::string> names_;
  CommitNumber last_;
  std::int64_t last_wall_ = 0;
};

TEST(ReplayAlone, GivesTheFinalValuesOfSumBlockAndIncrementWrites) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    MemoryFileSystem fs;
    FakeClock clock;
    Workload workload(seed);
    Oracle oracle;
    std::unique_ptr<Database> db;
    TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(&fs, &clock));
    for (int i = 0; i < 40; ++i) {
      clock.Advance(static_cast<std::int64_t>(workload.Below(3)) * 1'000'000 -
                    1'000'000);  // the clock goes back as well
      const RandomBatch batch = workload.Next(Durability::kNone);
      ASSERT_TRUE(engine::Run(*db, batch).ok());
      oracle.Apply(batch.ops);
    }
    db.reset();
    auto manifest = chunk::Manifest::Load(fs, "/db");
    ASSERT_TRUE(manifest.ok());
    wal::ReplayOptions options;
    options.store_id = {manifest->store_high, manifest->store_low};
    PutIntoMap visitor;
    ASSERT_TRUE(wal::Replay(fs, "/db/wal", options, visitor).ok());
    EXPECT_EQ(visitor.contents, oracle.contents()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tsdb::engine
