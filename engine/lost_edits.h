// LostEdits: finds out that the manifest on disk is not the newest one: edits at its end, cut off exactly between two
// of them, leave a file that looks whole. What tells is what the lost edits had said:
//
//   - a file that nobody names holds commits the manifest does not know, and the log no longer holds them: the log lets
//     go of commits only after the edit that names their file;
//   - a file the manifest names is gone while one that nobody names is there: the edit that replaced the one by the
//     other is missing.
//
// Without either, files that nobody names are leftovers of unfinished jobs, and everything in them is elsewhere.
//
// Thread safety: pure functions over files that do not change meanwhile.
#pragma once

#include <string>
#include <vector>

#include "base/file_system.h"
#include "chunk/manifest.h"
#include "tsdb/result.h"

namespace tsdb::engine {

/// Files of ours in chunks/ and catalogue/ that `state` does not name.
struct UnnamedFiles {
  std::vector<chunk::ChunkFileMeta> chunk_files;  // ascending by number; those that can be opened
  std::vector<chunk::CatalogueMeta> catalogue_files;
  /// Numbers of those that cannot be read, or are of another store.
  std::vector<std::uint64_t> damaged_chunk_files;
  std::vector<std::uint64_t> damaged_catalogue_files;
};
Result<UnnamedFiles> FindUnnamedFiles(FileSystem& fs, const std::string& path, const chunk::ManifestState& state);

/// One line for each sign that the manifest lost edits: what, and which file tells. Reads the log only when a file
/// makes it doubtful. Errors: those of the file system.
Result<std::vector<std::string>> FindLostEdits(FileSystem& fs, const std::string& path,
                                               const chunk::ManifestState& state);

}  // namespace tsdb::engine
