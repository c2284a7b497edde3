// The model test: random histories of appends, deletes, drops, changes of series, retention, flushes, merges (into the
// final form, and those that the background chooses: closing runs the one that is due), reopens, clock jumps and power
// cuts against std::map.
//
// A history is one seed; a failure prints it. TSDB_MODEL_HISTORIES sets how many run (default 3,000), TSDB_MODEL_SEED
// where they begin.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "tests/crash/oracle.h"
#include "tests/crash/seeds.h"
#include "tests/crash/workload.h"

namespace tsdb::engine {
namespace {

/// A series created by key, as the history knows it.
struct Named {
  SeriesRef ref;
  std::int64_t retention = 0;
  DuplicatePolicy policy = DuplicatePolicy::kLast;
};

/// A series that was dropped.
struct Gone {
  std::string key;
  SeriesRef ref;
  bool by_key = false;
  Named named;
  Samples samples;
  std::int64_t until_nanos = 0;
  bool buried = false;
};

class History {
 public:
  explicit History(std::uint64_t seed)
      : seed_(seed), workload_(seed), scale_(seed % 2 == 0 ? 1 : kHalfDay), fs_(std::make_unique<MemoryFileSystem>()) {
    oracle_.refuses = [this](const OracleOp& op, const Contents& contents) { return IsTooOld(op, contents); };
  }

  void Run() {
    ASSERT_NO_FATAL_FAILURE(Open());
    ASSERT_NO_FATAL_FAILURE(CreateNamed());
    const std::uint64_t steps = 10 + Below(50);
    for (std::uint64_t step = 0; step < steps; ++step) {
      ASSERT_NO_FATAL_FAILURE(Step()) << "seed " << seed_ << " step " << step << "\n" << told_;
    }
    TSDB_ASSERT_OK(db_->Close());
    ASSERT_NO_FATAL_FAILURE(Open());
    ASSERT_EQ(ReadAll(*db_), oracle_.contents()) << "seed " << seed_ << " at the end\n" << told_;
    EXPECT_EQ(db_->recovery_report().commits, 0u);
  }

 private:
  std::uint64_t Below(std::uint64_t n) { return workload_.Below(n); }
  void Tell(const std::string& what) { told_ += "  " + what + "\n"; }

  void Open() {
    OpenOptions options = QuietOptions();
    options.memory_bytes_max = 2ull << Below(18);  // replay flushes at odd moments
    TSDB_ASSERT_OPEN(db_, "/db", options, MemoryEnvironment(fs_.get(), &clock_));
  }

  void CreateNamed() {
    for (const char* key : {"k0", "k1", "r0", "r1"}) {
      SeriesSettings settings;
      settings.retention = key[0] == 'r' ? 15 * scale_ : 0;
      const auto ref = db_->CreateSeriesByKey(key, Labels{{"kind", std::string(1, key[0])}}, settings);
      ASSERT_TRUE(ref.ok()) << ref.status().ToString();
      named_[key] = {*ref, settings.retention};
    }
    TSDB_ASSERT_OK(db_->Flush());
  }

  void Step() {
    clock_.Advance(1'000'000);
    const std::uint64_t kind = Below(28);
    Tell("step of kind " + std::to_string(kind));
    switch (kind) {
      case 0:
        TSDB_ASSERT_OK(db_->Flush());
        durable_ = oracle_.batches();
        break;
      case 1:
        db_.reset();
        ASSERT_NO_FATAL_FAILURE(Open());
        break;
      case 2:  // which runs the merge that is due
        TSDB_ASSERT_OK(db_->Close());
        durable_ = oracle_.batches();
        ASSERT_NO_FATAL_FAILURE(Open());
        break;
      case 3:
        ASSERT_NO_FATAL_FAILURE(CutPower());
        break;
      case 4:
        ASSERT_NO_FATAL_FAILURE(Compact());
        break;
      case 5:
      case 6:
      case 7:
        ASSERT_NO_FATAL_FAILURE(Delete());
        break;
      case 8:
        ASSERT_NO_FATAL_FAILURE(Drop());
        break;
      case 9:
        ASSERT_NO_FATAL_FAILURE(Undrop());
        break;
      case 10:
        ASSERT_NO_FATAL_FAILURE(Rename());
        break;
      case 11:
        ASSERT_NO_FATAL_FAILURE(Alter());
        break;
      case 12:
        ASSERT_NO_FATAL_FAILURE(ChangeRetention());
        break;
      case 13:
        TSDB_ASSERT_OK(db_->EnforceRetention());
        Bury();
        if (age_ != 0) {
          durable_ = oracle_.batches();
        }
        break;
      case 14: {
        constexpr std::int64_t kYear = 365ll * 24 * 3600 * 1'000'000'000;
        ahead_ = !ahead_;
        clock_.SetWall(clock_.WallNanos() + (ahead_ ? kYear : -kYear));
        break;
      }
      case 15:
      case 16:  // more files, until merges are due
        TSDB_ASSERT_OK(db_->Flush());
        durable_ = oracle_.batches();
        break;
      default:
        ASSERT_NO_FATAL_FAILURE(Append());
        return;
    }
    ASSERT_EQ(Difference(ReadAll(*db_), oracle_.contents()), "");
  }

