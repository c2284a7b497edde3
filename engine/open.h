// OpenDatabase, OpenDatabaseReadOnly: Database::Open and OpenReadOnly on a given environment; what tests use to run the
// engine on a file system in memory.
//
// Thread safety: thread-safe.
#pragma once

#include <memory>
#include <string>

#include "engine/core.h"
#include "tsdb/database.h"
#include "tsdb/result.h"

namespace tsdb::engine {

Result<std::unique_ptr<Database>> OpenDatabase(const std::string& path, const OpenOptions& options,
                                               const Environment& environment);
Result<std::unique_ptr<Database>> OpenDatabaseReadOnly(const std::string& path, const ReadOnlyOptions& options,
                                                       const Environment& environment);

}  // namespace tsdb::engine
