// RetentionState: which samples are too old: the settings, the floor below which all is gone, and "now".
//
//   now         max(trusted now, min(clock, newest sample)): samples older than now - age are hidden and refused
//   trusted     "now" as far as samples may be removed by it: follows now by at most the time known to have passed and
//               one day in 24 hours; a larger step is doubted until the clock has been steady for 24 hours, or accepted
//
// Thread safety: thread-safe; its mutex is a leaf. What every read and write asks first is an atomic.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/series_definition.h"
#include "chunk/manifest.h"
#include "index/series_index.h"
#include "tsdb/options.h"
#include "tsdb/retention.h"

namespace tsdb::engine {

/// Settings with their selectors ready to be asked.
struct RetentionRules {
  struct Class {
    RetentionClass settings;
    index::CompiledSelector selector;
  };
  std::int64_t age = 0;
  std::uint64_t bytes_max = 0;
  std::vector<Class> classes;

  /// Age allowed for a series that has none of its own; 0: any.
  std::int64_t AgeOf(const SeriesDefinition& definition) const;
  Retention settings() const;
};

/// kInvalidArgument: a selector that cannot be evaluated, a negative age.
Result<std::shared_ptr<const RetentionRules>> CompileRetention(const Retention& retention);

class RetentionState {
 public:
  /// What the manifest knows.
  void Set(std::shared_ptr<const RetentionRules> rules, const chunk::RetentionPositions& positions);
  void SetRules(std::shared_ptr<const RetentionRules> rules);
  std::shared_ptr<const RetentionRules> rules() const;
  /// What the manifest is to know.
  chunk::RetentionPositions positions() const;

  /// False: nothing is ever too old.
  bool active() const { return active_.load(std::memory_order_acquire); }
  /// Below it all is gone, but of series with a retention of their own.
  Timestamp floor() const { return floor_.load(std::memory_order_acquire); }
  void RaiseFloor(Timestamp floor);
  /// Below it all is gone, of every series.
  Timestamp bytes_floor() const { return bytes_floor_.load(std::memory_order_acquire); }
  void RaiseBytesFloor(Timestamp floor);

  void RaiseNewest(Timestamp time) {
    Timestamp newest = newest_.load(std::memory_order_relaxed);
    while (newest < time && !newest_.compare_exchange_weak(newest, time, std::memory_order_relaxed)) {
    }
  }
  Timestamp newest() const { return newest_.load(std::memory_order_relaxed); }
  /// kTimestampMin while there are no samples.
  Timestamp Now(Clock& clock, TimeUnit unit) const;
  /// Lets the trusted now follow; called before anything is removed. Returns it.
  Timestamp AdvanceTrusted(Clock& clock, TimeUnit unit);
  Timestamp trusted() const { return trusted_.load(std::memory_order_acquire); }
  bool in_doubt() const;
  /// Trusts `now` as it is.
  void Accept(Timestamp now);

  /// Series with a retention or an expiry of their own.
  bool HasOwn(SeriesId id) const;
  IdSet own() const;
  void NoteSettings(SeriesId id, const SeriesSettings& settings);
  void ForgetOwn(const IdSet& ids);

 private:
  void Refresh() TSDB_REQUIRES(mutex_);

  mutable Mutex mutex_;  // guards everything but the atomics
  std::shared_ptr<const RetentionRules> rules_ TSDB_GUARDED_BY(mutex_) = std::make_shared<const RetentionRules>();
  IdSet own_ TSDB_GUARDED_BY(mutex_);
  std::int64_t last_advance_nanos_ TSDB_GUARDED_BY(mutex_) = 0;    // monotonic; 0: not yet
  std::int64_t last_allowance_nanos_ TSDB_GUARDED_BY(mutex_) = 0;  // monotonic; 0: not yet
  std::int64_t doubt_since_nanos_ TSDB_GUARDED_BY(mutex_) = 0;     // monotonic; 0: none
  std::atomic<bool> active_{false};
  std::atomic<bool> any_own_{false};
  std::atomic<Timestamp> floor_{kTimestampMin};
  std::atomic<Timestamp> bytes_floor_{kTimestampMin};
  std::atomic<Timestamp> newest_{kTimestampMin};
  std::atomic<Timestamp> trusted_{kTimestampMin};
};

}  // namespace tsdb::engine
