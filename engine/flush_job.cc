#include "engine/flush_job.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compaction/flush.h"

namespace tsdb::engine {
namespace {

/// A sealed generation as the source of a flush.
class GenerationSource final : public compaction::SeriesSource {
 public:
  explicit GenerationSource(const Generation& generation) : series_(generation.SortedSeries()) {}

  bool Next(SeriesId* id, chunk::Columns* columns) override {
    if (next_ == series_.size() || !status_.ok()) {
      return false;
    }
    const HeadSeries& series = *series_[next_++];
    status_ = series.ReadAll(columns);
    *id = series.id();
    return status_.ok();
  }
  Status status() const override { return status_; }

 private:
  std::vector<const HeadSeries*> series_;
  std::size_t next_ = 0;
  Status status_;
};

/// One definition per id, the newest, ascending by id.
std::vector<SeriesDefinition> SortedDefinitions(const std::vector<SeriesDefinition>& in_commit_order) {
  std::vector<SeriesDefinition> sorted = in_commit_order;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  std::vector<SeriesDefinition> newest;
  for (SeriesDefinition& definition : sorted) {
    if (!newest.empty() && newest.back().id == definition.id) {
      newest.back() = std::move(definition);
    } else {
      newest.push_back(std::move(definition));
    }
  }
  return newest;
}

// Opens a new mutable generation; what was mutable is sealed with the last number given so far.
void Cut(Core& core, CommitNumber replayed) TSDB_REQUIRES(core.flush_mutex) TSDB_NO_THREAD_SAFETY_ANALYSIS {
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
  for (Stripe& stripe : core.stripes) {
    MutexLock lock(stripe.mutex);
    stripe.Drain();
  }
  core.definitions.Drain(core.registry, *core.index);
  return Status::Ok();
}

Result<std::vector<ChunkFilePtr>> OpenFiles(const Core& core, const chunk::ManifestEdit& edit) {
  std::vector<ChunkFilePtr> files;
  for (const chunk::ChunkFileMeta& meta : edit.added_chunk_files) {
    TSDB_ASSIGN_OR_RETURN(auto file, chunk::ChunkFileReader::Open(
                                         *core.fs, JoinPath(core.path, chunk::ChunkFileName(meta.number))));
    files.push_back(std::move(file));
  }
  return files;
}

// Replaces the generation by its files in the version.
void Publish(Core& core, const Generation& generation, std::vector<ChunkFilePtr> files) {
  auto version = std::make_shared<Version>(*core.versions.Pin());
  version->files.insert(version->files.end(), files.begin(), files.end());
  std::erase_if(version->sealed, [&](const auto& sealed) { return sealed.get() == &generation; });
  core.versions.Set(std::move(version));
}

Status FlushGeneration(Core& core, const std::shared_ptr<Generation>& generation) TSDB_REQUIRES(core.flush_mutex) {
  TSDB_RETURN_IF_ERROR(SettleGeneration(core, *generation));
  const std::vector<SeriesDefinition> definitions = SortedDefinitions(generation->definitions);
  GenerationSource source(*generation);
  const chunk::ManifestState& state = core.manifest->state();
  compaction::FlushInput input;
  input.database_path = core.path;
  input.store_high = core.store_id.high;
  input.store_low = core.store_id.low;
  input.first_commit = CommitNumber{state.flushed_commit.value + 1};
  input.last_commit = generation->cut;
  input.file_numbers = &core.file_numbers;
  input.samples = &source;
  input.definitions = definitions;
  TSDB_ASSIGN_OR_RETURN(chunk::ManifestEdit edit, compaction::Flush(input, *core.fs));
  edit.next_series_id = core.next_series_id.load(std::memory_order_relaxed);
  edit.last_commit = std::max(state.last_commit, generation->cut);
  if (core.log != nullptr) {
    edit.last_commit = std::max(edit.last_commit, core.log->last_assigned());
  }
  edit.last_wall_nanos = std::max(state.last_wall_nanos, core.clock->WallNanos());
  // Opened first: behind the edit nothing may fail.
  TSDB_ASSIGN_OR_RETURN(std::vector<ChunkFilePtr> files, OpenFiles(core, edit));
  TSDB_RETURN_IF_ERROR(core.manifest->Append(edit));
  core.flushed_commit.store(generation->cut.value, std::memory_order_relaxed);
  core.registry.AdvanceAge();
  Publish(core, *generation, std::move(files));
  if (Status status = core.index->Persist(generation->cut); !status.ok()) {
    // The index is a cache: what it does not hold now, the catalogue brings back at the next open.
    core.Log(LogLevel::kWarning, fmt::format("index not persisted: {}", status.ToString()));
  }
  if (core.log != nullptr) {
    if (Status status = core.log->RemoveThrough(generation->cut, false); !status.ok()) {
      core.Log(LogLevel::kWarning, fmt::format("log segments not removed: {}", status.ToString()));
    }
  }
  return Status::Ok();
}

Status FlushLocked(Core& core, CommitNumber replayed) TSDB_REQUIRES(core.flush_mutex) {
  VersionPtr version = core.versions.Pin();
  const CommitNumber last = core.log == nullptr ? replayed : core.log->last_assigned();
  const CommitNumber sealed_to =
      version->sealed.empty() ? core.manifest->state().flushed_commit : version->sealed.back()->cut;
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

Status FlushAndTell(Core& core, CommitNumber replayed) {
  Status status;
  {
    MutexLock lock(core.flush_mutex);
    status = FlushLocked(core, replayed);
  }
  core.RefreshMemory();
  if (!status.ok()) {
    core.flush_failures.fetch_add(1, std::memory_order_relaxed);
    core.Log(LogLevel::kError, fmt::format("flush failed, the log keeps everything: {}", status.ToString()));
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
