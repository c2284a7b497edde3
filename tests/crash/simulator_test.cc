// The simulator: random histories on a disk that fails and loses power at random operations, in the middle of appends,
// flushes, closes and recoveries, and leaves any subset of what was not synced.
//
// What must hold, whatever the seed:
//   - a failed operation changes no answer of the running database;
//   - after the cut the database opens; its contents are those after some number of acknowledged batches, at least the
//     durable ones; the batches that failed since writing last worked are there whole or not at all, one at most;
//   - what an open showed is still there after the next cut;
//   - a crash of the process alone loses nothing that was acknowledged.
#include <algorithm>
#include <vector>

#include "tests/crash/oracle.h"
#include "tests/crash/seeds.h"
#include "tests/crash/workload.h"

namespace tsdb::engine {
namespace {

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : workload_(seed), fs_(std::make_unique<MemoryFileSystem>()) {
    options_ = QuietOptions();
    options_.memory_bytes_max = std::uint64_t{2} << Below(18);
  }

  /// What happened, one line each; shown when a seed fails.
  const std::string& history() const { return history_; }

  void Run() {
    const std::uint64_t lives = 2 + Below(4);
    for (std::uint64_t life = 0; life < lives; ++life) {
      ASSERT_NO_FATAL_FAILURE(Live()) << "life " << life;
      ASSERT_NO_FATAL_FAILURE(Die()) << "life " << life;
    }
    ASSERT_NO_FATAL_FAILURE(Open());
    ASSERT_NE(db_, nullptr) << "nothing fails here";
    TSDB_ASSERT_OK(db_->Close());
    ASSERT_NO_FATAL_FAILURE(Open());
    EXPECT_EQ(ReadAll(*db_), oracle_.contents());
    EXPECT_EQ(db_->recovery_report().commits, 0u);
  }

 private:
  std::uint64_t Below(std::uint64_t n) { return workload_.Below(n); }

  void Tell(const std::string& what) {
    history_ += "  @" + std::to_string(fs_->operations()) + " " + what + " (" + std::to_string(oracle_.batches()) +
                " batches, " + std::to_string(durable_) + " durable)\n";
  }

  /// The power goes within the next operations, or not at all.
  void PlanCut() {
    if (Below(4) != 0) {
      const std::uint64_t at = fs_->operations() + 1 + Below(Below(3) == 0 ? 12 : 150);
      fs_->StopAt(at);
      Tell("the power goes at operation " + std::to_string(at));
      cut_is_planned_ = true;
    }
  }

  /// A few operations in a row fail, now and then.
  void PlanFaults() {
    if (Below(2) == 0) {
      return;
    }
    const std::uint64_t first = fs_->operations() + 1 + Below(60);
    const std::uint64_t count = 1 + Below(4);
    constexpr StatusCode kCodes[] = {StatusCode::kIoError, StatusCode::kNoSpace, StatusCode::kTooManyOpenFiles};
    const StatusCode code = kCodes[Below(3)];
    fs_->SetFault([=](std::uint64_t number, std::string_view operation, const std::string& path) {
      return number >= first && number < first + count
                 ? Status(code, std::string(operation) + " of " + path + " fails as told")
                 : Status::Ok();
    });
    faults_are_planned_ = true;
    Tell(std::string(StatusCodeName(code)) + " at operations " + std::to_string(first) + " to " +
         std::to_string(first + count - 1));
  }

  /// Opens the database and compares; leaves db_ empty when an operation failed as planned.
  void Open() {
    db_.reset();
    auto opened = OpenDatabase("/db", options_, MemoryEnvironment(fs_.get(), &clock_));
    Tell("open: " + opened.status().ToString());
    if (!opened.ok()) {
      ASSERT_TRUE(cut_is_planned_ || faults_are_planned_) << opened.status().ToString();
      ASSERT_NE(opened.status().code(), StatusCode::kCorruption) << opened.status().ToString();
      return;
    }
    db_ = std::move(*opened);
    const Contents found = ReadAll(*db_);
    for (const std::string& note : db_->recovery_report().notes) {
      history_ += "    " + note + "\n";
    }
    if (const auto prefix = oracle_.FindPrefix(found, durable_)) {
      ASSERT_TRUE(!nothing_is_lost_ || *prefix == oracle_.batches() || found == oracle_.contents())
          << "a crash of the process lost acknowledged batches";
      oracle_.Forget(*prefix);
    } else {
      const auto came_back = std::find(failed_.begin(), failed_.end(), found);
      ASSERT_NE(came_back, failed_.end()) << "no prefix of at least " << durable_ << " of " << oracle_.batches()
                                          << " batches, nor all of them with one of " << failed_.size()
                                          << " that failed\n" << Difference(found, oracle_.contents());
      oracle_.Change([&](Contents* contents) { *contents = found; });
    }
    failed_.clear();
    nothing_is_lost_ = false;
    durable_ = oracle_.batches();  // an open syncs what it found
  }

  void Live() {
    cut_is_planned_ = faults_are_planned_ = false;
    if (Below(3) == 0) {
      PlanCut();  // perhaps in the middle of the recovery
    }
    if (Below(4) == 0) {
      PlanFaults();
    }
    for (int tries = 0; db_ == nullptr && tries < 3; ++tries) {
      ASSERT_NO_FATAL_FAILURE(Open());
    }
    if (db_ == nullptr) {
      return;
    }
    if (!cut_is_planned_) {
      PlanCut();
    }
    PlanFaults();
    const std::uint64_t steps = 5 + Below(30);
    for (std::uint64_t step = 0; step < steps && db_ != nullptr; ++step) {
      clock_.Advance(1'000'000);
      ASSERT_NO_FATAL_FAILURE(Step()) << "step " << step;
    }
  }