  void Compact() {
    CompactOptions options;
    options.purge = Below(2) == 0;
    const auto report = db_->Compact(options);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    durable_ = oracle_.batches();
    if (options.purge) {
      Bury();
      std::uint64_t kept = 0;
      for (const auto& [key, samples] : oracle_.contents()) {
        kept += samples.size();
      }
      EXPECT_EQ(db_->GetStats().tombstones, 0u);
      EXPECT_GE(report->samples_after, kept);
    }
  }

  // ---- appends

  void Append() {
    const Durability durability = static_cast<Durability>(Below(3));
    RandomBatch batch = workload_.Next(durability);
    for (OracleOp& op : batch.ops) {
      op.time *= scale_;
    }
    for (OracleOp& op : batch.ops) {
      if (!named_.empty() && Below(2) == 0) {
        const auto named = Pick(named_);
        op.key = named->first;
        op.policy = batch.options.has_duplicates ? batch.options.duplicates : named->second.policy;
      }
    }
    WriteBatch write;
    for (const OracleOp& op : batch.ops) {
      const auto named = named_.find(op.key);
      if (named != named_.end()) {
        op.increment ? write.Increment(named->second.ref, op.time, op.value)
                     : write.Add(named->second.ref, op.time, op.value);
      } else if (op.increment) {
        const auto ref = db_->CreateSeries(*Labels::Parse(op.key));
        ASSERT_TRUE(ref.ok()) << ref.status().ToString();
        write.Increment(*ref, op.time, op.value);
      } else {
        write.Add(*Labels::Parse(op.key), op.time, op.value);
      }
    }
    const bool to_a_dropped_one = !gone_.empty() && Below(3) == 0;
    if (to_a_dropped_one) {
      write.Add(gone_[Below(gone_.size())].ref, 1, 1);
    }
    accepted_from_ = Floor();
    for (const OracleOp& op : batch.ops) {
      Tell("  " + op.key + " at " + std::to_string(op.time) + ": " + std::to_string(op.value) + " policy " +
           std::string(DuplicatePolicyName(op.policy)) + (op.increment ? " increment" : ""));
    }
    const auto result = db_->Append(write, batch.options);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    const std::size_t refused = oracle_.Apply(batch.ops) + (to_a_dropped_one ? 1 : 0);
    EXPECT_EQ(result->rejected.size(), refused);
    EXPECT_EQ(result->stored + result->ignored + refused, write.size());
    for (const OracleOp& op : batch.ops) {
      const auto found = oracle_.contents().find(op.key);
      if (found != oracle_.contents().end() && found->second.contains(op.time)) {
        newest_ = std::max(newest_, op.time);
      }
    }
    oracle_.Amend([this](Contents* contents) { Trim(contents); });
    NotePrefix();
    // A batch that changed nothing leaves no commit to be synced.
    if (durability == Durability::kAlways && result->commit.value != 0) {
      durable_ = oracle_.batches();
    }
    if (Below(8) == 0) {
      ASSERT_EQ(Difference(ReadAll(*db_), oracle_.contents()), "");
    }
  }

  bool IsTooOld(const OracleOp& op, const Contents& contents) const {
    const auto named = named_.find(op.key);
    if (named == named_.end() || named->second.retention == 0) {
      return op.time < accepted_from_;
    }
    const auto found = contents.find(op.key);
    return found != contents.end() && !found->second.empty() &&
           op.time < found->second.rbegin()->first - named->second.retention;
  }

  /// Lowest time kept of series without a retention of their own.
  Timestamp Floor() const {
    return age_ == 0 || newest_ == kTimestampMin ? floor_ : std::max(floor_, newest_ - age_);
  }

  void Trim(Contents* contents) const {
    for (auto it = contents->begin(); it != contents->end();) {
      Samples& samples = it->second;
      const auto named = named_.find(it->first);
      const std::int64_t own = named == named_.end() ? 0 : named->second.retention;
      if (!samples.empty()) {
        samples.erase(samples.begin(),
                      samples.lower_bound(own == 0 ? Floor() : samples.rbegin()->first - own));
      }
      it = samples.empty() ? contents->erase(it) : std::next(it);
    }
  }

  // ---- deletes, drops, changes

