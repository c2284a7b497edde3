// DropTable: the series that ended and of which something is left: a name that may come back, samples in files.
//
//   ordered (the drop has a number or is about to get one) ─► done (logged and applied) ─► dead (cannot come back any
//   more) ─► forgotten, once every file was written without them
//
// Thread safety: thread-safe; its mutex is a leaf.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "chunk/manifest.h"
#include "tsdb/types.h"

namespace tsdb::engine {

class DropTable {
 public:
  /// What the manifest knows.
  void Set(std::vector<chunk::Drop> drops);
  std::vector<chunk::Drop> all() const;
  std::uint64_t Count() const;

  /// True while a drop of the series is ordered, or when it is done. Cheap when nothing was dropped.
  bool Contains(SeriesId id) const { return any_.load(std::memory_order_acquire) && ContainsSlow(id); }

  /// Marks the series; under their stripes. Throws std::bad_alloc.
  void Begin(const IdSet& ids);
  /// The drop is logged and applied, or (nullptr) came to nothing.
  void End(const IdSet& ids, const chunk::Drop* drop);
  /// Returns when no drop of the series is merely ordered.
  void WaitSettled(SeriesId id) const;

  /// The drop of a series that may come back at `wall_nanos`.
  std::optional<chunk::Drop> Find(SeriesId id, std::int64_t wall_nanos) const;
  /// A series came back.
  void Remove(SeriesId id);

  /// Ends the time of those that could come back until `wall_nanos`; true when there were any.
  bool Bury(std::int64_t wall_nanos, std::uint64_t next_file_number);
  /// Ids of which nothing needs to be kept.
  IdSet Dead() const;
  /// Ids that may come back: what their settings are is not known meanwhile.
  IdSet Waiting() const;
  /// Forgets dead ones that no file can hold: `lowest_file` is the lowest number of a live file.
  void Forget(std::uint64_t lowest_file);

 private:
  bool ContainsSlow(SeriesId id) const;
  void Refresh() TSDB_REQUIRES(mutex_);

  mutable Mutex mutex_;  // guards everything below
  mutable CondVar settled_;
  std::vector<chunk::Drop> drops_ TSDB_GUARDED_BY(mutex_);
  IdSet ids_ TSDB_GUARDED_BY(mutex_);      // of drops_
  IdSet ordered_ TSDB_GUARDED_BY(mutex_);
  /// Release in Refresh, acquire in Contains.
  std::atomic<bool> any_{false};
};

}  // namespace tsdb::engine
