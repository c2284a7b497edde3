// Merge hold: a file in the folder of a database that keeps background merges from running. Any process may make it or
// take it away; the one that has the database open looks for it before a merge and while one runs.
//
// Thread safety: thread-safe functions.
#pragma once

#include <string>

#include "base/file_system.h"
#include "tsdb/inspect.h"
#include "tsdb/result.h"

namespace tsdb::engine {

inline constexpr const char* kMergeHoldName = "MERGING-HELD";

/// tsdb::HoldMerging (`held`) and tsdb::ReleaseMerging on a given file system.
Status SetMergeHold(FileSystem& fs, const std::string& path, bool held);
/// True when the file is there. What cannot be told counts as not held: merging changes no answer.
bool IsMergeHeld(FileSystem& fs, const std::string& path);

}  // namespace tsdb::engine
