#include "engine/repair.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "chunk/catalogue_file.h"
#include "engine/lost_edits.h"
#include "engine/open.h"
#include "engine/repair_files.h"
#include "wal/replay.h"

namespace tsdb {

Result<RepairReport> Repair(const std::string& path, const RepairOptions& options) {
  return engine::RepairDatabase(path, options, engine::SystemEnvironment());
}

}  // namespace tsdb

namespace tsdb::engine {
namespace {

constexpr std::string_view kQuarantine = "quarantine";

bool IsDamage(const Status& status) {
  return status.code() == StatusCode::kCorruption || status.code() == StatusCode::kNotFound;
}

class NoVisitor final : public wal::ReplayVisitor {
 public:
  bool wants_puts() const override { return false; }
  Status OnCommit(CommitNumber, std::int64_t) override { return Status::Ok(); }
  Status OnPuts(std::span<const wal::Put>) override { return Status::Ok(); }
  Status OnDefinition(const SeriesDefinition&) override { return Status::Ok(); }
};

class Repairer {
 public:
  Repairer(std::string path, const RepairOptions& options, const Environment& environment)
      : fs_(*environment.fs), path_(std::move(path)), options_(options), environment_(environment) {}

  Result<RepairReport> Run() {
    TSDB_RETURN_IF_ERROR(CheckIsDatabase());
    {
      TSDB_ASSIGN_OR_RETURN(const auto lock, fs_.Lock(JoinPath(path_, "LOCK")));
      TSDB_RETURN_IF_ERROR(ReadManifest());
      TSDB_RETURN_IF_ERROR(NumberFiles());
      TSDB_RETURN_IF_ERROR(AdoptUnnamed());
      TSDB_RETURN_IF_ERROR(RepairChunkFiles());
      TSDB_RETURN_IF_ERROR(RepairCatalogue());
      TSDB_RETURN_IF_ERROR(CopyDamagedSegments());
      TSDB_RETURN_IF_ERROR(SetIndexAside());
      TSDB_RETURN_IF_ERROR(WriteManifest());
    }
    TSDB_RETURN_IF_ERROR(OpenAndClose());
    return std::move(report_);
  }

 private:
  Status CheckIsDatabase() {
    for (const std::string_view name : {"CURRENT", "manifest", "chunks", "wal"}) {
      TSDB_ASSIGN_OR_RETURN(const bool exists, fs_.Exists(JoinPath(path_, name)));
      if (exists) {
        return Status::Ok();
      }
    }
    return Status::NotFound(fmt::format("no database at {}", path_));
  }

  void Tell(std::string action) { report_.actions.push_back(std::move(action)); }

  /// A name in quarantine/ that is free.
  Result<std::string> QuarantineName(std::string name) {
    std::replace(name.begin(), name.end(), '/', '-');
    const std::string folder = JoinPath(path_, kQuarantine);
    TSDB_RETURN_IF_ERROR(fs_.CreateDirectories(folder));
    std::string target = JoinPath(folder, name);
    for (int i = 2;; ++i) {
      TSDB_ASSIGN_OR_RETURN(const bool taken, fs_.Exists(target));
      if (!taken) {
        return target;
      }
      target = JoinPath(folder, fmt::format("{}.{}", name, i));
    }
  }

  /// Moves a file (or the index folder) aside; one that is not there is no matter.
  Status MoveAside(const std::string& name, std::string_view why) {
    const std::string from = JoinPath(path_, name);
    TSDB_ASSIGN_OR_RETURN(const bool exists, fs_.Exists(from));
    if (!exists) {
      return Status::Ok();
    }
    Tell(fmt::format("{}: {}; moved to {}/", name, why, kQuarantine));
    ++report_.files_set_aside;
    if (options_.dry_run) {
      return Status::Ok();
    }
    TSDB_ASSIGN_OR_RETURN(const std::string to, QuarantineName(name));
    TSDB_RETURN_IF_ERROR(fs_.Rename(from, to));
    TSDB_RETURN_IF_ERROR(fs_.SyncDirectory(ParentPath(to)));
    return fs_.SyncDirectory(ParentPath(from));
  }

