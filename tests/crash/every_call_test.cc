// Every call to the file system fails, one after the other, once and from then on, each in the ways it can: the engine
// says so, goes on, and has everything that was acknowledged when the fault is gone.
//
// The script appends (policies and increments too), flushes, merges, reads, closes and opens again.
#include <gmock/gmock.h>

#include <algorithm>

#include "engine/verify.h"
#include "tests/crash/faulty_file_system.h"
#include "tests/crash/oracle.h"
#include "tests/crash/seeds.h"
#include "tests/crash/walk.h"
#include "tests/crash/workload.h"

namespace tsdb::engine {
namespace {

using Kind = FaultyFileSystem::Kind;
using ::testing::HasSubstr;

constexpr std::uint64_t kSeed = 21;
constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr unsigned kWorkloadSeries = 6;  // m{i="0"} to m{i="5"}

unsigned SeriesNumber(const OracleOp& op) { return static_cast<unsigned>(op.key[op.key.find('"') + 1] - '0'); }

struct Way {
  const char* name;
  StatusCode code;
  bool torn = false;
  std::vector<Kind> kinds;  // of the calls that can fail like this
  friend std::ostream& operator<<(std::ostream& out, const Way& way) { return out << way.name; }
};

const Way kWays[] = {
    {"io_error", StatusCode::kIoError, false, {Kind::kOpen, Kind::kRead, Kind::kWrite, Kind::kSync}},
    {"short_write", StatusCode::kIoError, true, {Kind::kWrite}},
    {"no_space", StatusCode::kNoSpace, false, {Kind::kOpen, Kind::kWrite, Kind::kSync}},
    {"no_space_short_write", StatusCode::kNoSpace, true, {Kind::kWrite}},
    {"too_many_open_files", StatusCode::kTooManyOpenFiles, false, {Kind::kOpen}},
    {"failing_reads", StatusCode::kIoError, false, {Kind::kRead}},
};

/// One run of the script, with a fault from call `first` on.
class Script {
 public:
  Script(const Way& way, std::uint64_t first, bool once) : way_(way), first_(first), once_(once) {}

  /// Returns after the first failed expectation.
  void Run() {
    fs_.SetFault([this](std::uint64_t number, Kind kind, std::string_view call, const std::string& path) {
      const bool space = way_.code == StatusCode::kNoSpace && kind == Kind::kOpen;  // is missing only where it is taken
      const bool can = std::ranges::find(way_.kinds, kind) != way_.kinds.end() && (!space || call == "OpenWritable");
      if (!can || number < first_ || (once_ && hits_ > 0)) {
        return FaultyFileSystem::Fault();
      }
      ++hits_;
      sync_lost_ |= kind == Kind::kSync;
      return FaultyFileSystem::Fault{Status(way_.code, std::string(call) + " of " + path + " fails as told"),
                                     way_.torn};
    });
    for (int step = 0; step < kSteps && !testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      clock_.Advance(1'000'000);
      Step(step);
    }
    if (!testing::Test::HasFailure()) {
      Heal();
    }
  }

  std::uint64_t calls() { return fs_.calls(); }
  std::uint64_t hits() const { return hits_; }
  std::uint64_t failures() const { return failures_; }

 private:
  static constexpr int kSteps = 26;

  void Step(int step) {
    if (!EnsureOpen()) {
      return;
    }
    switch (step % 9) {
      case 4:
        Told(db_->Flush());
        break;
      case 7:
        Told(step % 2 == 0 ? db_->Flush() : db_->Compact().status());
        break;
      case 8:
        // Every second time as if the process had died.
        if (step % 2 == 0) {
          Told(db_->Close());
        }
        db_ = nullptr;
        disk_lies_ |= sync_lost_;
        break;
      default:
        Append(step);
        break;
    }
    if (db_ != nullptr) {
      Read();
    }
  }

  /// A refused open is said so; the next step tries again.
  bool EnsureOpen() {
    if (db_ != nullptr) {
      return true;
    }
    auto opened = OpenDatabase("/db", QuietOptions(), MemoryEnvironment(&fs_, &clock_));
    if (!opened.ok()) {
      Told(opened.status());
      return false;
    }
    db_ = std::move(*opened);
    EXPECT_THAT(db_->recovery_report().samples_orphaned, 0u);
    Settle();
    return true;
  }

  /// What of the batches without answer is there after an opening: each whole or not at all, and so it stays.
  void Settle() {
    if (unanswered_.empty()) {
      return;
    }
    const auto found = TryReadAll(*db_);
    if (!found.ok()) {
      Told(found.status());
      db_ = nullptr;  // to be opened and looked at again
      return;
    }
    for (const std::vector<OracleOp>& batch : unanswered_) {
      if (*found != oracle_.contents()) {
        TakeIfFound(batch, *found);
      }
    }
    EXPECT_EQ(*found, oracle_.contents()) << Difference(*found, oracle_.contents());
    unanswered_.clear();
  }

  /// A batch without answer may lack the samples that were refused because what they depend on could not be read: those
  /// of some series.
  void TakeIfFound(const std::vector<OracleOp>& batch, const Contents& found) {
    const bool reads_fail = std::ranges::find(way_.kinds, Kind::kRead) != way_.kinds.end();
    for (unsigned refused = 0; refused < (reads_fail ? 1u << kWorkloadSeries : 1u); ++refused) {
      std::vector<OracleOp> ops = batch;
      std::erase_if(ops, [&](const OracleOp& op) {
        const bool depends = op.increment || op.policy != DuplicatePolicy::kLast;
        return depends && (refused >> SeriesNumber(op)) % 2 == 1;
      });
      if (!ops.empty() && found == oracle_.With(ops)) {
        oracle_.Apply(ops);
        return;
      }
    }
  }

