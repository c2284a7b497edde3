#include "engine/follow_log.h"

#include <memory>

#include "engine/retention.h"

namespace tsdb::engine {

Status FollowLogVisitor::OnCommit(CommitNumber commit, std::int64_t /*wall_nanos*/) {
  commit_ = commit;
  return Status::Ok();
}

Status FollowLogVisitor::OnDefinition(const SeriesDefinition& definition) {
  if (definition_ && commit_ <= through_) {
    core_.dropped.Remove(definition.id);
    core_.retention.NoteSettings(definition.id, definition.settings);
    definition_(definition);
  }
  return Status::Ok();
}

// Deletes belong to the pass that takes the samples.
Status FollowLogVisitor::OnDelete(const wal::DeleteOperation& operation) {
  if (!wants_puts()) {
    return Status::Ok();
  }
  auto tombstone = std::make_shared<chunk::Tombstone>();
  tombstone->commit = commit_;
  tombstone->range = operation.range;
  tombstone->ids = operation.ids;
  for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
    MutexLock lock(core_.stripes[stripe].mutex);
    generation_->ApplyDelete(stripe, tombstone);
  }
  return Status::Ok();
}

Status FollowLogVisitor::OnDrop(const wal::DropOperation& operation) {
  if (definition_ && commit_ <= through_) {
    chunk::Drop drop;
    drop.commit = commit_;
    drop.until_wall_nanos = operation.until_wall_nanos;
    drop.ids = operation.ids;
    core_.dropped.End(drop.ids, &drop);
    drop.ids.ForEach([&](std::uint64_t id) {
      SeriesDefinition end;
      end.id = SeriesId{id};
      end.commit = commit_;
      end.dropped = true;
      definition_(end);
    });
  }
  return Status::Ok();
}

Status FollowLogVisitor::OnFloor(const wal::FloorOperation& operation) {
  core_.retention.RaiseFloor(operation.floor);
  return Status::Ok();
}

Status FollowLogVisitor::OnSettings(const wal::SettingsOperation& operation) {
  return ApplySettings(operation, &core_.retention);
}

Status FollowLogVisitor::OnPuts(std::span<const wal::Put> puts) {
  for (const wal::Put& put : puts) {
    core_.retention.RaiseNewest(put.time);
  }
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
