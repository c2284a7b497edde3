#include "engine/database_impl.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "engine/append.h"
#include "engine/flush_job.h"
#include "engine/guarded.h"
#include "engine/look.h"
#include "engine/merge_hold.h"
#include "engine/merge_job.h"
#include "engine/open.h"
#include "engine/publish.h"
#include "engine/query/query_result.h"
#include "engine/series_change.h"
#include "engine/recovery.h"
#include "engine/usage.h"

namespace tsdb {

Result<std::unique_ptr<Database>> Database::Open(const std::string& path, const OpenOptions& options) {
  return engine::OpenDatabase(path, options, engine::SystemEnvironment());
}

}  // namespace tsdb

namespace tsdb::engine {

Result<std::unique_ptr<Database>> OpenDatabase(const std::string& path, const OpenOptions& options,
                                               const Environment& environment) {
  return Guarded([&]() -> Result<std::unique_ptr<Database>> {
    TSDB_ASSIGN_OR_RETURN(auto core, Recover(path, options, environment));
    return std::unique_ptr<Database>(std::make_unique<DatabaseImpl>(std::move(core)));
  });
}

DatabaseImpl::DatabaseImpl(std::unique_ptr<Core> core) : core_(std::move(core)) {
  if (core_->options.background) {
    merge_scheduler_ = std::make_unique<Scheduler>([this] { return MergingIsDue(*core_); },
                                                   [this] { return MergeInBackground(*core_); });
    core_->wake_merging = [this] { merge_scheduler_->Wake(); };
    scheduler_ = std::make_unique<Scheduler>([this] { return core_->FlushIsDue(); },
                                             [this] { return engine::Flush(*core_); });
    core_->wake_scheduler = [this] { scheduler_->Wake(); };
  }
}

DatabaseImpl::~DatabaseImpl() {
  PauseMerging();
  scheduler_.reset();  // first: a flush rings the other
  merge_scheduler_.reset();
}

Status DatabaseImpl::CheckOpen() const {
  if (core_->closed.load(std::memory_order_acquire)) {
    return Status::Closed("the database was closed: open it again");
  }
  return core_->definitions.incomplete() ? Status::OutOfMemory(kIncomplete) : Status::Ok();
}

Result<SeriesRef> DatabaseImpl::CreateSeries(const Labels& labels, const SeriesSettings& settings) {
  return Guarded([&]() -> Result<SeriesRef> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    TSDB_RETURN_IF_ERROR(CheckSettings(settings));
    if (labels.empty()) {
      return Status::InvalidArgument("a series needs at least one label with a value");
    }
    SeriesDefinition definition;
    definition.labels = labels;
    definition.settings = settings;
    TSDB_ASSIGN_OR_RETURN(const SeriesId id, CreateOneSeries(*core_, std::move(definition)));
    return SeriesRef{id};
  });
}

Result<SeriesRef> DatabaseImpl::CreateSeriesByKey(std::string_view key, const Labels& labels,
                                                  const SeriesSettings& settings) {
  return Guarded([&]() -> Result<SeriesRef> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    TSDB_RETURN_IF_ERROR(CheckSettings(settings));
    if (key.empty() || key.size() > kKeyBytesMax) {
      return Status::InvalidArgument(fmt::format("a key has 1 to {} bytes, this one {}", kKeyBytesMax, key.size()));
    }
    SeriesDefinition definition;
    definition.key = std::string(key);
    definition.created_by_key = true;
    definition.labels = labels;
    definition.settings = settings;
    TSDB_ASSIGN_OR_RETURN(const SeriesId id, CreateOneSeries(*core_, std::move(definition)));
    return SeriesRef{id};
  });
}

Result<SeriesRef> DatabaseImpl::Resolve(const Labels& labels) {
  return Guarded([&]() -> Result<SeriesRef> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    TSDB_ASSIGN_OR_RETURN(const RegistryEntryPtr entry, FindSeriesByLabels(*core_, labels));
    if (entry == nullptr) {
      return Status::NotFound(fmt::format("no series {}", labels.CanonicalKey()));
    }
    return SeriesRef{entry->id};
  });
}

Result<SeriesRef> DatabaseImpl::ResolveKey(std::string_view key) {
  return Guarded([&]() -> Result<SeriesRef> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    TSDB_ASSIGN_OR_RETURN(const RegistryEntryPtr entry, FindSeriesByKey(*core_, key));
    if (entry == nullptr) {
      return Status::NotFound(fmt::format("no series with key {}", key));
    }
    return SeriesRef{entry->id};
  });
}

Result<SeriesInfo> DatabaseImpl::GetSeries(SeriesRef ref) {
  return Guarded([&]() -> Result<SeriesInfo> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return SeriesById(*core_, ref.id);
  });
}

Status DatabaseImpl::WaitForMemory() {
  const auto room = [this] { return core_->HeadBytes() < 2 * core_->FlushThreshold(); };
  if (room()) {
    return Status::Ok();
  }
  if (scheduler_ == nullptr) {
    return engine::Flush(*core_);
  }
  const std::uint64_t failures = core_->flush_failures.load(std::memory_order_relaxed);
  scheduler_->Wake();
  MutexLock lock(core_->memory_mutex);
  while (!room()) {
    if (core_->flush_failures.load(std::memory_order_relaxed) != failures) {
      return Status::ResourceExhausted(
          "unflushed samples fill the memory budget (OpenOptions::memory_bytes_max) and flushing fails: see Stats and "
          "the log");
    }
    core_->memory_freed.WaitFor(core_->memory_mutex, std::chrono::milliseconds(100));
  }
  return Status::Ok();
}

