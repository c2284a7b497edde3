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
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tsdb/jobs.h"
#include "tsdb/labels.h"
#include "tsdb/options.h"
#include "tsdb/query.h"
#include "tsdb/result.h"
#include "tsdb/retention.h"
#include "tsdb/selector.h"
#include "tsdb/series_life.h"
#include "tsdb/stats.h"
#include "tsdb/subscription.h"
#include "tsdb/usage.h"
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

  /// Takes away the samples of the selected series in `range` (both ends included) that were committed before. Costs as
  /// much as there are series, not samples: they are gone for every reader when it returns, and from the disk once the
  /// files that hold them are merged (Compact with purge: at once). What is written to the range afterwards stays.
  /// kInvalidArgument (a selector that cannot be evaluated), kDropped (a ref whose series is gone), errors of Append.
  virtual Result<DeleteReport> Delete(const Selector& selector, TimeRange range, const DeleteOptions& options = {}) = 0;
  virtual Result<DeleteReport> Delete(std::span<const SeriesRef> series, TimeRange range,
                                      const DeleteOptions& options = {}) = 0;
  /// Ends series: their keys and labels are free at once, appends by their refs give kDropped, no listing knows them.
  /// Their ids are never given again. This and the changes below are synced before they are acknowledged.
  virtual Result<DropReport> Drop(const Selector& selector, const DropOptions& options = {}) = 0;
  virtual Result<DropReport> Drop(std::span<const SeriesRef> series, const DropOptions& options = {}) = 0;
  /// Brings a dropped series back with all its samples, under its own key or, if it was created by key, under `key`.
  /// kNotFound (not dropped, or its grace is over), kAlreadyExists (the key is taken, by whom).
  virtual Result<SeriesRef> Undrop(SeriesId id, std::string_view key = {}) = 0;
  /// Series that Undrop can bring back, by id.
  virtual Result<std::vector<DroppedSeries>> ListDropped() = 0;
  /// Gives a series created by key another one. kAlreadyExists, kDropped, kInvalidArgument (it was created by labels:
  /// these are its name).
  virtual Status Rename(SeriesRef series, std::string_view key) = 0;
  /// Changes labels or settings of a series. kDropped, kInvalidArgument (an impossible value; labels of a series
  /// created by labels). When the retention changes, what is expired at that moment stays gone.
  virtual Status Alter(SeriesRef series, const SeriesChange& change) = 0;

  virtual Result<RetentionInfo> GetRetention() = 0;
  /// Replaces the settings. What is expired by the old ones stays gone. kInvalidArgument (a selector, a negative age).
  virtual Status SetRetention(const Retention& retention) = 0;
  /// The clock is right, whatever step it made: expired samples may be removed.
  virtual Status AcceptClock() = 0;
  /// Removes what is expired now, as the background does every minute: series first, then whole files.
  virtual Status EnforceRetention() = 0;

  /// Calls `callback` with what happens to the series that match, from now on; a series that is created, altered or
  /// brought back later is taken in when it matches then. kInvalidArgument (the selector), kReadOnly.
  virtual Result<std::unique_ptr<Subscription>> Subscribe(const Selector& selector, EventCallback callback,
                                                          const SubscribeOptions& options = {}) = 0;

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
  /// Flushes, then merges the chunk files into their final form: per partition one file, as small as it gets. Writers,
  /// readers and flushes go on meanwhile. Needs room for the largest merge beside its inputs. kNoSpace, kCancelled
  /// (by options.progress), kCorruption (damaged files were left as they are, all others merged), kIoError; the
  /// database is whole after each of these.
  virtual Result<CompactReport> Compact(const CompactOptions& options = {}) = 0;
  /// Ends the background merge that runs, if any, and starts no other until ResumeMerging. Not stored.
  virtual void PauseMerging() = 0;
  virtual void ResumeMerging() = 0;
  /// What each of the selected series costs in chunk files, most bytes first; series without chunks are left out. Reads
  /// the directories of all files.
  virtual Result<std::vector<SeriesUsage>> MeasureUsage(const Selector& selector) = 0;
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
