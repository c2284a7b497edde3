// QueryPlan: what is fixed while a query runs, and what it may still spend. Shared by all threads that work at it.
//
// Thread safety: constant but for the counters, which are atomic.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/core.h"
#include "engine/query/bucket_grid.h"
#include "engine/query/bucket_state.h"
#include "engine/version.h"
#include "tsdb/query.h"

namespace tsdb::engine {

/// Which samples count.
struct SampleFilter {
  std::optional<ValueRange> values;
  std::vector<Timestamp> times;  // ascending, without repeats; empty: all
  bool empty() const { return !values && times.empty(); }
  /// False when no sample from `first` to `last` can pass by its time.
  bool MayPass(Timestamp first, Timestamp last) const;
  bool Passes(Timestamp time, double value) const;
};

struct QueryPlan {
  using Clock = std::chrono::steady_clock;

  QueryPlan(Core& the_core, const QuerySpec& the_spec, VersionPtr the_version)
      : core(the_core), spec(the_spec), version(std::move(the_version)), needs(spec.aggregators) {}

  Core& core;
  const QuerySpec spec;
  const VersionPtr version;
  SampleFilter filter;
  BucketGrid grid;
  const BucketNeeds needs;
  double units_per_second = 1000;
  Clock::time_point start = Clock::now();
  Clock::time_point deadline = Clock::time_point::max();

  /// Counts samples looked at one by one, and looks whether the query must end: kResourceExhausted, kCancelled.
  Status Spend(std::uint64_t samples);
  /// The same for rows that are held; `what` they are.
  Status CheckHeld(std::uint64_t rows, const char* what) const;

 private:
  std::atomic<std::uint64_t> samples_{0};  // relaxed
};

/// Adds what one thread did.
void AddStatistics(const QueryStatistics& part, QueryStatistics* sum);

}  // namespace tsdb::engine
