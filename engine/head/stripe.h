// Stripe: the lock and the queue of a part of the series. Effects of commits wait in the queue until their record is
// written, then whoever comes by applies them, in commit order.
//
//   Order (holding the mutexes of all stripes a batch touches): number the record, push a slice at each stripe
//   Apply (one stripe at a time): drain the front of the queue while its records are decided
//
// Thread safety: everything is guarded by `mutex`. Lock order: stripes ascending, then the log.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/mutex.h"
#include "engine/head/generation.h"
#include "wal/log.h"
#include "wal/record.h"

namespace tsdb::engine {

/// The samples of one batch that belong to one stripe, or a delete; lives in the operation until it left the queue.
struct PendingSlice {
  const wal::LogRecord* record = nullptr;
  Generation* generation = nullptr;
  const wal::Put* puts = nullptr;
  HeadSeries* const* series = nullptr;
  std::size_t count = 0;
  /// Not null: a delete, and no samples.
  chunk::TombstonePtr tombstone = nullptr;
  std::size_t stripe = 0;  // of a delete
  PendingSlice* next = nullptr;
};

/// A sample or a delete that is logged and found no memory when it was to be applied.
struct Unapplied {
  Generation* generation = nullptr;
  HeadSeries* series = nullptr;
  Timestamp time = 0;
  double value = 0;
  chunk::TombstonePtr tombstone = nullptr;
  std::size_t stripe = 0;  // of a delete
};

/// Hears what a stripe applies, under its lock, in commit order. Does not throw.
class EffectSink {
 public:
  virtual ~EffectSink() = default;
  /// Cheap.
  virtual bool wanted() const = 0;
  virtual void OnPuts(CommitNumber commit, const wal::Put* puts, std::size_t count) = 0;
  virtual void OnDelete(CommitNumber commit, TimeRange range, const IdSet& ids, std::size_t stripe) = 0;
};

struct Stripe {
  Mutex mutex;
  /// Set before the stripe is used; null: nobody hears.
  EffectSink* sink = nullptr;
  /// The mutable generation as this stripe sees it; changed by a cut, which holds all stripes.
  Generation* generation TSDB_GUARDED_BY(mutex) = nullptr;
  PendingSlice* front TSDB_GUARDED_BY(mutex) = nullptr;
  PendingSlice* back TSDB_GUARDED_BY(mutex) = nullptr;

  /// What is logged must be applied: when memory runs out in Drain, the rest waits here, oldest first. Room for all
  /// that is queued was reserved before it was logged. While it is not empty the stripe cannot be read.
  std::vector<Unapplied> unapplied TSDB_GUARDED_BY(mutex);
  std::size_t queued TSDB_GUARDED_BY(mutex) = 0;  // samples between front and back

  /// Deletes ordered so far: who looked something up before is to look again when it rose.
  std::uint64_t deletes_ordered TSDB_GUARDED_BY(mutex) = 0;
  /// Likewise drops.
  std::uint64_t drops_ordered TSDB_GUARDED_BY(mutex) = 0;

  /// Before a record with `puts` samples (or deletes) for this stripe is numbered. Throws std::bad_alloc.
  void ReserveFor(std::size_t puts) TSDB_REQUIRES(mutex);
  void Push(PendingSlice* slice) TSDB_REQUIRES(mutex) {
    slice->next = nullptr;
    (back == nullptr ? front : back->next) = slice;
    back = slice;
    queued += slice->count;
  }
  /// Applies the slices at the front whose record is written and drops those whose record failed, up to the first that
  /// is still pending. Does not throw.
  void Drain() TSDB_REQUIRES(mutex);
  void ApplyDelete(const PendingSlice& slice) TSDB_REQUIRES(mutex);
  void Tell(const PendingSlice& slice) TSDB_REQUIRES(mutex);
  /// Tries again to apply what found no memory; false when something is still left. Does not throw.
  bool Settle() TSDB_REQUIRES(mutex);
};

using Stripes = std::array<Stripe, kStripes>;

/// Puts samples into their series, looking ahead so that the cache lines arrive in time. Returns how many: all, or
/// those up to the first that found no memory.
[[nodiscard]] std::size_t ApplyPuts(Generation* generation, const wal::Put* puts, HeadSeries* const* series,
                                    std::size_t count);

}  // namespace tsdb::engine