  void Delete() {
    static constexpr std::array kSelectors{"{__name__=\"m\"}", "{i=~\"[024]\"}", "{kind=\"r\"}", "{}"};
    const Timestamp from = Below(4) == 0 ? kTimestampMin : (static_cast<Timestamp>(Below(160)) - 60) * scale_;
    const Timestamp to = Below(4) == 0 ? kTimestampMax : from + static_cast<Timestamp>(Below(40)) * scale_;
    const std::string text = kSelectors[Below(kSelectors.size())];
    const Selector selector = *Selector::Parse(text);
    Tell("delete " + text + " from " + std::to_string(from) + " to " + std::to_string(to));
    const auto listed = db_->ListSeries(selector);
    ASSERT_TRUE(listed.ok());
    DeleteOptions options;
    options.has_durability = true;
    options.durability = static_cast<Durability>(Below(3));
    const auto report = db_->Delete(selector, {from, to}, options);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    oracle_.Change([&](Contents* contents) {
      for (const SeriesInfo& series : *listed) {
        const auto found = contents->find(series.key);
        if (found != contents->end() && from <= to) {
          found->second.erase(found->second.lower_bound(from), found->second.upper_bound(to));
        }
      }
      std::erase_if(*contents, [](const auto& series) { return series.second.empty(); });
    });
    NotePrefix();
    if (options.durability == Durability::kAlways && report->commit.value != 0) {
      durable_ = oracle_.batches();
    }
  }

  template <typename Map>
  typename Map::iterator Pick(Map& map) {
    return std::next(map.begin(), static_cast<std::ptrdiff_t>(Below(map.size())));
  }

  void Drop() {
    const auto listed = db_->ListSeries(Selector());
    ASSERT_TRUE(listed.ok());
    if (listed->empty()) {
      return;
    }
    const SeriesInfo series = (*listed)[Below(listed->size())];
    Tell("drop " + series.key);
    DropOptions options;
    options.grace_ms = Below(3) == 0 ? 0 : kDropGraceMs;
    const auto report = db_->Drop(Selector::ForKey(series.key), options);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_EQ(report->series, 1u);
    Gone gone{series.key, SeriesRef{series.id}, series.created_by_key, {}, {}, 0, options.grace_ms == 0};
    gone.until_nanos = clock_.WallNanos() + options.grace_ms * 1'000'000;
    oracle_.Change([&](Contents* contents) {
      if (const auto found = contents->find(series.key); found != contents->end()) {
        gone.samples = found->second;
        contents->erase(found);
      }
    });
    if (const auto named = named_.find(series.key); named != named_.end()) {
      gone.named = named->second;
      named_.erase(named);
    }
    gone_.push_back(std::move(gone));
    NotePrefix();
    durable_ = oracle_.batches();
  }

  /// Who cannot come back at this moment never can.
  void Bury() {
    for (Gone& gone : gone_) {
      gone.buried = gone.buried || gone.until_nanos < clock_.WallNanos();
    }
  }

  void Undrop() {
    if (gone_.empty()) {
      return;
    }
    const std::size_t which = Below(gone_.size());
    const Gone gone = gone_[which];
    const bool taken = db_->ResolveKey(gone.key).ok();
    const auto back = db_->Undrop(gone.ref.id);
    Tell("undrop " + gone.key + ": " + back.status().ToString());
    if (gone.buried || gone.until_nanos < clock_.WallNanos()) {
      EXPECT_EQ(back.status().code(), StatusCode::kNotFound);
      return;
    }
    if (taken) {
      EXPECT_EQ(back.status().code(), StatusCode::kAlreadyExists);
      return;
    }
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(*back, gone.ref);
    gone_.erase(gone_.begin() + static_cast<std::ptrdiff_t>(which));
    if (gone.by_key) {
      named_[gone.key] = gone.named;
    }
    oracle_.Change([&](Contents* contents) {
      if (!gone.samples.empty()) {
        (*contents)[gone.key] = gone.samples;
      }
      Trim(contents);
    });
    NotePrefix();
    durable_ = oracle_.batches();
  }

  void Rename() {
    if (named_.empty()) {
      return;
    }
    const auto old = Pick(named_);
    const std::string from = old->first;
    const std::string to = from.substr(0, 1) + std::to_string(Below(6));
    const Named named = old->second;
    const bool taken = to != from && named_.contains(to);
    const Status status = db_->Rename(named.ref, to);
    Tell("rename " + from + " to " + to + ": " + status.ToString());
    if (taken) {
      EXPECT_EQ(status.code(), StatusCode::kAlreadyExists);
      return;
    }
    TSDB_ASSERT_OK(status);
    named_.erase(from);
    named_[to] = named;
    oracle_.Change([&](Contents* contents) {
      if (const auto found = contents->find(from); found != contents->end() && from != to) {
        (*contents)[to] = found->second;
        contents->erase(from);
      }
    });
    NotePrefix();
    durable_ = from == to ? durable_ : oracle_.batches();
  }