  Status CopyAside(const std::string& name, std::string_view why) {
    Tell(fmt::format("{}: {}; copied to {}/", name, why, kQuarantine));
    ++report_.files_set_aside;
    if (options_.dry_run) {
      return Status::Ok();
    }
    TSDB_ASSIGN_OR_RETURN(const std::string to, QuarantineName(name));
    TSDB_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(fs_, JoinPath(path_, name)));
    return WriteFileAtomically(fs_, to, bytes);
  }

  // What the manifest says, or as much of the newest one as is whole, or what the files themselves say.
  Status ReadManifest() {
    auto loaded = chunk::Manifest::Load(fs_, path_);
    if (loaded.ok()) {
      state_ = *std::move(loaded);
      return Status::Ok();
    }
    if (!IsDamage(loaded.status())) {
      return loaded.status();
    }
    rebuilt_ = true;
    Tell(loaded.status().ToString());
    std::vector<std::string> names;
    if (auto entries = fs_.List(JoinPath(path_, "manifest")); entries.ok()) {
      for (const DirectoryEntry& entry : *entries) {
        names.push_back(JoinPath("manifest", entry.name));
      }
    }
    std::sort(names.rbegin(), names.rend());
    bool found = false;
    for (const std::string& name : names) {
      TSDB_ASSIGN_OR_RETURN(const auto state, ReadManifestPrefix(fs_, JoinPath(path_, name)));
      if (state && !found) {
        state_ = *state;
        found = true;
        Tell(fmt::format("{}: taken as far as it is whole: commits to {}", name, state_.flushed_commit.value));
      }
      old_manifests_.push_back(name);
    }
    return found ? Status::Ok() : BuildState();
  }

  // No manifest is left: the store's id is in every file; what it was created with is lost.
  Status BuildState() {
    TSDB_ASSIGN_OR_RETURN(const auto store, FindStoreId(fs_, path_));
    if (!store) {
      return Status::Corruption(fmt::format("{}: no file is left that says which database this was", path_));
    }
    state_.store_high = store->high;
    state_.store_low = store->low;
    state_.last_wall_nanos = environment_.clock->WallNanos();
    Tell(fmt::format("the settings of the database are lost: taken are unit {}, durability {}, duplicates {}; times "
                     "mean something else when the unit was another",
                     TimeUnitName(state_.settings.unit), DurabilityName(state_.settings.durability),
                     DuplicatePolicyName(state_.settings.duplicates)));
    return Status::Ok();
  }

  // New files get numbers above all that were ever given.
  Status NumberFiles() {
    for (const std::string_view folder : {"chunks", "catalogue"}) {
      TSDB_RETURN_IF_ERROR(fs_.CreateDirectories(JoinPath(path_, folder)));
      TSDB_ASSIGN_OR_RETURN(const auto entries, fs_.List(JoinPath(path_, folder)));
      for (const DirectoryEntry& entry : entries) {
        const std::uint64_t number = std::strtoull(entry.name.c_str(), nullptr, 10);
        if (number < UINT64_MAX) {
          state_.next_file_number = std::max(state_.next_file_number, number + 1);
        }
      }
    }
    return Status::Ok();
  }

