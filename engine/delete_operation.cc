#include "engine/delete_operation.h"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "engine/append.h"
#include "engine/query/series_reader.h"
#include "engine/retention.h"

namespace tsdb::engine {

Result<IdSet> IdsOf(Core& core, const Selector& selector) {
  TSDB_ASSIGN_OR_RETURN(const std::vector<SeriesId> selected, core.index->Select(selector));
  IdSet ids;
  for (const SeriesId id : selected) {
    ids.Add(id.value);
  }
  return ids;
}

Result<IdSet> IdsOf(Core& core, std::span<const SeriesRef> series) {
  IdSet ids;
  for (const SeriesRef ref : series) {
    TSDB_ASSIGN_OR_RETURN(const RegistryEntryPtr entry, FindSeriesById(core, ref.id));
    if (entry == nullptr) {
      return Status::Dropped(
          fmt::format("no series with id {}: it was dropped or never created; resolve it again", ref.id.value));
    }
    ids.Add(ref.id.value);
  }
  return ids;
}

std::array<std::uint8_t, kStripes> StripesOf(const IdSet& ids) {
  std::array<std::uint8_t, kStripes> touched{};
  if (ids.Count() > 4096) {
    touched.fill(1);
    return touched;
  }
  ids.ForEach([&](std::uint64_t id) { touched[StripeOf(SeriesId{id})] = 1; });
  return touched;
}

void CountLogged(Core& core, const wal::LogRecord& record) {
  const std::uint64_t bytes = record.payload.size() + 64;
  const std::uint64_t since_cut = core.wal_bytes_since_cut.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (core.wake_scheduler && since_cut >= core.options.wal_bytes_max) {
    core.wake_scheduler();
  }
}

StripeHold::StripeHold(Core& core, const std::array<std::uint8_t, kStripes>& touched) TSDB_NO_THREAD_SAFETY_ANALYSIS
    : core_(core),
      touched_(touched) {
  for (std::size_t i = 0; i < kStripes; ++i) {
    if (touched_[i] != 0) {
      core_.stripes[i].mutex.Lock();
      generation_ = core_.stripes[i].generation;
    }
  }
}

StripeHold::~StripeHold() TSDB_NO_THREAD_SAFETY_ANALYSIS {
  for (std::size_t i = 0; i < kStripes; ++i) {
    if (touched_[i] != 0) {
      core_.stripes[i].mutex.Unlock();
    }
  }
}

void StripeHold::Settle() TSDB_NO_THREAD_SAFETY_ANALYSIS {
  for (std::size_t i = 0; i < kStripes; ++i) {
    if (touched_[i] != 0 && !core_.stripes[i].Settle()) {
      throw std::bad_alloc();
    }
  }
}

void StripeHold::CountDrop() TSDB_NO_THREAD_SAFETY_ANALYSIS {
  for (std::size_t i = 0; i < kStripes; ++i) {
    core_.stripes[i].drops_ordered += touched_[i];
  }
}

void PendingDeletes::Add(const IdSet& ids, TimeRange range) {
  auto tombstone = std::make_shared<chunk::Tombstone>();
  tombstone->ids = ids;
  tombstone->ids.Optimize();
  tombstone->range = range;
  tombstones_.push_back(std::move(tombstone));
}

void PendingDeletes::AddTo(wal::RecordBuilder* record) const {
  for (const auto& tombstone : tombstones_) {
    record->AddDelete(tombstone->range, tombstone->ids);
  }
}

std::array<std::uint8_t, kStripes> PendingDeletes::Touched() const {
  std::array<std::uint8_t, kStripes> touched{};
  for (const auto& tombstone : tombstones_) {
    const auto part = StripesOf(tombstone->ids);
    for (std::size_t i = 0; i < kStripes; ++i) {
      touched[i] |= part[i];
    }
  }
  return touched;
}

void PendingDeletes::Reserve(Core& core) {
  const auto touched = Touched();
  for (std::size_t i = 0; i < kStripes; ++i) {
    stripes_[i].slices.clear();
    if (touched[i] != 0) {
      core.stripes[i].ReserveFor(tombstones_.size());
      stripes_[i].slices.resize(tombstones_.size());
    }
  }
}

void PendingDeletes::Push(Core& core, Generation* generation, const wal::LogRecord* record) {
  for (const auto& tombstone : tombstones_) {
    tombstone->commit = record->commit();
  }
  for (std::size_t i = 0; i < kStripes; ++i) {
    for (std::size_t k = 0; k < stripes_[i].slices.size(); ++k) {
      PendingSlice& slice = stripes_[i].slices[k];
      slice.record = record;
      slice.generation = generation;
      slice.count = 1;
      slice.tombstone = tombstones_[k];
      slice.stripe = i;
      core.stripes[i].Push(&slice);
      ++core.stripes[i].deletes_ordered;
    }
  }
}

void PendingDeletes::Drain(Core& core, const std::array<std::uint8_t, kStripes>& touched) {
  for (std::size_t i = 0; i < kStripes; ++i) {
    if (touched[i] != 0) {
      MutexLock lock(core.stripes[i].mutex);
      core.stripes[i].Drain();
    }
  }
}

Result<std::uint64_t> CountSamples(Core& core, const IdSet& ids, TimeRange range) {
  QueryPlan plan(core, QuerySpec(), core.versions.Pin());
  QueryStatistics counts;
  DirectoryCache cache(core.directory_blocks);
  SeriesReader reader(plan, cache, &counts);
  std::uint64_t samples = 0;
  Piece piece;
  for (const std::uint64_t id : ids.ToVector()) {
    cache.EndSeries();
    TSDB_RETURN_IF_ERROR(reader.Open(SeriesId{id}, range, false));
    reader.Start(range);
    while (reader.Next(nullptr, &piece)) {
      samples += piece.samples.times.size();
    }
    TSDB_RETURN_IF_ERROR(reader.status());
  }
  return samples;
}

Result<DeleteReport> DeleteSamples(Core& core, const IdSet& ids, TimeRange range, const DeleteOptions& options) {
  DeleteReport report;
  report.series = ids.Count();
  if (ids.empty() || range.empty()) {
    return report;
  }
  if (options.count_samples) {
    TSDB_ASSIGN_OR_RETURN(report.samples, CountSamples(core, ids, range));
  }
  if (options.dry_run) {
    return report;
  }
  wal::LogRecord log_record;
  for (bool ordered = false; !ordered;) {
    const std::uint64_t epoch = core.log->epoch();
    PendingDeletes deletes;
    deletes.Add(ids, range);
    TSDB_RETURN_IF_ERROR(AddOwnFloors(core, ids, range, &deletes));
    const auto touched = deletes.Touched();
    wal::RecordBuilder record;
    deletes.AddTo(&record);
    if (record.payload().size() > kRecordBytesMax) {
      return Status::InvalidArgument(fmt::format("a delete of {} series is too large: split it", ids.Count()));
    }
    log_record.payload = record.payload();
    {
      StripeHold hold(core, touched);
      hold.Settle();
      deletes.Reserve(core);
      ordered = core.log->Enqueue(&log_record, options.has_durability ? options.durability : core.settings.durability,
                                  epoch);
      if (!ordered) {
        continue;
      }
      deletes.Push(core, hold.generation(), &log_record);
    }
    const Status written = core.log->Write(&log_record);
    PendingDeletes::Drain(core, touched);
    TSDB_RETURN_IF_ERROR(written);
    CountLogged(core, log_record);
  }
  report.commit = log_record.commit();
  return report;
}

}  // namespace tsdb::engine
