// The part of DatabaseImpl that ends things: deletes, drops, changes of series, retention.
#include "engine/database_impl.h"
#include "engine/guarded.h"

namespace tsdb::engine {
namespace {

Status NotYet() { return Status::NotSupported("not implemented in this version"); }

}  // namespace

Result<DeleteReport> DatabaseImpl::Delete(const Selector&, TimeRange, const DeleteOptions&) { return NotYet(); }

Result<DeleteReport> DatabaseImpl::Delete(std::span<const SeriesRef>, TimeRange, const DeleteOptions&) {
  return NotYet();
}

Result<DropReport> DatabaseImpl::Drop(const Selector&, const DropOptions&) { return NotYet(); }

Result<DropReport> DatabaseImpl::Drop(std::span<const SeriesRef>, const DropOptions&) { return NotYet(); }

Result<SeriesRef> DatabaseImpl::Undrop(SeriesId, std::string_view) { return NotYet(); }

Result<std::vector<DroppedSeries>> DatabaseImpl::ListDropped() { return NotYet(); }

Status DatabaseImpl::Rename(SeriesRef, std::string_view) { return NotYet(); }

Status DatabaseImpl::Alter(SeriesRef, const SeriesChange&) { return NotYet(); }

Result<RetentionInfo> DatabaseImpl::GetRetention() { return NotYet(); }

Status DatabaseImpl::SetRetention(const Retention&) { return NotYet(); }

Status DatabaseImpl::AcceptClock() { return NotYet(); }

Status DatabaseImpl::EnforceRetention() { return NotYet(); }

Result<std::unique_ptr<Subscription>> DatabaseImpl::Subscribe(const Selector&, EventCallback,
                                                              const SubscribeOptions&) {
  return NotYet();
}

}  // namespace tsdb::engine
