// The model test: random histories of appends, flushes, merges, reopens and power cuts against std::map.
//
// A history is one seed; a failure prints it. TSDB_MODEL_HISTORIES sets how many run (default 1,000), TSDB_MODEL_SEED
// where they begin.
#include "tests/crash/oracle.h"
#include "tests/crash/seeds.h"
#include "tests/crash/workload.h"

namespace tsdb::engine {
namespace {

class History {
 public:
  explicit History(std::uint64_t seed) : seed_(seed), workload_(seed), fs_(std::make_unique<MemoryFileSystem>()) {}

  void Run() {
    ASSERT_NO_FATAL_FAILURE(Open());
    const std::uint64_t steps = 10 + workload_.Below(40);
    for (std::uint64_t step = 0; step < steps; ++step) {
      ASSERT_NO_FATAL_FAILURE(Step()) << "seed " << seed_ << " step " << step;
    }
    TSDB_ASSERT_OK(db_->Close());
    ASSERT_NO_FATAL_FAILURE(Open());
    ASSERT_EQ(ReadAll(*db_), oracle_.contents()) << "seed " << seed_ << " at the end";
    EXPECT_EQ(db_->recovery_report().commits, 0u);
  }

 private:
  void Open() {
    OpenOptions options = QuietOptions();
    options.memory_bytes_max = 2ull << workload_.Below(18);  // replay flushes at odd moments
    TSDB_ASSERT_OPEN(db_, "/db", options, MemoryEnvironment(fs_.get(), &clock_));
  }

  void Step() {
    clock_.Advance(1'000'000);
    switch (workload_.Below(13)) {
      case 0:
        TSDB_ASSERT_OK(db_->Flush());
        durable_ = oracle_.batches();
        break;
      case 1:
        db_.reset();
        ASSERT_NO_FATAL_FAILURE(Open());
        break;
      case 2:
        TSDB_ASSERT_OK(db_->Close());
        durable_ = oracle_.batches();
        ASSERT_NO_FATAL_FAILURE(Open());
        break;
      case 3:
        ASSERT_NO_FATAL_FAILURE(CutPower());
        break;
      case 4: {
        const auto report = db_->Compact();
        ASSERT_TRUE(report.ok()) << report.status().ToString();
        durable_ = oracle_.batches();
        break;
      }
      default:
        ASSERT_NO_FATAL_FAILURE(Append());
        return;
    }
    ASSERT_EQ(ReadAll(*db_), oracle_.contents());
  }

  void Append() {
    const Durability durability = static_cast<Durability>(workload_.Below(3));
    const RandomBatch batch = workload_.Next(durability);
    const auto result = engine::Run(*db_, batch);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    const std::size_t refused = oracle_.Apply(batch.ops);
    EXPECT_EQ(result->rejected.size(), refused);
    EXPECT_EQ(result->stored + result->ignored + refused, batch.ops.size());
    // A batch that changed nothing leaves no commit to be synced.
    if (durability == Durability::kAlways && result->commit.value != 0) {
      durable_ = oracle_.batches();
    }
    if (workload_.Below(8) == 0) {
      ASSERT_EQ(ReadAll(*db_), oracle_.contents());
    }
  }

  void CutPower() {
    const auto mode = static_cast<MemoryFileSystem::CutMode>(workload_.Below(3));
    db_.reset();
    fs_ = fs_->AfterPowerCut(mode, workload_.Below(1'000'000));
    ASSERT_NO_FATAL_FAILURE(Open());
    const Contents found = ReadAll(*db_);
    const auto prefix = oracle_.FindPrefix(found, durable_);
    ASSERT_TRUE(prefix.has_value()) << "what came back is no prefix of at least " << durable_ << " of "
                                    << oracle_.batches() << " batches";
    if (mode == MemoryFileSystem::CutMode::kKeepUnsynced) {
      EXPECT_EQ(found, oracle_.contents()) << "a crash of the process alone loses nothing";
    }
    oracle_.Forget(*prefix);
    durable_ = std::min(durable_, oracle_.batches());
  }

  const std::uint64_t seed_;
  Workload workload_;
  std::unique_ptr<MemoryFileSystem> fs_;
  FakeClock clock_;
  Oracle oracle_;
  std::size_t durable_ = 0;
  std::unique_ptr<Database> db_;
};

TEST(Model, RandomHistoriesMatchTheMap) {
  const std::uint64_t first = FromEnvironment("TSDB_MODEL_SEED", 1);
  const std::uint64_t count = FromEnvironment("TSDB_MODEL_HISTORIES", 1000);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    History history(seed);
    ASSERT_NO_FATAL_FAILURE(history.Run()) << "reproduce with TSDB_MODEL_SEED=" << seed << " TSDB_MODEL_HISTORIES=1";
  }
}

}  // namespace
}  // namespace tsdb::engine
