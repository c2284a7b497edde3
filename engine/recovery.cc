#include "engine/recovery.h"

#include <algorithm>
#include <bit>
#include <new>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "compaction/orphans.h"
#include "engine/flush_job.h"
#include "engine/lost_edits.h"
#include "engine/merge_hold.h"
#include "engine/open_index.h"
#include "engine/publish.h"
#include "engine/retention.h"
#include "wal/replay.h"

namespace tsdb::engine {
namespace {

constexpr std::string_view kOwnNames[] = {"LOCK",      "CURRENT", "CURRENT.tmp", "manifest", "chunks",
                                          "catalogue", "wal",     "index",       "evidence", "quarantine",
                                          kMergeHoldName};

std::uint64_t RandomWord() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

/// kNotFound, or OK when `path` may become a database: missing, empty, or a creation that was cut short.
Status CheckMayCreate(FileSystem& fs, const std::string& path, const OpenOptions& options) {
  if (!options.create_if_missing) {
    return Status::NotFound(fmt::format("no database at {}: create it first", path));
  }
  TSDB_ASSIGN_OR_RETURN(const bool exists, fs.Exists(path));
  if (!exists) {
    return Status::Ok();
  }
  TSDB_ASSIGN_OR_RETURN(const auto entries, fs.List(path));
  for (const DirectoryEntry& entry : entries) {
    if (std::find(std::begin(kOwnNames), std::end(kOwnNames), entry.name) == std::end(kOwnNames)) {
      return Status::InvalidArgument(
          fmt::format("{} holds {} and is no database: choose an empty directory", path, entry.name));
    }
  }
  // CURRENT is there before any of these: a database without it has lost it, and must not be written over.
  for (const char* folder : {"chunks", "catalogue", "wal"}) {
    const auto files = fs.List(JoinPath(path, folder));
    if (!files.ok() && files.status().code() != StatusCode::kNotFound) {
      return files.status();
    }
    if (files.ok() && !files->empty()) {
      return Status::Corruption(fmt::format("{}: missing, but {} holds {}: restore it, or choose an empty directory",
                                            JoinPath(path, "CURRENT"), JoinPath(path, folder), (*files)[0].name));
    }
  }
  return Status::Ok();
}

/// What is held of samples without a series before it is written.
constexpr std::size_t kEvidenceBytes = 4 << 20;

/// Puts replayed effects into the head. Samples whose series was defined only in damaged bytes go to files, so that
/// nothing is lost without a trace.
class ReplayIntoHead final : public wal::ReplayVisitor {
 public:
  explicit ReplayIntoHead(Core& core) : core_(core) {}

  Status OnCommit(CommitNumber commit, std::int64_t /*wall_nanos*/) override {
    const bool flush = core_.HeadBytes() >= core_.FlushThreshold();
    // Before the flush: behind it the log is not read for them again.
    if (flush || evidence_.size() >= kEvidenceBytes) {
      TSDB_RETURN_IF_ERROR(KeepEvidence());
    }
    if (flush) {
      TSDB_RETURN_IF_ERROR(SyncLogOnce());
      TSDB_RETURN_IF_ERROR(FlushReplayed(core_, last_));
      generation_ = nullptr;
    }
    last_ = commit;
    ++core_.recovery.commits;
    return Status::Ok();
  }

  Status OnDefinition(const SeriesDefinition& definition) override {
    core_.registry.Replace(definition);
    core_.index->Apply(definition);
    core_.dropped.Remove(definition.id);
    core_.retention.NoteSettings(definition.id, definition.settings);
    generation().AddDefinition(definition);
    if (HeadSeries* series = generation().Find(definition.id)) {
      series->SetSettings(core_.PolicyOf(definition.settings), Core::IsJudged(definition.settings));
      series->set_dropped(false);
    }
    // At once: a flush during replay writes it into the manifest.
    const std::uint64_t next = std::max(core_.next_series_id.load(std::memory_order_relaxed), definition.id.value + 1);
    core_.next_series_id.store(next, std::memory_order_relaxed);
    return Status::Ok();
  }