  // Files the manifest would name, had it not lost its end.
  Status AdoptUnnamed() {
    if (!rebuilt_) {
      TSDB_ASSIGN_OR_RETURN(const auto signs, FindLostEdits(fs_, path_, state_));
      for (const std::string& sign : signs) {
        Tell(fmt::format("the manifest lost edits at its end: {}", sign));
      }
      if (signs.empty()) {
        return SetLeftoversAside();
      }
    }
    // No other file has them, once their part of the log is gone.
    Tell("deletes, drops and retention that stood only in what the manifest lost are not known any more: what they "
         "took can be there again; look through the series and delete again what should not be");
    TSDB_ASSIGN_OR_RETURN(const UnnamedFiles unnamed, FindUnnamedFiles(fs_, path_, state_));
    for (const chunk::ChunkFileMeta& meta : unnamed.chunk_files) {
      Tell(fmt::format("{}: taken into the manifest: {} samples, commits {} to {}", chunk::ChunkFileName(meta.number),
                       meta.samples, meta.first_commit.value, meta.last_commit.value));
      state_.chunk_files.push_back(meta);
      state_.last_commit = std::max(state_.last_commit, meta.last_commit);
      changed_ = true;
    }
    for (const chunk::CatalogueMeta& meta : unnamed.catalogue_files) {
      Tell(fmt::format("{}: taken into the manifest: {} series", chunk::CatalogueFileName(meta.number),
                       meta.definitions));
      state_.catalogue_files.push_back(meta);
      state_.last_commit = std::max(state_.last_commit, meta.last_commit);
      changed_ = true;
    }
    // Damaged ones are looked at with those the manifest names.
    for (const std::uint64_t number : unnamed.damaged_chunk_files) {
      state_.chunk_files.emplace_back().number = number;
    }
    for (const std::uint64_t number : unnamed.damaged_catalogue_files) {
      state_.catalogue_files.emplace_back().number = number;
    }
    return Status::Ok();
  }

  // Files of jobs that did not come to their end. An opening removes them.
  Status SetLeftoversAside() {
    TSDB_ASSIGN_OR_RETURN(const UnnamedFiles unnamed, FindUnnamedFiles(fs_, path_, state_));
    std::vector<std::string> names;
    for (const chunk::ChunkFileMeta& meta : unnamed.chunk_files) {
      names.push_back(chunk::ChunkFileName(meta.number));
    }
    for (const chunk::CatalogueMeta& meta : unnamed.catalogue_files) {
      names.push_back(chunk::CatalogueFileName(meta.number));
    }
    for (const std::uint64_t number : unnamed.damaged_chunk_files) {
      names.push_back(chunk::ChunkFileName(number));
    }
    for (const std::uint64_t number : unnamed.damaged_catalogue_files) {
      names.push_back(chunk::CatalogueFileName(number));
    }
    for (const std::string& name : names) {
      TSDB_RETURN_IF_ERROR(MoveAside(name, "left over, the manifest does not name it"));
    }
    return Status::Ok();
  }

  Status RepairChunkFiles() {
    std::vector<chunk::ChunkFileMeta> kept;
    for (const chunk::ChunkFileMeta& meta : state_.chunk_files) {
      const std::string name = chunk::ChunkFileName(meta.number);
      const auto file = chunk::ChunkFileReader::Open(fs_, JoinPath(path_, name));
      std::vector<std::string> damage;
      if (file.ok()) {
        TSDB_RETURN_IF_ERROR((*file)->Verify(&damage));
      } else if (!IsDamage(file.status())) {
        return file.status();
      }
      if (file.ok() && damage.empty()) {
        kept.push_back(meta);
        continue;
      }
      changed_ = true;
      const std::uint64_t number = state_.next_file_number;
      TSDB_ASSIGN_OR_RETURN(const SalvagedChunks salvaged,
                            SalvageChunkFile(fs_, path_, JoinPath(path_, name), number, options_.dry_run));
      for (const std::string& place : damage.empty() ? salvaged.damage : damage) {
        Tell(place);
      }
      std::uint64_t saved = 0;
      if (salvaged.meta) {
        ++state_.next_file_number;
        kept.push_back(*salvaged.meta);
        saved = salvaged.meta->samples;
      }
      const std::uint64_t lost = meta.samples - std::min(meta.samples, saved);
      report_.samples_saved += saved;
      report_.samples_lost += lost;
      Tell(fmt::format("{}: {} of {} samples are whole{}", name, saved, meta.samples,
                       salvaged.meta ? fmt::format("; written to {}", chunk::ChunkFileName(number)) : ""));
      TSDB_RETURN_IF_ERROR(MoveAside(name, "damaged"));
    }
    state_.chunk_files = std::move(kept);
    return Status::Ok();
  }

