// Verify: reads every byte of a database and names each damaged place; takes no lock, writes nothing.
//
// Thread safety: pure function; beside a writer, what it changes meanwhile may be told as damage.
#pragma once

#include <string>

#include "base/file_system.h"
#include "tsdb/inspect.h"
#include "tsdb/result.h"

namespace tsdb::engine {

/// tsdb::Verify on a given file system.
Result<VerifyReport> VerifyDatabase(FileSystem& fs, const std::string& path);

}  // namespace tsdb::engine