  void Append(int step) {
    const RandomBatch batch = workload_.Next(step % 3 == 0 ? Durability::kAlways : Durability::kNone);
    const auto result = engine::Run(*db_, batch);
    if (result.ok()) {
      std::vector<OracleOp> stored = batch.ops;
      for (auto refused = result->rejected.rbegin(); refused != result->rejected.rend(); ++refused) {
        if (refused->status.code() == way_.code) {  // what it depends on could not be read
          Told(refused->status);
          stored.erase(stored.begin() + static_cast<std::ptrdiff_t>(refused->index));
        }
      }
      oracle_.Apply(stored);
      if (result->commit.value != 0) {  // writing has resumed: what failed is gone for good
        unanswered_.clear();
        sync_lost_ = false;
      }
      return;
    }
    Told(result.status());
    if (result.status().code() != StatusCode::kNoSpace) {
      unanswered_.push_back(batch.ops);
    }
  }

  /// Right, or an error.
  void Read() {
    const auto found = TryReadAll(*db_);
    if (found.ok()) {
      EXPECT_EQ(*found, oracle_.contents()) << Difference(*found, oracle_.contents());
    } else {
      Told(found.status());
    }
  }

  void Told(const Status& status) {
    if (status.ok()) {
      return;
    }
    ++failures_;
    EXPECT_GT(hits_, 0u) << status.ToString();
    // A write whose outcome is not known says so whatever the reason.
    EXPECT_TRUE(status.code() == way_.code || (status.code() == StatusCode::kIoError &&
                                               status.ToString().find("the write is void once") != std::string::npos))
        << status.ToString();
    EXPECT_THAT(status.ToString(), HasSubstr("as told"));
  }

  /// The fault goes away: all is there, writing resumes in the same process, and it stays after a power cut.
  void Heal() {
    fs_.SetFault({});
    ASSERT_TRUE(EnsureOpen());
    ASSERT_EQ(ReadAll(*db_), oracle_.contents()) << "with the fault gone";
    WriteBatch batch;
    batch.Add(Labels{{"__name__", "after"}}, 1'000'000, 1);
    const auto result = db_->Append(batch, WriteOptions::With(Durability::kAlways));
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    oracle_.Apply({{Labels{{"__name__", "after"}}.CanonicalKey(), 1'000'000, 1}});
    if (!disk_lies_) {
      ExpectAll(*fs_.disk().AfterPowerCut(MemoryFileSystem::CutMode::kDropUnsynced), "after a power cut");
    }
    TSDB_ASSERT_OK(db_->Flush());
    EXPECT_EQ(db_->GetStats().write_error, "");
    EXPECT_EQ(db_->GetStats().flush_error, "");
    ASSERT_TRUE(db_->Compact().ok());
    ASSERT_EQ(ReadAll(*db_), oracle_.contents()) << "after a merge";
    db_ = nullptr;
    ExpectAll(fs_.disk(), "after another opening");
  }

  void ExpectAll(MemoryFileSystem& fs, const char* when) {
    const auto report = VerifyDatabase(fs, "/db");
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    ASSERT_THAT(report->damage, testing::IsEmpty());
    std::unique_ptr<Database> db;
    TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(&fs, &clock_));
    ASSERT_EQ(ReadAll(*db), oracle_.contents()) << when;
    ASSERT_EQ(db->recovery_report().samples_orphaned, 0u);
  }

  const Way& way_;
  const std::uint64_t first_;
  const bool once_;
  FaultyFileSystem fs_;
  FakeClock clock_;
  Workload workload_{kSeed};
  Oracle oracle_;
  std::unique_ptr<Database> db_;
  std::vector<std::vector<OracleOp>> unanswered_;  // batches that failed since the last that did not
  bool sync_lost_ = false;  // a sync has failed and no write has succeeded since
  bool disk_lies_ = false;  // the process ended like that: the next cannot know what never reached the disk
  std::uint64_t hits_ = 0;
  std::uint64_t failures_ = 0;
};

class EveryCall : public testing::TestWithParam<std::tuple<Way, bool>> {};

TEST_P(EveryCall, ThatFailsIsToldAndCostsNothingThatWasAcknowledged) {
  const auto& [way, once] = GetParam();
  Script whole(way, kNever, true);
  whole.Run();
  ASSERT_FALSE(HasFailure());
  ASSERT_GT(whole.calls(), 300u);
  std::uint64_t told = 0;
  std::uint64_t failed = 0;
  for (std::uint64_t n = 1; n <= whole.calls(); ++n) {
    Script script(way, n, once);
    script.Run();
    told += script.failures();
    failed += script.hits();
    ASSERT_FALSE(HasFailure()) << "call " << n;
    if (script.hits() == 0) {
      break;
    }
  }
  EXPECT_GT(told, 20u);
  TellCount("calls_failed", failed);
}

INSTANTIATE_TEST_SUITE_P(Ways, EveryCall, testing::Combine(testing::ValuesIn(kWays), testing::Bool()),
                         [](const auto& ways) {
                           return std::string(std::get<0>(ways.param).name) +
                                  (std::get<1>(ways.param) ? "_once" : "_from_then_on");
                         });

}  // namespace
}  // namespace tsdb::engine
