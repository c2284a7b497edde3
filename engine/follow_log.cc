#include "engine/follow_log.h"

namespace tsdb::engine {

Status FollowLogVisitor::OnCommit(CommitNumber commit, std::int64_t /*wall_nanos*/) {
  commit_ = commit;
  return Status::Ok();
}

Status FollowLogVisitor::OnDefinition(const SeriesDefinition& definition) {
  if (definition_ && commit_ <= through_) {
    definition_(definition);
  }
  return Status::Ok();
}

Status FollowLogVisitor::OnPuts(std::span<const wal::Put> puts) {
  // Neighbours mostly share a stripe: one hold of its lock serves the run.
  while (!puts.empty()) {
    const std::size_t stripe = StripeOf(puts[0].id);
    std::size_t n = 1;
    while (n < puts.size() && StripeOf(puts[n].id) == stripe) {
      ++n;
    }
    MutexLock lock(core_.stripes[stripe].mutex);
    PutAll(puts.first(n));
    puts = puts.subspan(n);
  }
  return Status::Ok();
}

// All of one stripe, whose lock is held.
void FollowLogVisitor::PutAll(std::span<const wal::Put> puts) {
  std::ptrdiff_t grown = 0;
  std::uint64_t taken = 0;
  for (const wal::Put& put : puts) {
    HeadSeries* series = generation_->Find(put.id);
    if (series == nullptr && samples_ == WantedSamples::kAll) {
      // No definition is asked for: a series without one is selected by nothing.
      series = generation_->Create(put.id, core_.settings.duplicates);
    }
    if (series != nullptr) {
      grown += series->Put(put.time, put.value);
      ++taken;
    }
  }
  generation_->AddMemory(grown);
  generation_->AddSamples(taken);
}

}  // namespace tsdb::engine
