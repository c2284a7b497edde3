#include "engine/flush_job.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compaction/flush.h"
#include "engine/publish.h"

namespace tsdb::engine {
namespace {

/// A sealed generation as the source of a flush.
class GenerationSource final : public compaction::SeriesSource {
 public:
  GenerationSource(const Generation& generation, IdSet dead)
      : series_(generation.SortedSeries()), dead_(std::move(dead)) {}

  bool Next(SeriesId* id, chunk::Columns* columns) override {
    if (next_ == series_.size() || !status_.ok()) {
      return false;
    }
    const HeadSeries& series = *series_[next_];
    *id = series.id();
    if (dead_.Contains(series.id().value)) {
      columns->Clear();  // passed over
      ++next_;
      return true;
    }
    if (slice_ == 0) {
      starts_ = series.SliceStarts(kSliceSamples);
    }
    const TimeRange range = {slice_ == 0 ? kTimestampMin : starts_[slice_ - 1],
                             slice_ == starts_.size() ? kTimestampMax : starts_[slice_] - 1};
    status_ = DecodeSnapshot(series.TakeSnapshot(range), range, columns);
    if (slice_++ == starts_.size()) {
      slice_ = 0;
      ++next_;
    }
    return status_.ok();
  }
  Status status() const override { return status_; }

 private:
  /// A long series comes in slices, so that what is decoded stays small.
  static constexpr std::size_t kSliceSamples = 1 << 17;

