// Core: what the parts of the engine share. Owned by DatabaseImpl; the parts (append, flush, query, recovery) are
// functions and short-lived objects over it.
//
// The one lock order of the engine (take left before right; never the other way round):
//
//   merge_mutex → flush_mutex → life_mutex → manifest_mutex → definition_order_mutex → stripes ascending →
//   definition queue → log → registry, index, version, dropped series, retention, query threads (leaves)
//
// No I/O happens under a stripe or under definition_order_mutex. File reads and writes of a flush happen under
// flush_mutex, those of a merge under merge_mutex, an edit of the manifest under manifest_mutex; no reader and no
// writer takes one of these.
//
// Thread safety: members in groups below.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/mutex.h"
#include "base/thread_pool.h"
#include "chunk/manifest.h"
#include "compaction/file_numbers.h"
#include "compaction/job_control.h"
#include "engine/definition_queue.h"
#include "engine/directory_blocks.h"
#include "engine/drop_table.h"
#include "engine/head/stripe.h"
#include "engine/registry.h"
#include "engine/retention_state.h"
#include "engine/subscriptions.h"
#include "engine/version.h"
#include "index/series_index.h"
#include "tsdb/options.h"
#include "tsdb/stats.h"
#include "wal/log.h"

namespace tsdb::engine {

/// What the engine runs on: the real machine, or the stand-ins of tests.
struct Environment {
  FileSystem* fs = nullptr;
  Clock* clock = nullptr;
  /// Opens the label index of a database folder.
  std::function<Result<std::unique_ptr<index::SeriesIndex>>(const std::string& directory, const index::IndexOptions&,
                                                            bool* rebuilt)>
      open_index;
  /// The same for a reader beside the writer; empty: definitions are read into memory.
  std::function<Result<std::unique_ptr<index::SeriesIndex>>(const std::string& directory, const index::IndexOptions&)>
      open_index_read_only;
};

/// POSIX files, the system's clock, RocksDB.
Environment SystemEnvironment();

/// Where the memory is. Gauges.
struct MemoryUse {
  std::int64_t head = 0;      // unflushed samples and definitions, with what the index keeps of those
  std::int64_t registry = 0;  // series in use
  std::int64_t index = 0;     // caches of the stored index
  std::int64_t files = 0;     // directories and cached columns of chunk files
  std::int64_t total() const { return head + registry + index + files; }
};

struct Core {
  // Constant after open.
  FileSystem* fs = nullptr;
  Clock* clock = nullptr;
  std::string path;
  OpenOptions options;
  CreateOptions settings;
  wal::StoreId store_id;
  RecoveryReport recovery;
  std::unique_ptr<FileLock> lock;

  // Self-synchronised.
  Registry registry;
  DefinitionQueue definitions;
  DropTable dropped;
  RetentionState retention;
  Subscriptions subscriptions;
  VersionHolder versions;
  DirectoryBlocks directory_blocks;
  std::unique_ptr<index::SeriesIndex> index;
  std::unique_ptr<wal::Log> log;
  compaction::FileNumbers file_numbers;

  // Each guarded by its own mutex.
  Stripes stripes;

  // Held while new series get their commit number, so that a name is given once.
  Mutex definition_order_mutex;

  // Held by the one merge that runs.
  Mutex merge_mutex;
  std::set<std::uint64_t> damaged_files TSDB_GUARDED_BY(merge_mutex);  // chunk files merges found damage in
  compaction::JobControl merge_control;  // set up under merge_mutex, watched and cancelled from anywhere

  // Held while series are dropped, changed or brought back and while retention is set: one of these at a time. And
  // while a flush takes down what they left.
  Mutex life_mutex;

  // Held by the one flush that runs.
  Mutex flush_mutex;
  std::uint64_t next_generation TSDB_GUARDED_BY(flush_mutex) = 2;

  // Held while an edit is written and while a version is made from the one before: briefly, by flush and merge alike.
  Mutex manifest_mutex;
  std::unique_ptr<chunk::Manifest> manifest TSDB_GUARDED_BY(manifest_mutex);
  std::vector<ChunkFilePtr> retired_files TSDB_GUARDED_BY(manifest_mutex);   // removed by an edit, not yet unlinked
  std::vector<std::string> doubtful_files TSDB_GUARDED_BY(manifest_mutex);   // of edits whose append failed

  // Threads that help queries; started when the first one wants them.
  Mutex query_threads_mutex;
  std::unique_ptr<ThreadPool> query_threads TSDB_GUARDED_BY(query_threads_mutex);

  // Memory of unflushed samples: writers wait here when there is too much.
  Mutex memory_mutex;
  CondVar memory_freed;
  Status flush_error TSDB_GUARDED_BY(memory_mutex);  // of the last flush
  Status merge_error TSDB_GUARDED_BY(memory_mutex);  // of the last merge

  // Atomic.
  std::atomic<bool> closed{false};
  std::atomic<std::uint64_t> next_series_id{1};
  std::atomic<std::uint64_t> wal_bytes_since_cut{0};
  std::atomic<std::int64_t> last_cut_nanos{0};       // monotonic clock
  std::atomic<std::int64_t> fixed_memory_bytes{0};   // all but the head, as of the last RefreshMemory
  std::atomic<std::uint64_t> flushed_commit{0};
  std::atomic<std::uint64_t> expired_files{0};  // removed by retention
  std::atomic<std::uint64_t> flushes{0};
  std::atomic<std::uint64_t> flush_failures{0};
  std::atomic<std::uint64_t> flush_bytes{0};  // written to chunk files by flushes
  std::atomic<std::uint64_t> merges{0};
  std::atomic<std::uint64_t> merge_failures{0};
  std::atomic<std::uint64_t> merge_bytes{0};  // written to chunk files by merges
  std::atomic<bool> merge_running{false};
  std::atomic<bool> merging_paused{false};
  std::atomic<std::int64_t> retention_checked_nanos{0};  // monotonic clock
  std::atomic<bool> merge_check{true};  // the files may have become due since the last look

  /// Rings the scheduler when a flush is due; empty without background work.
  std::function<void()> wake_scheduler;
  /// Rings the thread that merges; empty without it.
  std::function<void()> wake_merging;

  void Log(LogLevel level, std::string_view message) const {
    if (options.log) {
      options.log(level, message);
    }
  }
  /// Runs a task on another thread, as soon as one is free; false when there is none to be had.
  bool RunForQuery(std::function<void()> task) TSDB_EXCLUDES(query_threads_mutex);
  /// "<what>: <status>"; without memory for the text just `what`.
  void LogFailure(LogLevel level, const char* what, const Status& status) const;
  DuplicatePolicy PolicyOf(const SeriesSettings& series) const {
    return series.has_duplicates ? series.duplicates : settings.duplicates;
  }
  /// True when even a plain write must look at the newest sample of the series.
  static bool IsJudged(const SeriesSettings& series) {
    return series.retention != 0 || series.ignore_max_time_diff != 0;
  }
  /// Memory of the mutable and sealed generations.
  std::int64_t HeadBytes() const;
  MemoryUse Memory() const;
  /// Keeps the registry within its share of the memory budget and measures all but the head. After each flush and now
  /// and then.
  void RefreshMemory() TSDB_EXCLUDES(definition_order_mutex);
  /// Head bytes at which a flush is due; at twice this writers wait. Half of what the budget leaves to the head.
  std::int64_t FlushThreshold() const;
  /// True when a flush is due by WAL bytes, memory or age.
  bool FlushIsDue() const;
};

}  // namespace tsdb::engine