  Status OnPuts(std::span<const wal::Put> puts) override {
    series_.clear();
    std::size_t begin = 0;  // puts[begin, i) wait for being applied together
    for (std::size_t i = 0; i < puts.size(); ++i) {
      HeadSeries* series = generation().Find(puts[i].id);
      if (series == nullptr) {
        TSDB_ASSIGN_OR_RETURN(series, Create(puts[i].id));
      }
      if (series == nullptr) {
        evidence_ += fmt::format("{},{},{:016x}\n", puts[i].id.value, puts[i].time,
                                 std::bit_cast<std::uint64_t>(puts[i].value));
        ++core_.recovery.samples_orphaned;
        ApplyWaiting(puts, &begin, i);
        begin = i + 1;
        continue;
      }
      series_.push_back(series);
    }
    ApplyWaiting(puts, &begin, puts.size());
    return Status::Ok();
  }

  Status OnDelete(const wal::DeleteOperation& operation) override {
    auto tombstone = std::make_shared<chunk::Tombstone>();
    tombstone->commit = last_;
    tombstone->range = operation.range;
    tombstone->ids = operation.ids;
    for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
      generation().ApplyDelete(stripe, tombstone);
    }
    return Status::Ok();
  }

  Status OnDrop(const wal::DropOperation& operation) override {
    chunk::Drop drop;
    drop.commit = last_;
    drop.until_wall_nanos = operation.until_wall_nanos;
    drop.ids = operation.ids;
    drop.ids.ForEach([&](std::uint64_t id) {
      SeriesDefinition end;
      end.id = SeriesId{id};
      end.commit = last_;
      end.dropped = true;
      core_.index->Apply(end);
      if (const RegistryEntryPtr entry = core_.registry.FindById(end.id)) {
        core_.registry.Remove(entry);
      }
      if (HeadSeries* series = generation().Find(end.id)) {
        series->set_dropped(true);
      }
    });
    generation().drops.push_back(drop);
    core_.retention.ForgetOwn(drop.ids);
    core_.dropped.End(drop.ids, &drop);
    return Status::Ok();
  }

  Status OnFloor(const wal::FloorOperation& operation) override {
    core_.retention.RaiseFloor(operation.floor);
    return Status::Ok();
  }

  Status OnSettings(const wal::SettingsOperation& operation) override {
    return ApplySettings(operation, &core_.retention);
  }

  /// Writes what was collected since the last call, into a file named after the last commit in it.
  Status KeepEvidence() {
    if (evidence_.empty()) {
      return Status::Ok();
    }
    const std::string directory = JoinPath(core_.path, "evidence");
    const std::string path = JoinPath(directory, fmt::format("orphans-{}.csv", last_.value));
    TSDB_RETURN_IF_ERROR(core_.fs->CreateDirectories(directory));
    TSDB_RETURN_IF_ERROR(core_.fs->SyncDirectory(core_.path));
    TSDB_RETURN_IF_ERROR(WriteFileAtomically(*core_.fs, path, "series_id,time,value_bits\n" + evidence_));
    core_.recovery.notes.push_back(fmt::format("{}: {} samples whose series definition was damaged", path,
                                               core_.recovery.samples_orphaned - samples_kept_));
    samples_kept_ = core_.recovery.samples_orphaned;
    evidence_.clear();
    return Status::Ok();
  }

 private:
  Generation& generation() {
    if (generation_ == nullptr) {
      generation_ = core_.versions.Pin()->mutable_generation.get();
    }
    return *generation_;
  }

  /// No file may hold commits that a power cut could still take from the log: a file without its edit would then look
  /// like one whose edit was lost.
  Status SyncLogOnce() {
    if (log_synced_) {
      return Status::Ok();
    }
    const std::string folder = JoinPath(core_.path, "wal");
    TSDB_ASSIGN_OR_RETURN(const auto entries, core_.fs->List(folder));
    for (const DirectoryEntry& entry : entries) {
      if (!entry.is_directory && entry.name.ends_with(".log")) {
        TSDB_ASSIGN_OR_RETURN(const auto file,
                              core_.fs->OpenWritable(JoinPath(folder, entry.name), OpenMode::kAppend));
        TSDB_RETURN_IF_ERROR(file->Sync());
      }
    }
    TSDB_RETURN_IF_ERROR(core_.fs->SyncDirectory(folder));
    log_synced_ = true;
    return Status::Ok();
  }

