// Database: the engine's front door.
//
//   auto db = *tsdb::Database::Open("/var/lib/app/metrics");
//   auto cpu = *db->CreateSeries({{"__name__", "cpu"}, {"host", "a"}});
//   tsdb::WriteBatch batch;
//   batch.Add(cpu, now_ms, 0.5);
//   db->Append(batch);
//
// One process writes at a time; a second is refused with the holder's pid, but any number may read beside it
// (OpenReadOnly). All functions are thread-safe and may run
// at the same time; none throws, prints or aborts on bad input or bad files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tsdb/labels.h"
#include "tsdb/options.h"
#include "tsdb/query.h"
#include "tsdb/result.h"
#include "tsdb/selector.h"
#include "tsdb/stats.h"
#include "tsdb/write_batch.h"

namespace tsdb {

class Database {
 public:
  /// Opens (or creates, see OpenOptions) the database in directory `path` and recovers what a crash left.
  /// Errors: kBusy (another process has it, with its pid), kNotFound (missing and not to be created),
  /// kAlreadyExists, kNotSupported (newer format, or an option of a later version), kIoError, kCorruption (only when
  /// not even the manifest can be read).
  static Result<std::unique_ptr<Database>> Open(const std::string& path, const OpenOptions& options = {});

  /// Opens what is in `path` for reading only: beside the process that writes it, or after it, crashed or not, also on
  /// media that cannot be written. Takes no lock, writes nothing, does not disturb the writer. Sees every commit that
  /// was acknowledged before the call, at any durability level, and the same again after each Refresh. A database that
  /// is not refreshed keeps the space of files that the writer has removed meanwhile.
  /// Calls that change something give kReadOnly. Errors: kNotFound, kNotSupported, kCorruption and kIoError as Open;
  /// kBusy when the files kept changing under it.
  static Result<std::unique_ptr<Database>> OpenReadOnly(const std::string& path, const ReadOnlyOptions& options = {});

  /// Closes without flushing if Close() was not called: the log brings everything acknowledged back.
  virtual ~Database() = default;

  /// The series with these labels, created when missing. kInvalidArgument (no labels), kAlreadyExists (a series
  /// created by key shows the same name).
  virtual Result<SeriesRef> CreateSeries(const Labels& labels, const SeriesSettings& settings = {}) = 0;
  /// A new series identified by `key` (any bytes, 1 to kKeyBytesMax). kAlreadyExists when the shown key is taken.
  virtual Result<SeriesRef> CreateSeriesByKey(std::string_view key, const Labels& labels,
                                              const SeriesSettings& settings = {}) = 0;
  /// kNotFound when there is no such series. Resolve never finds a series created by key; ResolveKey finds both kinds
  /// by their shown key.
  virtual Result<SeriesRef> Resolve(const Labels& labels) = 0;
  virtual Result<SeriesRef> ResolveKey(std::string_view key) = 0;
  virtual Result<SeriesInfo> GetSeries(SeriesRef ref) = 0;

  /// Appends a batch and waits for its durability level. Refused samples are reported one by one in the result; a
  /// Status means that no sample of the batch was stored: kNoSpace and kInvalidArgument (refused, never appears),
  /// kIoError (failed: never appears once writing has resumed; should the process die before that, it is there whole or
  /// not at all), kClosed.
  virtual Result<AppendResult> Append(const WriteBatch& batch, const WriteOptions& options = {}) = 0;
  /// Returns when everything up to `commit` is synced.
  virtual Status WaitDurable(CommitNumber commit) = 0;

  virtual Result<std::unique_ptr<QueryResult>> Query(const QuerySpec& spec) = 0;

  /// Series that match, ordered by id; at most `limit` (0: all).
  virtual Result<std::vector<SeriesInfo>> ListSeries(const Selector& selector, std::uint64_t limit = 0) = 0;
  /// Names of labels, sorted, that start with `prefix`; at most `limit` (0: all).
  virtual Result<std::vector<std::string>> LabelNames(std::string_view prefix = {}, std::uint64_t limit = 0) = 0;
  virtual Result<std::vector<std::string>> LabelValues(std::string_view name, std::string_view prefix = {},
                                                       std::uint64_t limit = 0) = 0;

  /// Moves everything committed before the call into files; returns when they are durable.
  virtual Status Flush() = 0;
  /// Flushes and closes: nothing is left to replay. Later calls give kClosed. Idempotent.
  virtual Status Close() = 0;

  /// Takes in what the writer did since the opening or the last Refresh; queries that run go on with what they saw. A
  /// database opened for writing is always current: OK. Errors as OpenReadOnly; what was seen before stays.
  virtual Status Refresh() = 0;

  virtual Stats GetStats() = 0;
  virtual const RecoveryReport& recovery_report() const = 0;
  /// Unit of the database's times.
  virtual TimeUnit unit() const = 0;
};

}  // namespace tsdb
