// The part of DatabaseImpl that ends things: deletes, drops, changes of series, retention.
#include <utility>

#include "engine/database_impl.h"
#include "engine/delete_operation.h"
#include "engine/guarded.h"
#include "engine/retention.h"
#include "engine/series_change.h"

namespace tsdb::engine {

Result<DeleteReport> DatabaseImpl::Delete(const Selector& selector, TimeRange range, const DeleteOptions& options) {
  return Guarded([&]() -> Result<DeleteReport> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    TSDB_ASSIGN_OR_RETURN(const IdSet ids, IdsOf(*core_, selector));
    return DeleteSamples(*core_, ids, range, options);
  });
}

Result<DeleteReport> DatabaseImpl::Delete(std::span<const SeriesRef> series, TimeRange range,
                                          const DeleteOptions& options) {
  return Guarded([&]() -> Result<DeleteReport> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    TSDB_ASSIGN_OR_RETURN(const IdSet ids, IdsOf(*core_, series));
    return DeleteSamples(*core_, ids, range, options);
  });
}

Result<DropReport> DatabaseImpl::Drop(const Selector& selector, const DropOptions& options) {
  return Guarded([&]() -> Result<DropReport> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    TSDB_ASSIGN_OR_RETURN(const IdSet ids, IdsOf(*core_, selector));
    return DropSeries(*core_, ids, options, wal::DropReason::kAsked);
  });
}

Result<DropReport> DatabaseImpl::Drop(std::span<const SeriesRef> series, const DropOptions& options) {
  return Guarded([&]() -> Result<DropReport> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    TSDB_ASSIGN_OR_RETURN(const IdSet ids, IdsOf(*core_, series));
    return DropSeries(*core_, ids, options, wal::DropReason::kAsked);
  });
}

Result<SeriesRef> DatabaseImpl::Undrop(SeriesId id, std::string_view key) {
  return Guarded([&]() -> Result<SeriesRef> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return UndropSeries(*core_, id, key);
  });
}

Result<std::vector<DroppedSeries>> DatabaseImpl::ListDropped() {
  return Guarded([&]() -> Result<std::vector<DroppedSeries>> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return ListDroppedSeries(*core_);
  });
}

Status DatabaseImpl::Rename(SeriesRef series, std::string_view key) {
  return Guarded([&]() -> Status {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return RenameSeries(*core_, series.id, key);
  });
}

Status DatabaseImpl::Alter(SeriesRef series, const SeriesChange& change) {
  return Guarded([&]() -> Status {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return AlterSeries(*core_, series.id, change);
  });
}

Result<RetentionInfo> DatabaseImpl::GetRetention() {
  return Guarded([&]() -> Result<RetentionInfo> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return DescribeRetention(*core_);
  });
}

Status DatabaseImpl::SetRetention(const Retention& retention) {
  return Guarded([&]() -> Status {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return engine::SetRetention(*core_, retention);
  });
}

Status DatabaseImpl::AcceptClock() {
  return Guarded([&]() -> Status {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return engine::AcceptClock(*core_);
  });
}

Status DatabaseImpl::EnforceRetention() {
  return Guarded([&]() -> Status {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return engine::EnforceRetention(*core_);
  });
}

Result<std::unique_ptr<Subscription>> DatabaseImpl::Subscribe(const Selector& selector, EventCallback callback,
                                                              const SubscribeOptions& options) {
  return Guarded([&]() -> Result<std::unique_ptr<Subscription>> {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    return engine::Subscribe(*core_, selector, std::move(callback), options);
  });
}

}  // namespace tsdb::engine