  void ApplyWaiting(std::span<const wal::Put> puts, std::size_t* begin, std::size_t end) {
    if (ApplyPuts(&generation(), puts.data() + *begin, series_.data(), end - *begin) != end - *begin) {
      throw std::bad_alloc();  // ends the open; nothing is lost with it
    }
    for (std::size_t i = *begin; i < end; ++i) {
      core_.retention.RaiseNewest(puts[i].time);
    }
    core_.recovery.samples += end - *begin;
    *begin = end;
    series_.clear();
  }

  Result<HeadSeries*> Create(SeriesId id) {
    RegistryEntryPtr entry = core_.registry.FindById(id);
    if (entry == nullptr) {
      TSDB_ASSIGN_OR_RETURN(const auto found, core_.index->FindByIds({&id, 1}));
      if (!found[0]) {
        return nullptr;
      }
      entry = core_.registry.Insert(*found[0], RegistryEntry::State::kLive);
    }
    return generation().Create(id, core_.PolicyOf(entry->settings), Core::IsJudged(entry->settings));
  }

  Core& core_;
  Generation* generation_ = nullptr;
  CommitNumber last_;
  std::vector<HeadSeries*> series_;
  std::string evidence_;
  std::uint64_t samples_kept_ = 0;  // of the orphaned ones, in evidence files
  bool log_synced_ = false;
};

// Chunk files named by the manifest. One that is damaged or gone is reported and left out; the rest serves.
Status OpenChunkFiles(Core& core, const chunk::ManifestState& state, Version* version) {
  for (const chunk::ChunkFileMeta& meta : state.chunk_files) {
    auto file = OpenChunkFile(core, meta.number);
    if (file.ok()) {
      version->files.push_back(std::move(*file));
      continue;
    }
    if (file.status().code() != StatusCode::kCorruption && file.status().code() != StatusCode::kNotFound) {
      return file.status();
    }
    ++version->files_skipped;
    version->samples_skipped += meta.samples;
    core.recovery.notes.push_back(fmt::format("{}: {} samples are missing until it is restored",
                                              file.status().ToString(), meta.samples));
  }
  SortFiles(version);
  version->tombstones = std::make_shared<const chunk::TombstoneSet>(state.tombstones);
  for (const chunk::ChunkFileMeta& meta : state.chunk_files) {
    core.retention.RaiseNewest(meta.last_time);
  }
  return Status::Ok();
}

// Feeds the index what catalogue files know and it does not.
Status CatchUpIndex(Core& core, const chunk::ManifestState& state) {
  const CommitNumber applied = core.index->applied_commit();
  bool behind = false;
  for (const chunk::CatalogueMeta& meta : state.catalogue_files) {
    if (meta.last_commit <= applied) {
      continue;
    }
    behind = true;
    const std::string path = JoinPath(core.path, chunk::CatalogueFileName(meta.number));
    const Status status = chunk::ReadCatalogueFile(*core.fs, path, core.store_id.high, core.store_id.low,
                                                   [&](const SeriesDefinition& definition) {
                                                     if (definition.commit > applied) {
                                                       core.index->Apply(definition);
                                                     }
                                                     return Status::Ok();
                                                   });
    if (status.code() == StatusCode::kCorruption || status.code() == StatusCode::kNotFound) {
      core.recovery.notes.push_back(fmt::format("{}: series defined only there are missing", status.ToString()));
    } else {
      TSDB_RETURN_IF_ERROR(status);
    }
  }
  return behind || applied < state.flushed_commit ? core.index->Persist(state.flushed_commit) : Status::Ok();
}

Status OpenIndex(Core& core, const Environment& environment, const chunk::ManifestState& state) {
  index::IndexOptions options;
  options.store_high = core.store_id.high;
  options.store_low = core.store_id.low;
  options.known_commit = state.flushed_commit;
  options.log = core.options.log;
  bool rebuilt = false;
  const std::string directory = JoinPath(core.path, "index");
  TSDB_ASSIGN_OR_RETURN(auto index, environment.open_index(directory, options, &rebuilt));
  const auto reopen = [directory, options,
                       open = environment.open_index]() -> Result<std::unique_ptr<index::SeriesIndex>> {
    TSDB_RETURN_IF_ERROR(PosixFileSystem().RemoveAll(directory));  // RocksDB's folder is always the system's
    bool again = false;
    return open(directory, options, &again);
  };
  core.index = MakeSelfHealing(std::move(index), *core.fs, core.path, reopen, options.log);
  core.recovery.index_rebuilt = rebuilt;
  return CatchUpIndex(core, state);
}

Status ReplayLog(Core& core, const chunk::ManifestState& state, wal::ReplayReport* report) {
  wal::ReplayOptions options;
  options.store_id = core.store_id;
  options.after = state.flushed_commit;
  options.synced = state.flushed_commit;
  ReplayIntoHead visitor(core);
  TSDB_ASSIGN_OR_RETURN(*report, wal::Replay(*core.fs, JoinPath(core.path, "wal"), options, visitor));
  core.recovery.segments = report->segments;
  core.recovery.commits_skipped = report->commits_skipped;
  core.recovery.bytes_dropped = report->bytes_dropped;
  for (const wal::LogDamage& damage : report->damage) {
    core.recovery.notes.push_back(fmt::format("{}@{}: {} bytes {}: {}", damage.path, damage.offset, damage.bytes,
                                              damage.tail ? "cut off at the end of the log" : "skipped",
                                              damage.reason));
  }
  return visitor.KeepEvidence();
}

Status OpenLog(Core& core, const chunk::ManifestState& state, const wal::ReplayReport& report) {
  wal::LogOptions options;
  options.store_id = core.store_id;
  options.sync_interval_ms = core.options.background ? core.options.sync_interval_ms : 0;
  options.last_commit = std::max({state.last_commit, report.last_commit, state.flushed_commit});
  options.last_valid_commit = std::max(report.last_valid_commit, state.flushed_commit);
  options.last_segment = std::max(state.last_segment, report.last_segment);
  options.last_wall_nanos = std::max(state.last_wall_nanos, report.last_wall_nanos);
  options.on_state_change = [&core](const Status& status) {
    if (status.ok()) {
      core.Log(LogLevel::kInfo, "writing works again");
    } else {
      core.LogFailure(LogLevel::kError, "writing fails", status);
    }
  };
  TSDB_ASSIGN_OR_RETURN(core.log,
                        wal::Log::Open(*core.fs, *core.clock, JoinPath(core.path, "wal"), std::move(options)));
  return Status::Ok();
}

// Files no manifest names are removed as leftovers, so it must be certain that they are. Before the manifest is opened,
// which may write it anew.
Status CheckManifestIsNewest(FileSystem& fs, const std::string& path) {
  TSDB_ASSIGN_OR_RETURN(const chunk::ManifestState state, chunk::Manifest::Load(fs, path));
  TSDB_ASSIGN_OR_RETURN(const auto signs, FindLostEdits(fs, path, state));
  if (signs.empty()) {
    return Status::Ok();
  }
  TSDB_ASSIGN_OR_RETURN(const std::string manifest, chunk::Manifest::CurrentPath(fs, path));
  return Status::Corruption(
      fmt::format("{}: the manifest lost edits at its end: {}: run 'tsdb-cli repair'", manifest, signs.front()));
}

Status OpenManifest(Core& core) {
  MutexLock lock(core.manifest_mutex);
  TSDB_ASSIGN_OR_RETURN(const bool exists, core.fs->Exists(JoinPath(core.path, "CURRENT")));
  if (exists) {
    if (core.options.error_if_exists) {
      return Status::AlreadyExists(fmt::format("there is a database at {}", core.path));
    }
    TSDB_RETURN_IF_ERROR(CheckManifestIsNewest(*core.fs, core.path));
    TSDB_ASSIGN_OR_RETURN(core.manifest, chunk::Manifest::Open(*core.fs, core.path, &core.recovery.notes));
    return Status::Ok();
  }
  TSDB_RETURN_IF_ERROR(CheckMayCreate(*core.fs, core.path, core.options));
  TSDB_RETURN_IF_ERROR(CheckSettings(core.options.create));
  chunk::ManifestState initial;
  initial.store_high = RandomWord();
  initial.store_low = RandomWord();
  initial.settings = core.options.create;
  initial.last_wall_nanos = core.clock->WallNanos();
  TSDB_ASSIGN_OR_RETURN(core.manifest, chunk::Manifest::Create(*core.fs, core.path, initial));
  return Status::Ok();
}

}  // namespace

