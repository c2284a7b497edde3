// Workload: random batches over a few series, for the model test and the crash walks.
#pragma once

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

/// A delete or a drop of some of the workload's series.
struct RandomEnd {
  bool drop = false;  // of one series; else samples go
  Selector selector;
  TimeRange range;

  /// What it does to the contents.
  void Apply(Contents* contents) const {
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

inline RandomEnd NextEnd(Workload& workload) {
  RandomEnd end;
  end.drop = workload.Below(3) == 0;
  if (end.drop || workload.Below(2) == 0) {
    end.selector = Selector::ForKey(Labels{{"__name__", "m"}, {"i", std::to_string(workload.Below(6))}}.CanonicalKey());
  }
  end.range.from = static_cast<Timestamp>(workload.Below(60)) - 60;
  end.range.to = end.range.from + static_cast<Timestamp>(workload.Below(30));
  return end;
}

/// Runs it; `*durable` when it is synced then.
inline Status Run(Database& db, const RandomEnd& end, Durability durability, bool* durable) {
  if (end.drop) {
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
