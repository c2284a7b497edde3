// Repair: makes a database whole again out of everything on its disk that still verifies.
//
//   manifest  read as far as it verifies, or put together from the files ─┐
//   chunk files     damaged ones: their whole chunks go into a new file   ├─► new manifest ─► opened and closed:
//   catalogue files damaged ones: what is whole, and what the index knows │   the log is replayed and moved into files
//   log             damaged segments are copied aside before              ┘
//
// Deletes nothing: what is damaged, superseded or left over is moved or copied into quarantine/. Whole log
// segments go once they are in files, as ever.
//
// Thread safety: pure function; holds the lock of the database.
#pragma once

#include <string>

#include "engine/core.h"
#include "tsdb/inspect.h"
#include "tsdb/result.h"

namespace tsdb::engine {

/// tsdb::Repair on a given environment.
Result<RepairReport> RepairDatabase(const std::string& path, const RepairOptions& options,
                                    const Environment& environment);

}  // namespace tsdb::engine