  void Alter() {
    if (named_.empty()) {
      return;
    }
    const auto named = Pick(named_);
    SeriesChange change;
    if (Below(2) == 0) {
      change.duplicates = static_cast<DuplicatePolicy>(Below(6));
    }
    if (Below(2) == 0) {
      static constexpr std::array<std::int64_t, 4> kAges{0, 5, 15, 60};
      change.retention = kAges[Below(kAges.size())] * scale_;
    }
    TSDB_ASSERT_OK(db_->Alter(named->second.ref, change));
    named->second.policy = change.duplicates ? change.duplicates->value() : named->second.policy;
    named->second.retention = change.retention.value_or(named->second.retention);
    Tell("alter " + named->first + " to retention " + std::to_string(named->second.retention));
    oracle_.Change([this](Contents* contents) { Trim(contents); });
    NotePrefix();
    // An alter that changes nothing is not logged.
    TSDB_ASSERT_OK(db_->Flush());
    durable_ = oracle_.batches();
  }

  void ChangeRetention() {
    Retention retention;
    static constexpr std::array<std::int64_t, 4> kAges{0, 30, 60, 100};
    retention.age = kAges[Below(kAges.size())] * scale_;
    TSDB_ASSERT_OK(db_->AcceptClock());
    Tell("retention " + std::to_string(retention.age));
    floor_ = Floor();
    TSDB_ASSERT_OK(db_->SetRetention(retention));
    age_ = retention.age;
    oracle_.Change([this](Contents* contents) { Trim(contents); });
    NotePrefix();
    durable_ = oracle_.batches();
  }

  // ---- crashes

  void NotePrefix() { newest_of_.resize(oracle_.batches(), newest_); }

  void CutPower() {
    const auto mode = static_cast<MemoryFileSystem::CutMode>(Below(3));
    db_.reset();
    fs_ = fs_->AfterPowerCut(mode, Below(1'000'000));
    ASSERT_NO_FATAL_FAILURE(Open());
    const Contents found = ReadAll(*db_);
    const auto prefix = oracle_.FindPrefix(found, durable_);
    ASSERT_TRUE(prefix.has_value()) << "what came back is no prefix of at least " << durable_ << " of "
                                    << oracle_.batches() << " operations\n"
                                    << Difference(found, oracle_.contents());
    if (mode == MemoryFileSystem::CutMode::kKeepUnsynced) {
      EXPECT_EQ(found, oracle_.contents()) << "a crash of the process alone loses nothing";
    }
    oracle_.Forget(*prefix);
    newest_of_.resize(*prefix);
    // More than one prefix may look like this one.
    newest_ = std::min(newest_of_.empty() ? kTimestampMin : *std::ranges::max_element(newest_of_),
                       db_->GetRetention()->now);
    durable_ = std::min(durable_, oracle_.batches());
  }

  static constexpr std::int64_t kHalfDay = 43'200'000;

  const std::uint64_t seed_;
  Workload workload_;
  /// Of all times and ages: with half a day the samples lie in many partitions, most of them cold.
  const std::int64_t scale_;
  std::unique_ptr<MemoryFileSystem> fs_;
  FakeClock clock_;
  Oracle oracle_;
  std::map<std::string, Named> named_;
  std::vector<Gone> gone_;
  std::int64_t age_ = 0;               // retention of the database
  Timestamp floor_ = kTimestampMin;    // left by earlier ones
  Timestamp newest_ = kTimestampMin;   // of all samples there ever were
  Timestamp accepted_from_ = kTimestampMin;
  std::vector<Timestamp> newest_of_;   // by prefix
  bool ahead_ = false;
  std::size_t durable_ = 0;
  std::unique_ptr<Database> db_;
  std::string told_;
};

TEST(Model, RandomHistoriesMatchTheMap) {
  const std::uint64_t first = FromEnvironment("TSDB_MODEL_SEED", 1);
  const std::uint64_t count = FromEnvironment("TSDB_MODEL_HISTORIES", 3000);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    History history(seed);
    ASSERT_NO_FATAL_FAILURE(history.Run()) << "reproduce with TSDB_MODEL_SEED=" << seed << " TSDB_MODEL_HISTORIES=1";
    ASSERT_FALSE(testing::Test::HasFailure()) << "reproduce with TSDB_MODEL_SEED=" << seed
                                              << " TSDB_MODEL_HISTORIES=1";
  }
}

}  // namespace
}  // namespace tsdb::engine
