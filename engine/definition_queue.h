// DefinitionQueue: definitions of new series on their way from "has a commit number" to "can be found".
//
// Push in commit order (under the order lock of definitions); once a record is written whoever comes by drains: the
// index learns the series, the registry entry becomes live, the generation keeps it for the catalogue. Definitions
// whose record failed are forgotten.
//
// Thread safety: thread-safe. Lock order: after the stripes, before registry and index.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/mutex.h"
#include "base/series_definition.h"
#include "engine/drop_table.h"
#include "engine/head/generation.h"
#include "engine/registry.h"
#include "engine/retention_state.h"
#include "index/series_index.h"
#include "wal/log.h"

namespace tsdb::engine {

/// Message of kOutOfMemory when incomplete().
inline constexpr const char* kIncomplete =
    "a new series found no memory; the log has it: close the database and open it again";

/// The new, changed or dropped series of one record; lives in the operation until it left the queue.
struct PendingDefinitions {
  const wal::LogRecord* record = nullptr;
  Generation* generation = nullptr;
  std::vector<SeriesDefinition>* definitions = nullptr;
  std::vector<RegistryEntryPtr>* entries = nullptr;
  /// The definitions replace what their series were; `entries` hold the names that are new, reserved in the registry.
  bool change = false;
  /// Not null: series that end, and no definitions; those that are taken in go to `dropped`.
  const chunk::Drop* drop = nullptr;
  DropTable* dropped = nullptr;
  RetentionState* retention = nullptr;
  PendingDefinitions* next = nullptr;
};

class DefinitionQueue {
 public:
  void Push(PendingDefinitions* pending) TSDB_EXCLUDES(mutex_);
  /// Handles everything at the front whose record is decided. Cheap when there is nothing. Does not throw: see
  /// incomplete().
  void Drain(Registry& registry, index::SeriesIndex& index) TSDB_EXCLUDES(mutex_);
  /// Returns when `entry` is no longer kOrdered.
  void WaitDecided(const RegistryEntry& entry) TSDB_EXCLUDES(mutex_);
  /// Forgets entries that were inserted as kOrdered for a record that got no number.
  void TakeBack(Registry& registry, std::vector<RegistryEntryPtr>* entries) TSDB_EXCLUDES(mutex_);
  /// True once a logged definition found no memory in the index or the generation: neither is to be read, and nothing
  /// is to be flushed. The log has it: the database must be opened again.
  bool incomplete() const { return incomplete_.load(std::memory_order_acquire); }
  /// The definitions a generation holds so far, in commit order.
  std::vector<SeriesDefinition> DefinitionsOf(const Generation& generation) TSDB_EXCLUDES(mutex_);

 private:
  void Apply(const PendingDefinitions& pending, Registry& registry, index::SeriesIndex& index) TSDB_REQUIRES(mutex_);
  void ApplyDrop(const PendingDefinitions& pending, Registry& registry, index::SeriesIndex& index)
      TSDB_REQUIRES(mutex_);

  Mutex mutex_;  // guards the queue and Generation::definitions of generations whose cut is not done
  CondVar decided_;
  PendingDefinitions* front_ TSDB_GUARDED_BY(mutex_) = nullptr;
  PendingDefinitions* back_ TSDB_GUARDED_BY(mutex_) = nullptr;
  /// Release in Push, acquire in Drain: a thread whose record was written behind a push sees it.
  std::atomic<std::uint64_t> size_{0};
  std::atomic<bool> incomplete_{false};
};

}  // namespace tsdb::engine
