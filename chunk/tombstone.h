// Tombstone: what a delete leaves behind for data that was written before it: which series, which times, since when.
//
//   delete at commit D ──► applies to a chunk file (and to a sealed generation) exactly when its last commit < D
//
// So what is written after the delete stays. A tombstone goes when nothing is left that it applies to.
//
// Thread safety: immutable values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/id_set.h"
#include "chunk/columns.h"
#include "tsdb/types.h"

namespace tsdb::chunk {

struct Tombstone {
  CommitNumber commit;
  TimeRange range;
  IdSet ids;
};

using TombstonePtr = std::shared_ptr<const Tombstone>;

/// What one delete takes from one series.
struct DeletedRange {
  TimeRange range;
  CommitNumber commit;
};

/// Many tombstones, findable by series.
class TombstoneSet {
 public:
  TombstoneSet() = default;
  /// `all` in the order of their commits.
  explicit TombstoneSet(std::vector<TombstonePtr> all);

  const std::vector<TombstonePtr>& all() const { return all_; }
  bool empty() const { return all_.empty(); }
  /// Adds what concerns the series and a time of `range` to `out`.
  void Collect(SeriesId id, TimeRange range, std::vector<DeletedRange>* out) const;
  /// Adds what concerns any series, a time of `range` and data with this last commit to `out`.
  void CollectAfter(CommitNumber last_commit, TimeRange range, std::vector<TombstonePtr>* out) const;

 private:
  /// Tombstones of more series than this are asked one by one.
  static constexpr std::uint64_t kIndexedIdsMax = 64;

  std::vector<TombstonePtr> all_;
  std::vector<std::uint32_t> large_;                                     // positions in all_
  std::unordered_multimap<std::uint64_t, std::uint32_t> small_by_id_;  // positions in all_
};

/// Leaves in `masks` the deletes that apply to data with this last commit.
void KeepAfter(CommitNumber last_commit, std::vector<DeletedRange>* masks);
/// True when one of the deletes applies to data with this last commit and some time of `range`.
bool Touches(std::span<const DeletedRange> masks, CommitNumber last_commit, TimeRange range);
/// True when a sample of data with this last commit is deleted.
bool IsDeleted(std::span<const DeletedRange> masks, CommitNumber last_commit, Timestamp time);
/// Takes the deleted samples out of `columns`, which hold data with this last commit. Returns how many there were.
std::size_t RemoveDeleted(std::span<const DeletedRange> masks, CommitNumber last_commit, Columns* columns);

}  // namespace tsdb::chunk
