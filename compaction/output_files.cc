#include "compaction/output_files.h"

#include <set>

#include "base/safeguard.h"

namespace tsdb::compaction {

OutputFiles::~OutputFiles() {
  for (const std::string& path : paths_) {
    // The job's own error is what its caller hears; a leftover is an orphan, removed at the next open.
    static_cast<void>(fs_.RemoveFile(path));
  }
}

Result<std::string> OutputFiles::NewFile(const std::string& database_path, const std::string& name) {
  std::string path = JoinPath(database_path, name);
  TSDB_RETURN_IF_ERROR(EnsureFolder(fs_, ParentPath(path)));
  TSDB_ASSIGN_OR_RETURN(const bool leftover, fs_.Exists(path));
  if (leftover) {
    TSDB_RETURN_IF_ERROR(fs_.RemoveFile(path));
  }
  paths_.push_back(path);
  return path;
}

Status OutputFiles::SyncFolders() {
  std::set<std::string> folders;
  for (const std::string& path : paths_) {
    folders.insert(ParentPath(path));
  }
  for (const std::string& folder : folders) {
    TSDB_RETURN_IF_ERROR(TSDB_SYNC("output/folders", fs_.SyncDirectory(folder)));
  }
  return {};
}

Status EnsureFolder(FileSystem& fs, const std::string& path) {
  TSDB_ASSIGN_OR_RETURN(const bool exists, fs.Exists(path));
  if (exists) {
    return {};
  }
  TSDB_RETURN_IF_ERROR(fs.CreateDirectories(path));
  return TSDB_SYNC("output/new-folder", fs.SyncDirectory(ParentPath(path)));
}

}  // namespace tsdb::compaction