  void Step() {
    switch (Below(14)) {
      case 0:
        if (Status status = db_->Flush(); status.ok()) {
          durable_ = oracle_.batches();
          Tell("flush");
        } else {
          Tell("flush: " + status.ToString());
        }
        break;
      case 1:
        if (last_commit_.value != 0 && db_->WaitDurable(last_commit_).ok()) {
          durable_ = oracle_.batches();
        }
        break;
      case 2:
        // Not on a disk whose syncs fail: a new process takes pages for clean that the old one knew were not
        // (docs/reliability.md, "Limits").
        if (Below(3) == 0 && !faults_are_planned_) {
          ASSERT_NO_FATAL_FAILURE(Reopen());
          return;
        }
        [[fallthrough]];
      case 3:
        ASSERT_NO_FATAL_FAILURE(End());
        break;
      case 4:
        if (Below(3) == 0) {
          const Status status = db_->Compact().status();
          Tell("compact: " + status.ToString());
          durable_ = status.ok() ? oracle_.batches() : durable_;
          break;
        }
        [[fallthrough]];
      default:
        ASSERT_NO_FATAL_FAILURE(Append());
    }
    if (Below(4) == 0) {
      ASSERT_EQ(ReadAll(*db_), oracle_.contents());
    }
  }

  void Append() {
    const auto durability = static_cast<Durability>(Below(3));
    const RandomBatch batch = workload_.Next(durability);
    const auto result = engine::Run(*db_, batch);
    Tell("append at level " + std::to_string(static_cast<int>(durability)) + ": " +
         (result.ok() ? "commit " + std::to_string(result->commit.value) : result.status().ToString()));
    if (!result.ok()) {
      ASSERT_TRUE(cut_is_planned_ || faults_are_planned_) << result.status().ToString();
      if (result.status().code() != StatusCode::kNoSpace) {
        failed_.push_back(oracle_.With(batch.ops));
      }
      return;
    }
    const std::size_t before = oracle_.batches();
    const std::size_t refused = oracle_.Apply(batch.ops);
    EXPECT_EQ(result->rejected.size(), refused);
    if (result->commit.value == 0) {
      return;  // changed nothing, so nothing was written
    }
    if (!failed_.empty()) {
      failed_.clear();
      durable_ = before;  // writing resumes only behind a synced segment header
    }
    last_commit_ = result->commit;
    if (durability == Durability::kAlways) {
      durable_ = oracle_.batches();
    }
  }

  /// A delete or a drop.
  void End() {
    const RandomEnd end = NextEnd(workload_);
    const Durability durability = static_cast<Durability>(Below(3));
    bool durable = false;
    const CommitNumber before = db_->GetStats().last_commit;
    const Status status = engine::Run(*db_, end, durability, &durable);
    Tell(std::string(end.kind == RandomEnd::Kind::kDrop ? "drop " : "delete ") + end.selector.ToString() + ": " +
         status.ToString());
    if (!status.ok()) {
      ASSERT_TRUE(cut_is_planned_ || faults_are_planned_) << status.ToString();
      if (status.code() != StatusCode::kNoSpace) {
        Contents with = oracle_.contents();
        end.Apply(&with);
        failed_.push_back(with);
      }
      return;
    }
    const std::size_t batches = oracle_.batches();
    oracle_.Change([&](Contents* contents) { end.Apply(contents); });
    if (db_->GetStats().last_commit == before) {
      return;  // nothing was selected, so nothing was written
    }
    if (!failed_.empty()) {
      failed_.clear();
      durable_ = batches;
    }
    last_commit_ = db_->GetStats().last_commit;
    durable_ = durable ? oracle_.batches() : durable_;
  }

  /// A clean close, or none: both lose nothing.
  void Reopen() {
    if (Below(2) == 0 && db_->Close().ok()) {
      durable_ = oracle_.batches();
    }
    nothing_is_lost_ = failed_.empty();
    last_commit_ = {};
    ASSERT_NO_FATAL_FAILURE(Open());
  }

  /// The process ends, and most times the power with it.
  void Die() {
    const bool was_open = db_ != nullptr;
    db_.reset();
    last_commit_ = {};
    const bool process_only = Below(4) == 0;
    nothing_is_lost_ = process_only && was_open && failed_.empty();
    const std::uint64_t kind = process_only ? 2 : Below(5);
    const auto mode = kind == 2   ? MemoryFileSystem::CutMode::kKeepUnsynced
                      : kind == 0 ? MemoryFileSystem::CutMode::kDropUnsynced
                                  : MemoryFileSystem::CutMode::kRandom;
    Tell("the end, cut mode " + std::to_string(static_cast<int>(mode)));
    fs_ = fs_->AfterPowerCut(mode, workload_.Below(~std::uint64_t{0}));
    cut_is_planned_ = faults_are_planned_ = false;
  }

  Workload workload_;
  OpenOptions options_;
  std::unique_ptr<MemoryFileSystem> fs_;
  FakeClock clock_;
  Oracle oracle_;
  std::size_t durable_ = 0;                    // batches that must be there after any cut
  std::vector<Contents> failed_;  // contents with what failed since writing last worked
  CommitNumber last_commit_;
  std::string history_;
  bool nothing_is_lost_ = false;
  bool cut_is_planned_ = false;
  bool faults_are_planned_ = false;
  std::unique_ptr<Database> db_;
};

TEST(Simulator, WhateverTheDiskDoesNoAcknowledgedBatchIsLostAndNoneIsThereHalf) {
  ForEachSeed(1000, 1, [](std::uint64_t seed) {
    Simulation simulation(seed);
    simulation.Run();
    if (HasFailure()) {
      ADD_FAILURE() << "what happened:\n" << simulation.history();
    }
  });
}

}  // namespace
}  // namespace tsdb::engine
