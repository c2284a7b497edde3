#include "engine/follower.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "chunk/catalogue_file.h"
#include "engine/follow_log.h"
#include "engine/lost_edits.h"
#include "engine/open_index.h"
#include "engine/retention.h"

namespace tsdb::engine {
namespace {

constexpr int kAttemptsMax = 40;
constexpr int kIndexAttemptsMax = 4;

/// Between attempts: a writer that flushes without a pause needs a moment, not a second.
void Pause(int attempt) {
  std::this_thread::sleep_for(std::chrono::milliseconds(std::min(attempt, 20)));
}

bool IsDamage(const Status& status) {
  return status.code() == StatusCode::kCorruption || status.code() == StatusCode::kNotFound;
}

}  // namespace

Result<std::unique_ptr<Follower>> Follower::Open(const std::string& path, const ReadOnlyOptions& options,
                                                 const Environment& environment) {
  const std::int64_t start_nanos = environment.clock->MonotonicNanos();
  std::unique_ptr<Follower> follower(new Follower(options.lazy_head));
  follower->open_index_ = environment.open_index_read_only;
  Core& core = follower->core_;
  core.fs = environment.fs;
  core.clock = environment.clock;
  core.path = path;
  core.options.log = options.log;
  TSDB_RETURN_IF_ERROR(follower->Refresh());
  core.recovery.seconds = static_cast<double>(core.clock->MonotonicNanos() - start_nanos) * 1e-9;
  follower->opened_ = true;
  return follower;
}

Status Follower::Follow(const Selector* selector) {
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    if (attempt > 0) {
      Pause(attempt);
    }
    TSDB_ASSIGN_OR_RETURN(const chunk::ManifestState state, chunk::Manifest::Load(*core_.fs, core_.path));
    TSDB_ASSIGN_OR_RETURN(const Outcome outcome, TryFollow(state, selector));
    if (outcome == Outcome::kDone) {
      return Status::Ok();
    }
  }
  return Status::Busy(fmt::format("{}: its files changed {} times while they were read: try again", core_.path,
                                  kAttemptsMax));
}

Result<Follower::Outcome> Follower::TryFollow(const chunk::ManifestState& state, const Selector* selector) {
  const wal::StoreId store{state.store_high, state.store_low};
  if (core_.index != nullptr && !(store == core_.store_id)) {
    return Status::Corruption(fmt::format("{}: another database stands here than was opened: open it again",
                                          core_.path));
  }
  if (core_.index == nullptr) {
    core_.store_id = store;
    core_.settings = state.settings;
  }
  TSDB_ASSIGN_OR_RETURN(const bool same_log, IsLogTheSame(state));
  if (core_.index == nullptr || !same_log) {
    TSDB_RETURN_IF_ERROR(TakeRetention(state, &core_.retention));
    core_.dropped.Set(state.drops);
  } else {
    // What the log said since stays; only files may have gone meanwhile.
    core_.retention.RaiseFloor(state.retention.floor);
    core_.retention.RaiseBytesFloor(state.retention.bytes_floor);
  }
  Version version;
  version.tombstones = std::make_shared<const chunk::TombstoneSet>(state.tombstones);
  TSDB_ASSIGN_OR_RETURN(Outcome outcome, OpenFiles(state, &version));
  if (outcome == Outcome::kDone && core_.index == nullptr) {
    TSDB_ASSIGN_OR_RETURN(outcome, OpenIndex(state));
  }
  if (outcome == Outcome::kDone) {
    TSDB_ASSIGN_OR_RETURN(outcome, ReadCatalogue(state));
  }
  if (outcome == Outcome::kDone) {
    TSDB_ASSIGN_OR_RETURN(outcome, FollowLog(state, selector, same_log && head_is_whole_, std::move(version)));
  }
  return outcome;
}

