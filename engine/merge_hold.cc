#include "engine/merge_hold.h"

#include <fmt/format.h>

namespace tsdb {
namespace engine {
namespace {

Status CheckIsDatabase(FileSystem& fs, const std::string& path) {
  TSDB_ASSIGN_OR_RETURN(const bool exists, fs.Exists(JoinPath(path, "CURRENT")));
  return exists ? Status::Ok() : Status::NotFound(fmt::format("no database at {}", path));
}

}  // namespace

Status SetMergeHold(FileSystem& fs, const std::string& path, bool held) {
  TSDB_RETURN_IF_ERROR(CheckIsDatabase(fs, path));
  const std::string file = JoinPath(path, kMergeHoldName);
  TSDB_ASSIGN_OR_RETURN(const bool exists, fs.Exists(file));
  if (exists == held) {
    return Status::Ok();
  }
  if (held) {
    TSDB_ASSIGN_OR_RETURN(const auto created, fs.OpenWritable(file, OpenMode::kCreate));
    TSDB_RETURN_IF_ERROR(created->Close());
  } else {
    const Status removed = fs.RemoveFile(file);
    if (!removed.ok() && removed.code() != StatusCode::kNotFound) {
      return removed;
    }
  }
  return fs.SyncDirectory(path);
}

bool IsMergeHeld(FileSystem& fs, const std::string& path) {
  const Result<bool> exists = fs.Exists(JoinPath(path, kMergeHoldName));
  return exists.ok() && *exists;
}

}  // namespace engine

Status HoldMerging(const std::string& path) { return engine::SetMergeHold(PosixFileSystem(), path, true); }

Status ReleaseMerging(const std::string& path) { return engine::SetMergeHold(PosixFileSystem(), path, false); }

Result<bool> IsMergingHeld(const std::string& path) {
  TSDB_RETURN_IF_ERROR(engine::CheckIsDatabase(PosixFileSystem(), path));
  return PosixFileSystem().Exists(JoinPath(path, engine::kMergeHoldName));
}

}  // namespace tsdb
