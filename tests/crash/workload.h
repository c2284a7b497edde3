// Workload: random batches over a few series, for the model test and the crash walks.
#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/crash/oracle.h"

namespace tsdb::engine {

struct RandomBatch {
  std::vector<OracleOp> ops;
  WriteOptions options;
};

class Workload {
 public:
  explicit Workload(std::uint64_t seed) : random_(seed) {}

  std::uint64_t Below(std::uint64_t n) { return random_() % n; }

  /// One batch of 1 to 12 samples; all of one policy.
  RandomBatch Next(Durability durability) {
    RandomBatch batch;
    batch.options = WriteOptions::With(durability);
    const bool plain = Below(2) == 0;
    if (!plain) {
      batch.options.has_duplicates = true;
      batch.options.duplicates = static_cast<DuplicatePolicy>(Below(6));
    }
    const std::size_t count = 1 + Below(12);
    for (std::size_t i = 0; i < count; ++i) {
      OracleOp op;
      op.key = Labels{{"__name__", "m"}, {"i", std::to_string(Below(6))}}.CanonicalKey();
      op.policy = batch.options.has_duplicates ? batch.options.duplicates : DuplicatePolicy::kLast;
      // Mostly forward, sometimes far back; few enough times that they meet.
      clock_ += static_cast<Timestamp>(Below(3));
      op.time = Below(3) == 0 ? clock_ - static_cast<Timestamp>(Below(40)) : clock_;
      op.value = Below(20) == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(Below(1000)) / 8;
      op.increment = !plain && Below(4) == 0;
      batch.ops.push_back(op);
    }
    return batch;
  }

 private:
  std::mt19937_64 random_;
  Timestamp clock_ = -50;
};

/// Which samples are too old, the plain way: a retention of the database, no series with one of its own.
struct Ages {
  std::int64_t age = 0;
  Timestamp left = kTimestampMin;    // floor left by earlier settings
  Timestamp newest = kTimestampMin;  // of all samples there ever were

  Timestamp Floor() const {
    return age == 0 || newest == kTimestampMin ? left : std::max(left, newest - age);
  }
  void Set(std::int64_t new_age) {
    left = Floor();
    age = new_age;
  }
  void Trim(Contents* contents) const {
    for (auto series = contents->begin(); series != contents->end();) {
      Samples& samples = series->second;
      samples.erase(samples.begin(), samples.lower_bound(Floor()));
      series = samples.empty() ? contents->erase(series) : std::next(series);
    }
  }
  /// Those of `ops` that are taken in.
  std::vector<OracleOp> Young(std::vector<OracleOp> ops) const {
    std::erase_if(ops, [floor = Floor()](const OracleOp& op) { return op.time < floor; });
    return ops;
  }
  void Raise(const std::vector<OracleOp>& ops, const Contents& contents) {
    for (const OracleOp& op : ops) {
      const auto found = contents.find(op.key);
      if (found != contents.end() && found->second.contains(op.time)) {
        newest = std::max(newest, op.time);
      }
    }
  }
  /// A batch that was acknowledged.
  void Apply(const std::vector<OracleOp>& ops, Oracle* oracle) {
    const std::vector<OracleOp> young = Young(ops);
    oracle->Apply(young);
    Raise(young, oracle->contents());
    oracle->Amend([this](Contents* contents) { Trim(contents); });
  }
  /// What it would make of the contents.
  Contents With(const std::vector<OracleOp>& ops, const Oracle& oracle) const {
    const std::vector<OracleOp> young = Young(ops);
    Contents contents = oracle.With(young);
    Ages after = *this;
    after.Raise(young, contents);
    after.Trim(&contents);
    return contents;
  }
};

/// What takes samples away: a delete or a drop of some of the workload's series, or a retention.
struct RandomEnd {
  enum class Kind : std::uint8_t { kDelete, kDrop, kRetention };
  Kind kind = Kind::kDelete;
  Selector selector;
  TimeRange range;
  std::int64_t age = 0;

  /// What it does to the contents.
  void Apply(Contents* contents, Ages* ages) const {
    if (kind == Kind::kRetention) {
      ages->Set(age);
      ages->Trim(contents);
      return;
    }
    Apply(contents);
  }
  /// The same of a delete or a drop.
  void Apply(Contents* contents) const {
    const bool drop = kind == Kind::kDrop;
    for (auto series = contents->begin(); series != contents->end();) {
      Samples& samples = series->second;
      if (!selector.is_key() || selector.key() == series->first) {
        samples.erase(drop ? samples.begin() : samples.lower_bound(range.from),
                      drop ? samples.end() : samples.upper_bound(range.to));
      }
      series = samples.empty() ? contents->erase(series) : std::next(series);
    }
  }
};

/// A delete or a drop.
inline RandomEnd NextEnd(Workload& workload) {
  RandomEnd end;
  end.kind = workload.Below(3) == 0 ? RandomEnd::Kind::kDrop : RandomEnd::Kind::kDelete;
  if (end.kind == RandomEnd::Kind::kDrop || workload.Below(2) == 0) {
    end.selector = Selector::ForKey(Labels{{"__name__", "m"}, {"i", std::to_string(workload.Below(6))}}.CanonicalKey());
  }
  end.range.from = static_cast<Timestamp>(workload.Below(60)) - 60;
  end.range.to = end.range.from + static_cast<Timestamp>(workload.Below(30));
  return end;
}

/// A retention of the database, or none.
inline RandomEnd NextRetention(Workload& workload) {
  RandomEnd end;
  end.kind = RandomEnd::Kind::kRetention;
  end.age = workload.Below(4) == 0 ? 0 : 10 + static_cast<std::int64_t>(workload.Below(40));
  return end;
}

/// Runs it; `*durable` when it is synced then.
inline Status Run(Database& db, const RandomEnd& end, Durability durability, bool* durable) {
  if (end.kind == RandomEnd::Kind::kRetention) {
    Retention retention;
    retention.age = end.age;
    TSDB_RETURN_IF_ERROR(db.SetRetention(retention));
    *durable = true;
    return Status::Ok();
  }
  if (end.kind == RandomEnd::Kind::kDrop) {
    TSDB_ASSIGN_OR_RETURN(const DropReport report, db.Drop(end.selector));
    *durable = report.commit.value != 0;
    return Status::Ok();
  }
  DeleteOptions options;
  options.has_durability = true;
  options.durability = durability;
  TSDB_ASSIGN_OR_RETURN(const DeleteReport report, db.Delete(end.selector, end.range, options));
  *durable = durability == Durability::kAlways && report.commit.value != 0;
  return Status::Ok();
}

/// Into files: a flush, a merge, a purge or the removal of what expired, by `number`.
inline Status IntoFiles(Database& db, int number) {
  CompactOptions options;
  options.purge = number % 4 == 3;
  switch (number % 4) {
    case 0:
      return db.Flush();
    case 2:
      TSDB_RETURN_IF_ERROR(db.EnforceRetention());
      return db.Flush();
    default:
      return db.Compact(options).status();
  }
}

/// Runs a batch by labels (increments by ref, which the series must exist for).
inline Result<AppendResult> Run(Database& db, const RandomBatch& random) {
  WriteBatch batch;
  for (const OracleOp& op : random.ops) {
    const Labels labels = *Labels::Parse(op.key);
    if (op.increment) {
      auto ref = db.CreateSeries(labels);
      if (!ref.ok()) {
        return ref.status();
      }
      batch.Increment(*ref, op.time, op.value);
    } else {
      batch.Add(labels, op.time, op.value);
    }
  }
  return db.Append(batch, random.options);
}

}  // namespace tsdb::engine
