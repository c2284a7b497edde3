#include "compaction/orphans.h"

#include <set>
#include <string_view>
#include <utility>

#include "chunk/manifest_log.h"

namespace tsdb::compaction {

namespace {

bool AllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Removes what should not be in one folder.
class Sweeper {
 public:
  Sweeper(FileSystem& fs, std::string database_path, std::vector<std::string>* notes)
      : fs_(fs), database_path_(std::move(database_path)), notes_(notes) {}

  std::uint64_t removed() const { return removed_; }

  /// `live`: names relative to the database. `suffix`: what our files' names end with, after their number.
  Status Sweep(const std::string& folder, std::string_view suffix, const std::set<std::string>& live) {
    auto entries = fs_.List(JoinPath(database_path_, folder));
    if (entries.status().code() == StatusCode::kNotFound) {
      return {};
    }
    TSDB_RETURN_IF_ERROR(entries.status());
    for (const DirectoryEntry& entry : *entries) {
      const std::string name = JoinPath(folder, entry.name);
      const std::string_view stem = std::string_view(entry.name).substr(0, entry.name.size() - suffix.size());
      const bool ours = entry.name.size() > suffix.size() && entry.name.ends_with(suffix) && AllDigits(stem);
      if (entry.is_directory || live.contains(name)) {
        continue;
      }
      if (ours || entry.name.ends_with(".tmp")) {
        Remove(name, "not in the manifest");
      } else {
        Note(name + ": not a file of the database; left alone");
      }
    }
    return {};
  }

  Status SweepTemporaries() {
    TSDB_ASSIGN_OR_RETURN(const auto entries, fs_.List(database_path_));
    for (const DirectoryEntry& entry : entries) {
      if (!entry.is_directory && entry.name.ends_with(".tmp")) {
        Remove(entry.name, "left unfinished");
      }
    }
    return {};
  }

 private:
  void Remove(const std::string& name, std::string_view why) {
    const Status status = fs_.RemoveFile(JoinPath(database_path_, name));
    removed_ += status.ok() ? 1 : 0;
    Note(name + ": " + std::string(why) + (status.ok() ? "; removed" : "; " + status.ToString()));
  }

  void Note(std::string note) {
    if (notes_ != nullptr) {
      notes_->push_back(std::move(note));
    }
  }

  FileSystem& fs_;
  const std::string database_path_;
  std::vector<std::string>* const notes_;
  std::uint64_t removed_ = 0;
};

}  // namespace

Result<std::uint64_t> RemoveOrphans(FileSystem& fs, const std::string& database_path, const chunk::ManifestState& state,
                                    std::vector<std::string>* notes) {
  // CURRENT first: a folder is swept only when it is certain which manifest lives.
  TSDB_ASSIGN_OR_RETURN(const std::string current, ReadFile(fs, JoinPath(database_path, "CURRENT"), 4096));
  auto number = chunk::DecodeCurrent(current);
  TSDB_RETURN_IF_ERROR(number.status().WithContext(JoinPath(database_path, "CURRENT")));
  std::set<std::string> live = {chunk::ManifestFileName(*number)};
  for (const chunk::ChunkFileMeta& file : state.chunk_files) {
    live.insert(chunk::ChunkFileName(file.number));
  }
  for (const chunk::CatalogueMeta& file : state.catalogue_files) {
    live.insert(chunk::CatalogueFileName(file.number));
  }
  Sweeper sweeper(fs, database_path, notes);
  TSDB_RETURN_IF_ERROR(sweeper.Sweep("chunks", ".chunk", live));
  TSDB_RETURN_IF_ERROR(sweeper.Sweep("catalogue", ".catalogue", live));
  TSDB_RETURN_IF_ERROR(sweeper.Sweep("manifest", "", live));
  TSDB_RETURN_IF_ERROR(sweeper.SweepTemporaries());
  return sweeper.removed();
}

}  // namespace tsdb::compaction