  Status RepairCatalogue() {
    std::vector<chunk::CatalogueMeta> kept;
    Definitions whole;    // in files that stay
    Definitions salvaged;  // of files that go
    bool damaged = rebuilt_;
    for (const chunk::CatalogueMeta& meta : state_.catalogue_files) {
      const std::string name = chunk::CatalogueFileName(meta.number);
      Definitions found;
      const Status status = chunk::ReadCatalogueFile(fs_, JoinPath(path_, name), state_.store_high, state_.store_low,
                                                     [&](const SeriesDefinition& definition) {
                                                       KeepNewest(definition, &found);
                                                       return Status::Ok();
                                                     });
      for (const auto& [id, definition] : found) {
        KeepNewest(definition, status.ok() ? &whole : &salvaged);
        state_.next_series_id = std::max(state_.next_series_id, id + 1);
      }
      if (status.ok()) {
        kept.push_back(meta);
        continue;
      }
      if (!IsDamage(status)) {
        return status;
      }
      damaged = true;
      changed_ = true;
      Tell(fmt::format("{}; {} of {} definitions are whole", status.ToString(), found.size(), meta.definitions));
      TSDB_RETURN_IF_ERROR(MoveAside(name, "damaged"));
    }
    state_.catalogue_files = std::move(kept);
    return damaged ? WriteDefinitions(whole, std::move(salvaged)) : Status::Ok();
  }

  // Definitions that no file which stays has, from the damaged ones and from the index.
  Status WriteDefinitions(const Definitions& whole, Definitions wanted) {
    TSDB_RETURN_IF_ERROR(AskIndex(&wanted));
    std::vector<SeriesDefinition> missing;
    for (const auto& [id, definition] : wanted) {
      const auto found = whole.find(id);
      if (found == whole.end() || found->second.commit < definition.commit) {
        missing.push_back(definition);
        state_.next_series_id = std::max(state_.next_series_id, id + 1);
        state_.last_commit = std::max(state_.last_commit, definition.commit);
      }
    }
    if (missing.empty()) {
      return Status::Ok();
    }
    const std::uint64_t number = state_.next_file_number++;
    Tell(fmt::format("{}: written with {} definitions that were saved", chunk::CatalogueFileName(number),
                     missing.size()));
    changed_ = true;
    if (options_.dry_run) {
      return Status::Ok();
    }
    TSDB_ASSIGN_OR_RETURN(const chunk::CatalogueMeta meta,
                          chunk::WriteCatalogueFile(fs_, JoinPath(path_, chunk::CatalogueFileName(number)), number,
                                                    state_.store_high, state_.store_low, missing));
    state_.catalogue_files.push_back(meta);
    return fs_.SyncDirectory(JoinPath(path_, "catalogue"));
  }

  // The index holds a copy of every definition that was flushed.
  Status AskIndex(Definitions* wanted) {
    if (!environment_.open_index_read_only) {
      return Status::Ok();
    }
    index::IndexOptions options;
    options.store_high = state_.store_high;
    options.store_low = state_.store_low;
    options.known_commit = CommitNumber{UINT64_MAX};
    auto index = environment_.open_index_read_only(JoinPath(path_, "index"), options);
    if (!index.ok()) {
      Tell(fmt::format("the index gives no copies of definitions: {}", index.status().ToString()));
      return Status::Ok();
    }
    std::uint64_t copies = 0;
    TSDB_ASSIGN_OR_RETURN(const auto ids, (*index)->Select(Selector()));
    constexpr std::size_t kAtATime = 4096;
    for (std::size_t begin = 0; begin < ids.size(); begin += kAtATime) {
      const auto part = std::span(ids).subspan(begin, std::min(kAtATime, ids.size() - begin));
      const auto found = (*index)->FindByIds(part);
      if (!found.ok()) {
        Tell(fmt::format("a part of the index gives no copies: {}", found.status().ToString()));
        continue;
      }
      for (const auto& definition : *found) {
        if (definition) {
          KeepNewest(*definition, wanted);
          ++copies;
        }
      }
    }
    Tell(fmt::format("the index holds copies of {} definitions", copies));
    return Status::Ok();
  }