Result<AppendResult> DatabaseImpl::Append(const WriteBatch& batch, const WriteOptions& options) {
  return Guarded([&]() -> Result<AppendResult> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    TSDB_RETURN_IF_ERROR(WaitForMemory());
    return AppendBatch(*core_, batch, options);
  });
}

Status DatabaseImpl::WaitDurable(CommitNumber commit) {
  return Guarded([&]() -> Status {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return core_->log->SyncThrough(commit);
  });
}

Result<std::unique_ptr<QueryResult>> DatabaseImpl::Query(const QuerySpec& spec) {
  return Guarded([&]() -> Result<std::unique_ptr<QueryResult>> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return RunQuery(*core_, spec);
  });
}

Result<std::vector<SeriesInfo>> DatabaseImpl::ListSeries(const Selector& selector, std::uint64_t limit) {
  return Guarded([&]() -> Result<std::vector<SeriesInfo>> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return SeriesOf(*core_, selector, limit);
  });
}

Result<std::vector<std::string>> DatabaseImpl::LabelNames(std::string_view prefix, std::uint64_t limit) {
  return Guarded([&]() -> Result<std::vector<std::string>> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return core_->index->LabelNames(prefix, limit);
  });
}

Result<std::vector<std::string>> DatabaseImpl::LabelValues(std::string_view name, std::string_view prefix,
                                                           std::uint64_t limit) {
  return Guarded([&]() -> Result<std::vector<std::string>> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return core_->index->LabelValues(name, prefix, limit);
  });
}

Status DatabaseImpl::Flush() {
  return Guarded([&]() -> Status {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return engine::Flush(*core_);
  });
}

Result<CompactReport> DatabaseImpl::Compact(const CompactOptions& options) {
  return Guarded([&]() -> Result<CompactReport> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return engine::Compact(*core_, options);
  });
}

void DatabaseImpl::PauseMerging() {
  core_->merging_paused.store(true);
  CancelMerge(*core_);
}

void DatabaseImpl::ResumeMerging() {
  core_->merging_paused.store(false);
  core_->merge_check.store(true);
  if (merge_scheduler_ != nullptr && CheckOpen().ok()) {
    merge_scheduler_->Wake();
  }
}

Result<std::vector<SeriesUsage>> DatabaseImpl::MeasureUsage(const Selector& selector) {
  return Guarded([&]() -> Result<std::vector<SeriesUsage>> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return engine::MeasureUsage(*core_, selector);
  });
}

Status DatabaseImpl::Close() {
  return Guarded([&]() -> Status {
    if (core_->closed.exchange(true)) {
      return Status::Ok();
    }
    // The flush below may not ring any more: its thread ends first.
    scheduler_.reset();
    core_->wake_scheduler = nullptr;
    CancelMerge(*core_);
    merge_scheduler_.reset();
    core_->wake_merging = nullptr;
    Status status = engine::Flush(*core_);
    if (status.ok()) {
      status = core_->log->RemoveThrough(core_->log->last_assigned(), true);
    }
    if (status.ok() && core_->options.background) {
      MergeBeforeClose(*core_);
    }
    { MutexLock merge_ended(core_->merge_mutex); }
    RemoveRetired(*core_, true);
    const Status index_status = core_->index->Close();
    core_->lock.reset();
    return status.ok() ? index_status : status;
  });
}

Stats DatabaseImpl::GetStats() {
  Stats stats;
  FillStats(*core_, &stats);
  stats.memory_bytes_max = core_->options.memory_bytes_max;
  const wal::LogStats log = core_->log->GetStats();
  stats.wal_bytes = log.bytes;
  stats.wal_segments = log.segments;
  stats.flushes = core_->flushes.load(std::memory_order_relaxed);
  stats.flush_failures = core_->flush_failures.load(std::memory_order_relaxed);
  stats.flush_bytes = core_->flush_bytes.load(std::memory_order_relaxed);
  stats.merges = core_->merges.load(std::memory_order_relaxed);
  stats.merge_failures = core_->merge_failures.load(std::memory_order_relaxed);
  stats.merge_bytes = core_->merge_bytes.load(std::memory_order_relaxed);
  stats.write_amplification = stats.flush_bytes == 0 ? 0
                                                     : static_cast<double>(stats.flush_bytes + stats.merge_bytes) /
                                                           static_cast<double>(stats.flush_bytes);
  stats.merging_paused =
      core_->merging_paused.load(std::memory_order_relaxed) || IsMergeHeld(*core_->fs, core_->path);
  stats.merge_running = core_->merge_running.load(std::memory_order_relaxed);
  if (stats.merge_running) {
    stats.merge_samples_done = core_->merge_control.samples_done.load(std::memory_order_relaxed);
    stats.merge_samples_total = core_->merge_control.samples_total.load(std::memory_order_relaxed);
  }
  stats.commits = log.commits;
  stats.syncs = log.syncs;
  stats.last_commit = log.last_assigned;
  stats.durable_commit = log.last_synced;
  if (!log.error.ok()) {
    stats.write_error = log.error.ToString();
  }
  MutexLock lock(core_->memory_mutex);
  if (!core_->flush_error.ok()) {
    stats.flush_error = core_->flush_error.ToString();
  }
  if (!core_->merge_error.ok()) {
    stats.merge_error = core_->merge_error.ToString();
  }
  stats.degradation = !stats.write_error.empty()   ? Degradation::kRefusingWrites
                      : !stats.flush_error.empty() ? Degradation::kNotFlushing
                      : !stats.merge_error.empty() ? Degradation::kNotMerging
                                                   : Degradation::kNone;
  return stats;
}

}  // namespace tsdb::engine
