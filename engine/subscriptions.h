// Subscriptions: who wants to hear of what is committed, and the queues of events to them.
//
//   stripe, under its lock, in commit order ──► bounded queue of each subscription that wants the series
//                                           ──► its thread ──► callback
//
// A full queue loses its oldest events; one event says how many, at the place where they are missing.
//
// Thread safety: thread-safe; the mutexes are leaves, taken under stripes. Without subscriptions one atomic is read.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "base/id_set.h"
#include "base/mutex.h"
#include "base/series_definition.h"
#include "engine/head/stripe.h"
#include "index/series_index.h"
#include "tsdb/result.h"
#include "tsdb/selector.h"
#include "tsdb/subscription.h"
#include "wal/record.h"

namespace tsdb::engine {

struct Core;

/// See Database::Subscribe.
Result<std::unique_ptr<Subscription>> Subscribe(Core& core, const Selector& selector, EventCallback callback,
                                                const SubscribeOptions& options);

/// One subscriber: the series it wants, its queue and its thread.
class Subscriber {
 public:
  Subscriber(index::CompiledSelector selector, EventCallback callback, const SubscribeOptions& options);
  ~Subscriber();

  void Want(SeriesId id);
  /// The series is (again) as `definition` says, or dropped.
  void OnDefinition(const SeriesDefinition& definition);
  void OnPuts(CommitNumber commit, const wal::Put* puts, std::size_t count);
  void OnDelete(CommitNumber commit, TimeRange range, const IdSet& ids, std::size_t stripe);
  void OnDrop(CommitNumber commit, const IdSet& ids);
  void Drain();

 private:
  void Push(const SeriesEvent& event) TSDB_REQUIRES(mutex_);
  void Run();

  const index::CompiledSelector selector_;
  const EventCallback callback_;
  const std::size_t queue_max_;
  Mutex mutex_;  // guards everything below
  CondVar wake_;
  CondVar idle_;
  IdSet ids_ TSDB_GUARDED_BY(mutex_);
  std::deque<SeriesEvent> queue_ TSDB_GUARDED_BY(mutex_);
  std::uint64_t lost_ TSDB_GUARDED_BY(mutex_) = 0;  // before the front of the queue
  bool busy_ TSDB_GUARDED_BY(mutex_) = false;       // in the callback
  bool stop_ TSDB_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when all is there
};

class Subscriptions final : public EffectSink {
 public:
  bool wanted() const override { return count_.load(std::memory_order_acquire) != 0; }

  void Add(std::shared_ptr<Subscriber> subscriber);
  void Remove(const Subscriber* subscriber);

  /// The series is about to be so; before its first effects.
  void OnDefinition(const SeriesDefinition& definition);
  void OnPuts(CommitNumber commit, const wal::Put* puts, std::size_t count) override;
  void OnDelete(CommitNumber commit, TimeRange range, const IdSet& ids, std::size_t stripe) override;
  void OnDrop(CommitNumber commit, const IdSet& ids);

 private:
  Mutex mutex_;  // guards all_; before those of the subscribers
  std::vector<std::shared_ptr<Subscriber>> all_ TSDB_GUARDED_BY(mutex_);
  std::atomic<std::size_t> count_{0};
};

}  // namespace tsdb::engine