Result<Follower::Outcome> Follower::OpenFiles(const chunk::ManifestState& state, Version* version) {
  std::map<std::uint64_t, ChunkFilePtr> open;
  if (const VersionPtr current = core_.versions.Pin()) {
    for (const ChunkFilePtr& file : current->files) {
      open.emplace(file->meta().number, file);
    }
  }
  for (const chunk::ChunkFileMeta& meta : state.chunk_files) {
    core_.retention.RaiseNewest(meta.last_time);
    if (const auto found = open.find(meta.number); found != open.end()) {
      version->files.push_back(found->second);
      continue;
    }
    const std::string path = JoinPath(core_.path, chunk::ChunkFileName(meta.number));
    auto file = chunk::ChunkFileReader::Open(*core_.fs, path);
    if (file.ok() && ((*file)->options().store_high != state.store_high ||
                      (*file)->options().store_low != state.store_low)) {
      file = Status::Corruption(path + ": belongs to another database");
    }
    if (file.ok()) {
      version->files.push_back(std::move(*file));
      continue;
    }
    if (!IsDamage(file.status())) {
      return file.status();
    }
    TSDB_ASSIGN_OR_RETURN(const bool moved, MovedOn(state));
    if (moved) {
      return Outcome::kAgain;
    }
    ++version->files_skipped;
    version->samples_skipped += meta.samples;
    Note(fmt::format("{}: {} samples are missing until it is restored", file.status().ToString(), meta.samples));
  }
  if (!opened_) {
    // Beside a writer there are files of jobs that run, but what they hold is in the log as well.
    TSDB_ASSIGN_OR_RETURN(const auto signs, FindLostEdits(*core_.fs, core_.path, state));
    TSDB_ASSIGN_OR_RETURN(const bool moved, signs.empty() ? Result<bool>(false) : MovedOn(state));
    if (moved) {
      return Outcome::kAgain;
    }
    TSDB_ASSIGN_OR_RETURN(const std::string manifest, chunk::Manifest::CurrentPath(*core_.fs, core_.path));
    for (const std::string& sign : signs) {
      Note(fmt::format("{}: the manifest lost edits at its end, this is an earlier state: {}: run 'tsdb-cli repair'",
                       manifest, sign));
    }
  }
  SortFiles(version);
  return Outcome::kDone;
}

Result<Follower::Outcome> Follower::OpenIndex(const chunk::ManifestState& state) {
  index::IndexOptions options;
  options.store_high = state.store_high;
  options.store_low = state.store_low;
  options.known_commit = state.flushed_commit;
  options.log = core_.options.log;
  for (int attempt = 0; open_index_ && attempt < kIndexAttemptsMax; ++attempt) {
    auto index = open_index_(JoinPath(core_.path, "index"), options);
    if (index.ok()) {
      applied_ = catalogue_applied_ = (*index)->applied_commit();
      const auto instead = []() -> Result<std::unique_ptr<index::SeriesIndex>> { return index::NewOverlayIndex(); };
      core_.index = MakeSelfHealing(std::move(*index), *core_.fs, core_.path, instead, options.log);
      return Outcome::kDone;
    }
    if (index.status().code() == StatusCode::kNotFound) {
      break;
    }
    if (index.status().code() == StatusCode::kOutOfRange) {
      TSDB_ASSIGN_OR_RETURN(const bool moved, MovedOn(state));
      if (moved) {
        return Outcome::kAgain;
      }
    }
    Pause(attempt);
  }
  // All definitions are read from the catalogue files instead.
  core_.index = index::NewOverlayIndex();
  return Outcome::kDone;
}

void Follower::TakeDefinition(const SeriesDefinition& definition) {
  if (definition.commit > applied_) {
    core_.index->Apply(definition);
  }
}

Result<Follower::Outcome> Follower::ReadCatalogue(const chunk::ManifestState& state) {
  for (const chunk::CatalogueMeta& meta : state.catalogue_files) {
    if (meta.last_commit <= catalogue_applied_) {
      continue;
    }
    const Status status = chunk::ReadCatalogueFile(*core_.fs,
                                                   JoinPath(core_.path, chunk::CatalogueFileName(meta.number)),
                                                   state.store_high, state.store_low,
                                                   [&](const SeriesDefinition& definition) {
                                                     if (definition.commit > catalogue_applied_) {
                                                       TakeDefinition(definition);
                                                       if (logged_.contains(definition.id.value)) {
                                                         seen_in_catalogue_[definition.id.value] = definition.commit;
                                                       }
                                                     }
                                                     return Status::Ok();
                                                   });
    if (!status.ok() && !IsDamage(status)) {
      return status;
    }
    if (!status.ok()) {
      TSDB_ASSIGN_OR_RETURN(const bool moved, MovedOn(state));
      if (moved) {
        return Outcome::kAgain;
      }
      Note(fmt::format("{}: series defined only there are missing", status.ToString()));
      logged_.clear();  // what the log told of them is all there is: none of it is taken for void
    }
  }
  return Outcome::kDone;
}

Result<bool> Follower::MovedOn(const chunk::ManifestState& state) const {
  TSDB_ASSIGN_OR_RETURN(const chunk::ManifestState now, chunk::Manifest::Load(*core_.fs, core_.path));
  return now.flushed_commit != state.flushed_commit || now.chunk_files != state.chunk_files ||
         now.catalogue_files != state.catalogue_files;
}

void Follower::Note(const std::string& note) {
  if (!notes_.insert(note).second) {
    return;
  }
  if (!opened_) {
    core_.recovery.notes.push_back(note);
  } else {
    core_.Log(LogLevel::kWarning, note);
  }
}

}  // namespace tsdb::engine
