// Opening the database the way commands want it: with what the library has to say going to stderr.
//
// Thread safety: as Database::Open; the Program must outlive the database.
#pragma once

#include <functional>
#include <memory>

#include "cli/program.h"
#include "tsdb/database.h"

namespace tsdb::cli {

/// For commands that need a database that is there; a missing one fails with what to do.
Result<std::unique_ptr<Database>> OpenExisting(Program& program);

/// For commands that write: creates a missing database with the default settings.
Result<std::unique_ptr<Database>> OpenOrCreate(Program& program);

/// Options that send what the library says to stderr (warnings and errors only).
OpenOptions MakeOpenOptions(const Program& program);

/// "no database at DIR: …".
Status NoDatabase(const std::string& path);

}  // namespace tsdb::cli
