// DeleteOperation: one delete on its way into the log and the head.
//
//   order: lock the stripes of the series, ascending; number and queue the record; queue the tombstone at each stripe
//   write: group commit
//   apply: each stripe takes the samples out of its part of the head, in commit order, and keeps the tombstone: files
//          and older generations are read under it (engine/masks.h)
//
// Costs as much as there are series, not samples. The next flush brings the tombstones into the manifest.
//
// Thread safety: an operation belongs to one thread; many run at the same time, beside appends.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "engine/core.h"
#include "tsdb/result.h"
#include "tsdb/selector.h"
#include "tsdb/series_life.h"

namespace tsdb::engine {

/// Ids of the series that match; all of a key or selector at this moment.
Result<IdSet> IdsOf(Core& core, const Selector& selector);
/// kDropped when one of them is gone.
Result<IdSet> IdsOf(Core& core, std::span<const SeriesRef> series);

/// Deletes; see Database::Delete.
Result<DeleteReport> DeleteSamples(Core& core, const IdSet& ids, TimeRange range, const DeleteOptions& options);

/// Samples of these series in the range, as a query would give them.
Result<std::uint64_t> CountSamples(Core& core, const IdSet& ids, TimeRange range);

/// Takes in deletes that a record holds, from commit order to the head; used by every operation that logs some.
class PendingDeletes {
 public:
  /// Adds a delete of the record.
  void Add(const IdSet& ids, TimeRange range);
  bool empty() const { return tombstones_.empty(); }
  void AddTo(wal::RecordBuilder* record) const;
  /// Stripes any of the series belongs to.
  std::array<std::uint8_t, kStripes> Touched() const;
  /// Before the record is numbered, under the stripes. Throws std::bad_alloc.
  void Reserve(Core& core) TSDB_NO_THREAD_SAFETY_ANALYSIS;
  /// Behind it, under the stripes; takes no memory.
  void Push(Core& core, Generation* generation, const wal::LogRecord* record) TSDB_NO_THREAD_SAFETY_ANALYSIS;
  /// When the record is decided.
  static void Drain(Core& core, const std::array<std::uint8_t, kStripes>& touched);

 private:
  struct OfStripe {
    std::vector<PendingSlice> slices;
  };
  std::vector<std::shared_ptr<chunk::Tombstone>> tombstones_;
  std::array<OfStripe, kStripes> stripes_;
};

/// Holds the stripes named while it lives.
class StripeHold {
 public:
  StripeHold(Core& core, const std::array<std::uint8_t, kStripes>& touched) TSDB_NO_THREAD_SAFETY_ANALYSIS;
  ~StripeHold() TSDB_NO_THREAD_SAFETY_ANALYSIS;
  StripeHold(const StripeHold&) = delete;
  StripeHold& operator=(const StripeHold&) = delete;
  /// The mutable generation; one stripe at least is held.
  Generation* generation() const { return generation_; }
  /// Everything written is applied to the stripes; throws std::bad_alloc when it cannot be.
  void Settle() TSDB_NO_THREAD_SAFETY_ANALYSIS;
  /// A drop was ordered: who resolved series before looks again.
  void CountDrop() TSDB_NO_THREAD_SAFETY_ANALYSIS;

 private:
  Core& core_;
  const std::array<std::uint8_t, kStripes> touched_;
  Generation* generation_ = nullptr;
};

/// Stripes the series belong to.
std::array<std::uint8_t, kStripes> StripesOf(const IdSet& ids);
/// Bytes of a record that was written count towards the next flush.
void CountLogged(Core& core, const wal::LogRecord& record);

}  // namespace tsdb::engine
