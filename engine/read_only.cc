#include "engine/read_only.h"

#include <utility>

#include <fmt/format.h>

#include "engine/guarded.h"
#include "engine/look.h"
#include "engine/merge_hold.h"
#include "engine/open.h"
#include "engine/query/query_result.h"
#include "engine/retention.h"
#include "engine/series_change.h"
#include "engine/usage.h"

namespace tsdb {

Result<std::unique_ptr<Database>> Database::OpenReadOnly(const std::string& path, const ReadOnlyOptions& options) {
  return engine::OpenDatabaseReadOnly(path, options, engine::SystemEnvironment());
}

}  // namespace tsdb

namespace tsdb::engine {
namespace {

Status ReadOnly(std::string_view what) {
  return Status::ReadOnly(fmt::format("{}: the database was opened read-only; open it for writing", what));
}

}  // namespace

Result<std::unique_ptr<Database>> OpenDatabaseReadOnly(const std::string& path, const ReadOnlyOptions& options,
                                                       const Environment& environment) {
  return Guarded([&]() -> Result<std::unique_ptr<Database>> {
    TSDB_ASSIGN_OR_RETURN(auto follower, Follower::Open(path, options, environment));
    return std::unique_ptr<Database>(std::make_unique<ReadOnlyDatabase>(std::move(follower), options.lazy_head));
  });
}

ReadOnlyDatabase::ReadOnlyDatabase(std::unique_ptr<Follower> follower, bool lazy_head)
    : lazy_head_(lazy_head), follower_(std::move(follower)), core_(follower_->core()) {}

Status ReadOnlyDatabase::CheckOpen() const {
  return closed_.load(std::memory_order_acquire) ? Status::Closed("the database was closed: open it again")
                                                 : Status::Ok();
}

Result<SeriesRef> ReadOnlyDatabase::CreateSeries(const Labels&, const SeriesSettings&) {
  return ReadOnly("a series cannot be created");
}

Result<SeriesRef> ReadOnlyDatabase::CreateSeriesByKey(std::string_view, const Labels&, const SeriesSettings&) {
  return ReadOnly("a series cannot be created");
}

Result<AppendResult> ReadOnlyDatabase::Append(const WriteBatch&, const WriteOptions&) {
  return ReadOnly("samples cannot be appended");
}

Status ReadOnlyDatabase::WaitDurable(CommitNumber) { return ReadOnly("commits are synced by the process that writes"); }

Status ReadOnlyDatabase::Flush() { return ReadOnly("nothing can be flushed"); }

Result<CompactReport> ReadOnlyDatabase::Compact(const CompactOptions&) { return ReadOnly("files cannot be merged"); }

Result<std::vector<SeriesUsage>> ReadOnlyDatabase::MeasureUsage(const Selector& selector) {
  TSDB_RETURN_IF_ERROR(CheckOpen());
  return engine::MeasureUsage(core_, selector);
}

Result<DeleteReport> ReadOnlyDatabase::Delete(const Selector&, TimeRange, const DeleteOptions&) {
  return ReadOnly("samples cannot be deleted");
}

Result<DeleteReport> ReadOnlyDatabase::Delete(std::span<const SeriesRef>, TimeRange, const DeleteOptions&) {
  return ReadOnly("samples cannot be deleted");
}

Result<DropReport> ReadOnlyDatabase::Drop(const Selector&, const DropOptions&) {
  return ReadOnly("series cannot be dropped");
}

Result<DropReport> ReadOnlyDatabase::Drop(std::span<const SeriesRef>, const DropOptions&) {
  return ReadOnly("series cannot be dropped");
}

Result<SeriesRef> ReadOnlyDatabase::Undrop(SeriesId, std::string_view) {
  return ReadOnly("a series cannot be brought back");
}

Result<std::vector<DroppedSeries>> ReadOnlyDatabase::ListDropped() {
  return Guarded([&]() -> Result<std::vector<DroppedSeries>> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return ListDroppedSeries(core_);
  });
}

Status ReadOnlyDatabase::Rename(SeriesRef, std::string_view) { return ReadOnly("a series cannot be renamed"); }

Status ReadOnlyDatabase::Alter(SeriesRef, const SeriesChange&) { return ReadOnly("a series cannot be altered"); }

