#include "engine/publish.h"

#include <algorithm>
#include <memory>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tsdb::engine {
namespace {

void RemoveFile(Core& core, const std::string& name) {
  if (Status status = core.fs->RemoveFile(JoinPath(core.path, name));
      !status.ok() && status.code() != StatusCode::kNotFound) {
    core.Log(LogLevel::kWarning, fmt::format("{} is not removed before the next open: {}", name, status.ToString()));
  }
}

void RemoveUnread(Core& core, bool all) TSDB_REQUIRES(core.manifest_mutex) {
  std::erase_if(core.retired_files, [&](ChunkFilePtr& file) {
    if (!all && file.use_count() != 1) {
      return false;
    }
    const std::string name = chunk::ChunkFileName(file->meta().number);
    file = nullptr;
    RemoveFile(core, name);
    return true;
  });
}

/// The version after the edit; the files that leave it go to `retired`.
std::shared_ptr<Version> VersionAfter(const Version& before, const chunk::ManifestEdit& edit,
                                      std::vector<ChunkFilePtr> added, std::vector<ChunkFilePtr>* retired) {
  auto version = std::make_shared<Version>(before);
  auto& files = version->files;
  std::erase_if(files, [&](const ChunkFilePtr& file) {
    const bool removed = std::ranges::find(edit.removed_chunk_files, file->meta().number) !=
                         edit.removed_chunk_files.end();
    if (removed) {
      retired->push_back(file);
    }
    return removed;
  });
  files.insert(files.end(), added.begin(), added.end());
  SortFiles(version.get());
  return version;
}

std::vector<std::string> AddedFiles(const chunk::ManifestEdit& edit) {
  std::vector<std::string> names;
  for (const chunk::ChunkFileMeta& meta : edit.added_chunk_files) {
    names.push_back(chunk::ChunkFileName(meta.number));
  }
  for (const chunk::CatalogueMeta& meta : edit.added_catalogue_files) {
    names.push_back(chunk::CatalogueFileName(meta.number));
  }
  return names;
}

bool Overlap(const chunk::ChunkFileMeta& file, const chunk::Tombstone& tombstone) {
  return file.first_time <= tombstone.range.to && file.last_time >= tombstone.range.from;
}

/// The tombstones that some of `files` must still be read under.
std::vector<chunk::TombstonePtr> StillNeeded(const std::vector<chunk::TombstonePtr>& tombstones,
                                             const std::vector<chunk::ChunkFileMeta>& files) {
  std::vector<chunk::TombstonePtr> needed;
  std::ranges::copy_if(tombstones, std::back_inserter(needed), [&](const chunk::TombstonePtr& tombstone) {
    return std::ranges::any_of(files, [&](const chunk::ChunkFileMeta& file) {
      return std::max(file.last_commit, file.purged_commit) < tombstone->commit && Overlap(file, *tombstone);
    });
  });
  return needed;
}

/// Completes an edit with the tombstones that go with it, and leaves out what nobody needs of those that come.
void RetireTombstones(const chunk::ManifestState& state, chunk::ManifestEdit* edit) {
  if (state.tombstones.empty() && edit->added_tombstones.empty()) {
    return;
  }
  std::vector<chunk::ChunkFileMeta> files;
  std::ranges::copy_if(state.chunk_files, std::back_inserter(files), [&](const chunk::ChunkFileMeta& file) {
    return std::ranges::find(edit->removed_chunk_files, file.number) == edit->removed_chunk_files.end();
  });
  files.insert(files.end(), edit->added_chunk_files.begin(), edit->added_chunk_files.end());
  edit->added_tombstones = StillNeeded(edit->added_tombstones, files);
  std::set<CommitNumber> kept;
  for (const chunk::TombstonePtr& tombstone : StillNeeded(state.tombstones, files)) {
    kept.insert(tombstone->commit);
  }
  // Those of one commit go together.
  std::set<CommitNumber> gone;
  for (const chunk::TombstonePtr& tombstone : state.tombstones) {
    if (!kept.contains(tombstone->commit)) {
      gone.insert(tombstone->commit);
    }
  }
  edit->removed_tombstones.assign(gone.begin(), gone.end());
}

Status OpenAdded(const Core& core, const chunk::ManifestEdit& edit, std::vector<ChunkFilePtr>* added) {
  for (const chunk::ChunkFileMeta& meta : edit.added_chunk_files) {
    TSDB_ASSIGN_OR_RETURN(ChunkFilePtr file, OpenChunkFile(core, meta.number));
    added->push_back(std::move(file));
  }
  return Status::Ok();
}

}  // namespace

Result<ChunkFilePtr> OpenChunkFile(const Core& core, std::uint64_t number) {
  const std::string path = JoinPath(core.path, chunk::ChunkFileName(number));
  TSDB_ASSIGN_OR_RETURN(auto file, chunk::ChunkFileReader::Open(*core.fs, path));
  const chunk::ChunkFileOptions& options = file->options();
  if (options.store_high != core.store_id.high || options.store_low != core.store_id.low) {
    return Status::Corruption(path + ": belongs to another database");
  }
  return ChunkFilePtr(std::move(file));
}

Status CommitEdit(Core& core, chunk::ManifestEdit edit, const std::function<void(Version*)>& change) {
  // Opened first: behind the edit nothing may fail.
  std::vector<ChunkFilePtr> added;
  if (Status status = OpenAdded(core, edit, &added); !status.ok()) {
    added.clear();
    for (const std::string& name : AddedFiles(edit)) {
      RemoveFile(core, name);
    }
    return status;
  }
  MutexLock lock(core.manifest_mutex);
  std::vector<ChunkFilePtr> retired = core.retired_files;
  std::shared_ptr<Version> version = VersionAfter(*core.versions.Pin(), edit, std::move(added), &retired);
  if (change) {
    change(version.get());
  }
  RetireTombstones(core.manifest->state(), &edit);
  if (!edit.added_tombstones.empty() || !edit.removed_tombstones.empty()) {
    std::vector<chunk::TombstonePtr> tombstones = core.manifest->state().tombstones;
    std::erase_if(tombstones, [&](const chunk::TombstonePtr& tombstone) {
      return std::ranges::find(edit.removed_tombstones, tombstone->commit) != edit.removed_tombstones.end();
    });
    tombstones.insert(tombstones.end(), edit.added_tombstones.begin(), edit.added_tombstones.end());
    version->tombstones = std::make_shared<const chunk::TombstoneSet>(std::move(tombstones));
  }
  if (Status status = core.manifest->Append(edit); !status.ok()) {
    const std::vector<std::string> names = AddedFiles(edit);
    core.doubtful_files.insert(core.doubtful_files.end(), names.begin(), names.end());
    return status;
  }
  core.versions.Set(std::move(version));
  core.retired_files.swap(retired);
  retired.clear();
  for (const std::string& name : core.doubtful_files) {
    RemoveFile(core, name);
  }
  core.doubtful_files.clear();
  RemoveUnread(core, false);
  return Status::Ok();
}

void RemoveRetired(Core& core, bool all) {
  MutexLock lock(core.manifest_mutex);
  RemoveUnread(core, all);
}

}  // namespace tsdb::engine
