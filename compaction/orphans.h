// Orphans: files that no manifest names, left by a job or a process that did not come to its end.
//
// Thread safety: to be called before any job runs, by the owner of the database.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "chunk/manifest.h"
#include "tsdb/result.h"

namespace tsdb::compaction {

/// Removes from chunks/, catalogue/ and manifest/ the files with names of ours that `state` and CURRENT do not name,
/// and
/// *.tmp there and in the database's folder. Files with other names stay and are mentioned. Returns how many were
/// removed; one line each goes to `notes` (may be null). A file that cannot be removed is mentioned, too, and is no
/// error. Errors: those of reading CURRENT and the folders.
Result<std::uint64_t> RemoveOrphans(FileSystem& fs, const std::string& database_path, const chunk::ManifestState& state,
                                    std::vector<std::string>* notes);

}  // namespace tsdb::compaction
