// Options: how a database is created, opened and written to. Every option says its default, unit and cost.
//
// What a database was created with (CreateOptions) is stored in its manifest and cannot change by opening it
// differently; OpenOptions hold for one process.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tsdb/types.h"

namespace tsdb {

/// Settings written into a new database.
struct CreateOptions {
  /// Unit of all times. Default: milliseconds.
  TimeUnit unit = TimeUnit::kMilliseconds;
  /// Level of writes that do not ask for another. Default: interval.
  Durability durability = Durability::kInterval;
  /// Policy of series and writes that do not ask for another. Default: last.
  DuplicatePolicy duplicates = DuplicatePolicy::kLast;
  /// Age after which samples expire, in units; 0 keeps all. Database::SetRetention changes it later (retention.h).
  std::int64_t retention = 0;
  /// Upper bound of the bytes in the directory; 0 for none. The oldest files go first.
  std::uint64_t bytes_max = 0;
};

enum class LogLevel : std::uint8_t { kInfo, kWarning, kError };

struct OpenOptions {
  /// Create the database when the directory is missing or empty. Default: true.
  bool create_if_missing = true;
  /// Fail with kAlreadyExists when there is a database. Default: false.
  bool error_if_exists = false;
  /// Used only when the database is created.
  CreateOptions create;
  /// WAL bytes that may wait for a flush; beyond it a flush starts by itself. Default 64 MiB. Bounds the time of a
  /// restart after a crash.
  std::uint64_t wal_bytes_max = 64ull << 20;
  /// The memory budget: unflushed samples and series, series in use, caches of the label index, directories and
  /// columns of chunk files. Default 512 MiB. All but unflushed data is kept within its share by forgetting what was
  /// not used lately; of what is left (a quarter at the least) a flush starts when half is full, and when all is full
  /// writers wait. Queries and batches in flight come on top.
  std::uint64_t memory_bytes_max = 512ull << 20;
  /// Age of unflushed samples after which a flush starts by itself, in milliseconds. Default one hour.
  std::uint64_t flush_interval_ms = 3600ull * 1000;
  /// Time between syncs under Durability::kInterval, in milliseconds. Default 100.
  std::uint32_t sync_interval_ms = 100;
  /// Samples further ahead of the clock than this are refused, in milliseconds; negative turns the guard off.
  /// Default one day.
  std::int64_t future_limit_ms = 24ll * 3600 * 1000;
  /// Background flushes, syncs, merges and retention. Default true; without it the caller runs Flush() (tests).
  bool background = true;
  /// Merges in the background. Default true; Compact works either way. Without it files stay as flushed and queries
  /// have more of them to read.
  bool merging = true;
  /// Most bytes background merges write in a second; 0: as many as they can. Default 0.
  std::uint64_t merge_bytes_per_second = 0;
  /// Receives what the library has to say while it works; may be called from any thread. Default: nothing is said.
  std::function<void(LogLevel, std::string_view)> log;
};

/// How a database is opened for reading only.
struct ReadOnlyOptions {
  /// False: open and Refresh read all unflushed samples into memory, as much as they take in the writer. True: each
  /// query reads those of its own series from the log, and sees what is there at that moment. For a process that asks
  /// once. Default: false.
  bool lazy_head = false;
  /// As OpenOptions::log.
  std::function<void(LogLevel, std::string_view)> log;
};

/// Settings of one series.
struct SeriesSettings {
  /// Policy of this series; only meaningful when has_duplicates. Default: that of the database.
  DuplicatePolicy duplicates = DuplicatePolicy::kLast;
  bool has_duplicates = false;
  /// Age after which samples expire, counted from the series' own newest sample, in units; 0: that of the database.
  std::int64_t retention = 0;
  /// A sample newer than the newest by at most this much in time (units), and different from it by at most
  /// ignore_max_value_diff, is ignored, if the policy is `last`. Only when ignore_max_time_diff is not 0. Each sample
  /// then costs a look at the newest.
  std::int64_t ignore_max_time_diff = 0;
  double ignore_max_value_diff = 0;
  /// A series whose newest sample is older than this is dropped, in units, counted from the "now" of retention.h; 0:
  /// never. One without samples stays.
  std::int64_t expiry = 0;
  friend bool operator==(const SeriesSettings&, const SeriesSettings&) = default;
};

struct WriteOptions {
  /// Level of this write; only meaningful when has_durability. Default: that of the database.
  Durability durability = Durability::kInterval;
  bool has_durability = false;
  /// Policy of this write; only meaningful when has_duplicates. Default: that of the series.
  DuplicatePolicy duplicates = DuplicatePolicy::kLast;
  bool has_duplicates = false;
  /// Count samples that replaced another one under `last`, at the price of a look-up per sample. Default: off.
  bool count_replaced = false;
  /// The filter of this write (SeriesSettings); only meaningful when has_ignore. Default: that of the series.
  std::int64_t ignore_max_time_diff = 0;
  double ignore_max_value_diff = 0;
  bool has_ignore = false;

  static WriteOptions With(Durability level) {
    WriteOptions o;
    o.durability = level;
    o.has_durability = true;
    return o;
  }
};

}  // namespace tsdb