  // They are replayed as far as they verify and removed once everything is in files.
  Status CopyDamagedSegments() {
    wal::ReplayOptions options;
    options.store_id = {state_.store_high, state_.store_low};
    options.after = state_.flushed_commit;
    options.synced = state_.flushed_commit;
    NoVisitor visitor;
    TSDB_ASSIGN_OR_RETURN(const wal::ReplayReport log, wal::Replay(fs_, JoinPath(path_, "wal"), options, visitor));
    std::set<std::string> done;
    for (const wal::LogDamage& damage : log.damage) {
      Tell(fmt::format("{}@{}: {} bytes {}: {}", damage.path, damage.offset, damage.bytes,
                       damage.tail ? "at the end of the log are not used" : "are skipped", damage.reason));
      TSDB_ASSIGN_OR_RETURN(const bool exists, fs_.Exists(damage.path));
      if (exists && damage.path.ends_with(".log") && done.insert(damage.path).second) {
        TSDB_RETURN_IF_ERROR(CopyAside(damage.path.substr(path_.size() + (path_.ends_with('/') ? 0 : 1)),
                                       "damaged"));
      }
    }
    return Status::Ok();
  }

  Status SetIndexAside() {
    return options_.rebuild_index ? MoveAside("index", "to be built again") : Status::Ok();
  }

  Status WriteManifest() {
    if (!rebuilt_ && !changed_) {
      return Status::Ok();
    }
    TSDB_RETURN_IF_ERROR(CopyOldManifests());
    const auto by_number = [](const auto& a, const auto& b) { return a.number < b.number; };
    std::sort(state_.chunk_files.begin(), state_.chunk_files.end(), by_number);
    std::sort(state_.catalogue_files.begin(), state_.catalogue_files.end(), by_number);
    Tell(fmt::format("a new manifest with {} chunk files and {} catalogue files", state_.chunk_files.size(),
                     state_.catalogue_files.size()));
    if (options_.dry_run) {
      return Status::Ok();
    }
    TSDB_RETURN_IF_ERROR(chunk::Manifest::Replace(fs_, path_, state_));
    for (const std::string& name : old_manifests_) {
      const Status removed = fs_.RemoveFile(JoinPath(path_, name));  // there is a copy
      if (!removed.ok() && removed.code() != StatusCode::kNotFound) {
        return removed;
      }
    }
    return fs_.SyncDirectory(JoinPath(path_, "manifest"));
  }

  // Copied before there is a new one: a repair that is cut short may be begun again.
  Status CopyOldManifests() {
    if (rebuilt_) {
      TSDB_ASSIGN_OR_RETURN(const bool current, fs_.Exists(JoinPath(path_, "CURRENT")));
      if (current) {
        TSDB_RETURN_IF_ERROR(CopyAside("CURRENT", "named a manifest that is not whole"));
      }
    } else {
      TSDB_ASSIGN_OR_RETURN(const std::string current, chunk::Manifest::CurrentPath(fs_, path_));
      old_manifests_.push_back(JoinPath("manifest", current.substr(current.rfind('/') + 1)));
    }
    for (const std::string& name : old_manifests_) {
      TSDB_RETURN_IF_ERROR(CopyAside(name, rebuilt_ ? "not whole" : "superseded"));
    }
    return Status::Ok();
  }

  // Replays the log into files, so that what is left is a clean database.
  Status OpenAndClose() {
    if (options_.dry_run) {
      return Status::Ok();
    }
    OpenOptions open;
    open.create_if_missing = false;
    open.background = false;
    TSDB_ASSIGN_OR_RETURN(const auto db, OpenDatabase(path_, open, environment_));
    const RecoveryReport& recovery = db->recovery_report();
    for (const std::string& note : recovery.notes) {
      Tell("when opened: " + note);
    }
    if (recovery.index_rebuilt) {
      Tell("the index was built again");
    }
    return db->Close();
  }

  FileSystem& fs_;
  const std::string path_;
  const RepairOptions options_;
  const Environment& environment_;
  RepairReport report_;
  chunk::ManifestState state_;
  bool rebuilt_ = false;  // the manifest could not be read
  bool changed_ = false;
  std::vector<std::string> old_manifests_;  // names of what a new one takes the place of
};

}  // namespace

Result<RepairReport> RepairDatabase(const std::string& path, const RepairOptions& options,
                                    const Environment& environment) {
  return Repairer(path, options, environment).Run();
}

}  // namespace tsdb::engine