Status CheckSettings(const CreateOptions& settings) {
  if (settings.retention < 0) {
    return Status::InvalidArgument("the retention of a database is 0 or more");
  }
  return Status::Ok();
}

Result<std::unique_ptr<Core>> Recover(const std::string& path, const OpenOptions& options,
                                      const Environment& environment) {
  const std::int64_t start_nanos = environment.clock->MonotonicNanos();
  auto core = std::make_unique<Core>();
  core->fs = environment.fs;
  core->clock = environment.clock;
  core->path = path;
  core->options = options;
  TSDB_ASSIGN_OR_RETURN(const bool exists, core->fs->Exists(JoinPath(path, "CURRENT")));
  if (!exists) {
    TSDB_RETURN_IF_ERROR(CheckMayCreate(*core->fs, path, options));
    TSDB_RETURN_IF_ERROR(core->fs->CreateDirectories(path));
    TSDB_RETURN_IF_ERROR(core->fs->SyncDirectory(ParentPath(path)));
  }
  TSDB_ASSIGN_OR_RETURN(core->lock, core->fs->Lock(JoinPath(path, "LOCK")));
  TSDB_RETURN_IF_ERROR(OpenManifest(*core));
  chunk::ManifestState state;
  {
    MutexLock lock(core->manifest_mutex);
    state = core->manifest->state();
  }
  core->settings = state.settings;
  TSDB_RETURN_IF_ERROR(TakeRetention(state, &core->retention));
  core->dropped.Set(state.drops);
  core->store_id = {state.store_high, state.store_low};
  core->next_series_id.store(state.next_series_id, std::memory_order_relaxed);
  core->flushed_commit.store(state.flushed_commit.value, std::memory_order_relaxed);
  core->file_numbers.RaiseTo(state.next_file_number);
  core->last_cut_nanos.store(start_nanos, std::memory_order_relaxed);
  TSDB_ASSIGN_OR_RETURN(core->recovery.files_removed,
                        compaction::RemoveOrphans(*core->fs, path, state, &core->recovery.notes));
  auto version = std::make_shared<Version>();
  version->mutable_generation = std::make_shared<Generation>(1);
  TSDB_RETURN_IF_ERROR(OpenChunkFiles(*core, state, version.get()));
  for (Stripe& stripe : core->stripes) {
    MutexLock lock(stripe.mutex);
    stripe.generation = version->mutable_generation.get();
    stripe.sink = &core->subscriptions;
  }
  core->versions.Set(std::move(version));
  TSDB_RETURN_IF_ERROR(OpenIndex(*core, environment, state));
  wal::ReplayReport report;
  TSDB_RETURN_IF_ERROR(ReplayLog(*core, state, &report));
  {
    MutexLock lock(core->manifest_mutex);
    state = core->manifest->state();  // replay may have flushed
  }
  TSDB_RETURN_IF_ERROR(OpenLog(*core, state, report));
  core->recovery.seconds = static_cast<double>(core->clock->MonotonicNanos() - start_nanos) * 1e-9;
  return core;
}

}  // namespace tsdb::engine