  std::vector<const HeadSeries*> series_;
  std::vector<Timestamp> starts_;  // of the slices of the series at hand, but the first
  std::size_t slice_ = 0;          // the next one
  const IdSet dead_;  // series that ended for good
  std::size_t next_ = 0;
  Status status_;
};

/// One definition per id, the newest, ascending by id. Of a series that ended in the same generation as it began its
/// definition stays with the mark: it may come back.
std::vector<SeriesDefinition> SortedDefinitions(const Generation& generation) {
  std::vector<SeriesDefinition> sorted = generation.definitions;
  for (const chunk::Drop& drop : generation.drops) {
    drop.ids.ForEach([&](std::uint64_t id) {
      SeriesDefinition& end = sorted.emplace_back();
      end.id = SeriesId{id};
      end.commit = drop.commit;
      end.dropped = true;
    });
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return std::pair(a.id, a.commit) < std::pair(b.id, b.commit); });
  std::vector<SeriesDefinition> newest;
  for (SeriesDefinition& definition : sorted) {
    if (!newest.empty() && newest.back().id == definition.id) {
      if (definition.dropped) {
        newest.back().dropped = true;
        newest.back().commit = definition.commit;
      } else {
        newest.back() = std::move(definition);
      }
    } else {
      newest.push_back(std::move(definition));
    }
  }
  return newest;
}

// Opens a new mutable generation; what was mutable is sealed with the last number given so far.
void Cut(Core& core, CommitNumber replayed) TSDB_REQUIRES(core.flush_mutex) TSDB_NO_THREAD_SAFETY_ANALYSIS {
  MutexLock lock(core.manifest_mutex);  // the version is not to change meanwhile
  auto fresh = std::make_shared<Generation>(core.next_generation++);
  const VersionPtr old = core.versions.Pin();
  auto version = std::make_shared<Version>(*old);
  version->sealed.push_back(old->mutable_generation);
  version->mutable_generation = fresh;
  core.definition_order_mutex.Lock();
  for (Stripe& stripe : core.stripes) {
    stripe.mutex.Lock();
  }
  old->mutable_generation->cut = core.log == nullptr ? replayed : core.log->last_assigned();
  for (Stripe& stripe : core.stripes) {
    stripe.generation = fresh.get();
  }
  core.versions.Set(std::move(version));
  core.wal_bytes_since_cut.store(0, std::memory_order_relaxed);
  core.last_cut_nanos.store(core.clock->MonotonicNanos(), std::memory_order_relaxed);
  for (Stripe& stripe : core.stripes) {
    stripe.mutex.Unlock();
  }
  core.definition_order_mutex.Unlock();
}

// Everything up to the cut is on disk and in the generation.
Status SettleGeneration(Core& core, const Generation& generation) {
  if (core.log != nullptr) {
    TSDB_RETURN_IF_ERROR(core.log->SyncThrough(generation.cut));
  }
  bool settled = true;
  for (Stripe& stripe : core.stripes) {
    MutexLock lock(stripe.mutex);
    stripe.Drain();
    settled = stripe.Settle() && settled;
  }
  core.definitions.Drain(core.registry, *core.index);
  if (core.definitions.incomplete()) {
    return Status::OutOfMemory(kIncomplete);
  }
  return settled ? Status::Ok() : Status::OutOfMemory("samples that were written found no memory yet");
}

// What follows a flush that has happened. None of it changes an answer: the next flush or open makes up for it.
void TidyUp(Core& core, CommitNumber flushed) TSDB_REQUIRES(core.flush_mutex) {
  try {
    if (Status status = core.index->Persist(flushed); !status.ok()) {
      // The index is a cache: what it does not hold now, the catalogue brings back at the next open.
      core.Log(LogLevel::kWarning, fmt::format("index not persisted: {}", status.ToString()));
    }
    if (core.log == nullptr) {
      return;
    }
    if (Status status = core.log->RemoveThrough(flushed, false); !status.ok()) {
      core.Log(LogLevel::kWarning, fmt::format("log segments not removed: {}", status.ToString()));
    }
  } catch (const std::bad_alloc&) {
    core.Log(LogLevel::kWarning, "no memory to tidy up behind a flush; the next one does");
  }
}

// What drops, changes and settings up to the cut left. They are synced before they take effect, so later ones may be in
// it as well.
void AddLife(Core& core, chunk::ManifestEdit* edit) TSDB_REQUIRES(core.flush_mutex) {
  MutexLock life(core.life_mutex);  // none is between its number and its effect
  MutexLock lock(core.manifest_mutex);
  const chunk::ManifestState& state = core.manifest->state();
  std::uint64_t lowest_file = core.file_numbers.next();
  for (const chunk::ChunkFileMeta& file : state.chunk_files) {
    lowest_file = std::min(lowest_file, file.number);
  }
  core.dropped.Forget(lowest_file);
  if (std::vector<chunk::Drop> drops = core.dropped.all(); drops != state.drops) {
    edit->drops = std::move(drops);
  }
  if (chunk::RetentionPositions positions = core.retention.positions(); !(positions == state.retention)) {
    edit->retention = std::move(positions);
  }
  const std::shared_ptr<const RetentionRules> rules = core.retention.rules();
  CreateOptions settings = state.settings;
  settings.retention = rules->age;
  settings.bytes_max = rules->bytes_max;
  if (settings.retention != state.settings.retention || settings.bytes_max != state.settings.bytes_max) {
    edit->settings = settings;
  }
}

Status FlushGeneration(Core& core, const std::shared_ptr<Generation>& generation) TSDB_REQUIRES(core.flush_mutex) {
  TSDB_RETURN_IF_ERROR(SettleGeneration(core, *generation));
  const std::vector<SeriesDefinition> definitions = SortedDefinitions(*generation);
  GenerationSource source(*generation, core.dropped.Dead());
  compaction::FlushInput input;
  input.database_path = core.path;
  input.store_high = core.store_id.high;
  input.store_low = core.store_id.low;
  input.first_commit = CommitNumber{core.flushed_commit.load(std::memory_order_relaxed) + 1};
  input.last_commit = generation->cut;
  input.file_numbers = &core.file_numbers;
  input.samples = &source;
  input.definitions = definitions;
  TSDB_ASSIGN_OR_RETURN(chunk::ManifestEdit edit, compaction::Flush(input, *core.fs));
  edit.next_series_id = core.next_series_id.load(std::memory_order_relaxed);
  edit.last_commit = generation->cut;
  if (core.log != nullptr) {
    edit.last_commit = std::max(edit.last_commit, core.log->last_assigned());
  }
  edit.last_wall_nanos = core.clock->WallNanos();
  edit.added_tombstones = generation->SortedDeletes();
  AddLife(core, &edit);
  TSDB_RETURN_IF_ERROR(CommitEdit(core, edit, [&](Version* version) { std::erase(version->sealed, generation); }));
  core.flushed_commit.store(generation->cut.value, std::memory_order_relaxed);
  for (const chunk::ChunkFileMeta& meta : edit.added_chunk_files) {
    core.flush_bytes.fetch_add(meta.bytes, std::memory_order_relaxed);
  }
  core.registry.AdvanceAge();
  TidyUp(core, generation->cut);
  return Status::Ok();
}

Status FlushLocked(Core& core, CommitNumber replayed) TSDB_REQUIRES(core.flush_mutex) {
  VersionPtr version = core.versions.Pin();
  const CommitNumber last = core.log == nullptr ? replayed : core.log->last_assigned();
  const CommitNumber sealed_to =
      version->sealed.empty() ? CommitNumber{core.flushed_commit.load(std::memory_order_relaxed)}
                              : version->sealed.back()->cut;
  if (last > sealed_to) {
    Cut(core, replayed);
    if (core.log != nullptr) {
      core.log->RequestRoll();
    }
  }
  for (;;) {
    version = core.versions.Pin();
    if (version->sealed.empty()) {
      return Status::Ok();
    }
    TSDB_RETURN_IF_ERROR(FlushGeneration(core, version->sealed.front()));
    core.flushes.fetch_add(1, std::memory_order_relaxed);
  }
}

Status TryFlush(Core& core, CommitNumber replayed) {
  try {
    Status status;
    {
      MutexLock lock(core.flush_mutex);
      status = FlushLocked(core, replayed);
    }
    core.RefreshMemory();
    return status;
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory("no memory");
  }
}

Status FlushAndTell(Core& core, CommitNumber replayed) {
  Status status = TryFlush(core, replayed);
  if (!status.ok()) {
    core.flush_failures.fetch_add(1, std::memory_order_relaxed);
    core.LogFailure(LogLevel::kError, "flush failed, the log keeps everything", status);
  } else {
    core.merge_check.store(true);
    if (core.wake_merging) {
      core.wake_merging();
    }
  }
  MutexLock lock(core.memory_mutex);
  core.flush_error = status;
  core.memory_freed.NotifyAll();
  return status;
}

}  // namespace

Status Flush(Core& core) { return FlushAndTell(core, CommitNumber{}); }

Status FlushReplayed(Core& core, CommitNumber replayed) { return FlushAndTell(core, replayed); }

}  // namespace tsdb::engine