Result<RetentionInfo> ReadOnlyDatabase::GetRetention() {
  return Guarded([&]() -> Result<RetentionInfo> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return DescribeRetention(core_);
  });
}

Status ReadOnlyDatabase::SetRetention(const Retention&) { return ReadOnly("retention cannot be set"); }

Status ReadOnlyDatabase::AcceptClock() { return ReadOnly("the clock cannot be accepted"); }

Status ReadOnlyDatabase::EnforceRetention() { return ReadOnly("nothing can be removed"); }

Result<std::unique_ptr<Subscription>> ReadOnlyDatabase::Subscribe(const Selector&, EventCallback,
                                                                  const SubscribeOptions&) {
  return ReadOnly("a subscription needs the process that writes");
}

Result<SeriesRef> ReadOnlyDatabase::Resolve(const Labels& labels) {
  return Guarded([&]() -> Result<SeriesRef> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    const Labels* set = &labels;
    TSDB_ASSIGN_OR_RETURN(const auto found, core_.index->FindByLabels({&set, 1}));
    if (!found[0]) {
      return Status::NotFound(fmt::format("no series {}", labels.CanonicalKey()));
    }
    return SeriesRef{found[0]->id};
  });
}

Result<SeriesRef> ReadOnlyDatabase::ResolveKey(std::string_view key) {
  return Guarded([&]() -> Result<SeriesRef> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    TSDB_ASSIGN_OR_RETURN(const auto found, core_.index->FindByKey(key));
    if (!found) {
      return Status::NotFound(fmt::format("no series with key {}", key));
    }
    return SeriesRef{found->id};
  });
}

Result<SeriesInfo> ReadOnlyDatabase::GetSeries(SeriesRef ref) {
  return Guarded([&]() -> Result<SeriesInfo> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return SeriesById(core_, ref.id);
  });
}

Result<std::unique_ptr<QueryResult>> ReadOnlyDatabase::Query(const QuerySpec& spec) {
  return Guarded([&]() -> Result<std::unique_ptr<QueryResult>> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    if (!lazy_head_) {
      return RunQuery(core_, spec);
    }
    // The query pins the version that was made for it before another one makes the next.
    MutexLock lock(follow_mutex_);
    TSDB_RETURN_IF_ERROR(follower_->RefreshFor(spec.selector));
    return RunQuery(core_, spec);
  });
}

Result<std::vector<SeriesInfo>> ReadOnlyDatabase::ListSeries(const Selector& selector, std::uint64_t limit) {
  return Guarded([&]() -> Result<std::vector<SeriesInfo>> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return SeriesOf(core_, selector, limit);
  });
}

Result<std::vector<std::string>> ReadOnlyDatabase::LabelNames(std::string_view prefix, std::uint64_t limit) {
  return Guarded([&]() -> Result<std::vector<std::string>> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return core_.index->LabelNames(prefix, limit);
  });
}

Result<std::vector<std::string>> ReadOnlyDatabase::LabelValues(std::string_view name, std::string_view prefix,
                                                               std::uint64_t limit) {
  return Guarded([&]() -> Result<std::vector<std::string>> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return core_.index->LabelValues(name, prefix, limit);
  });
}

Status ReadOnlyDatabase::Refresh() {
  return Guarded([&]() -> Status {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    MutexLock lock(follow_mutex_);
    return follower_->Refresh();
  });
}

Status ReadOnlyDatabase::Close() {
  closed_.store(true, std::memory_order_release);
  return Status::Ok();
}

Stats ReadOnlyDatabase::GetStats() {
  Stats stats;
  FillStats(core_, &stats);
  stats.merging_paused = IsMergeHeld(*core_.fs, core_.path);
  const std::uint64_t definitions = core_.index->memory_bytes();
  stats.index_memory_bytes += definitions;
  stats.memory_bytes += definitions;
  MutexLock lock(follow_mutex_);
  stats.wal_bytes = BytesBelow(core_, "wal");
  stats.wal_segments = follower_->segments();
  stats.last_commit = follower_->last_commit();
  stats.durable_commit = follower_->synced_commit();
  return stats;
}

}  // namespace tsdb::engine
