// Opening the database the way commands want it: with what the library has to say going to stderr.
//
// Thread safety: as Database::Open; the Program must outlive the database.
#pragma once

#include <functional>
#include <memory>

#include "cli/program.h"
#include "tsdb/database.h"

namespace tsdb::cli {

/// For commands that change a database that is there; a missing one fails with what to do.
Result<std::unique_ptr<Database>> OpenExisting(Program& program);

enum class Reads {
  kFewSeries,  // a query, or none: the log is read for what it selects
  kAll,
};
/// For commands that only read. When another process holds the database, or with --read-only, it is read beside that
/// process; the user is told of the former.
Result<std::unique_ptr<Database>> OpenForReading(Program& program, Reads reads);

/// For commands that write: creates a missing database with the default settings.
Result<std::unique_ptr<Database>> OpenOrCreate(Program& program);

/// Options that send what the library says to stderr (warnings and errors only).
OpenOptions MakeOpenOptions(const Program& program);

/// kReadOnly when the user asked for nothing to be changed.
Status CheckMayWrite(const Program& program);

/// "no database at DIR: …".
Status NoDatabase(const std::string& path);

}  // namespace tsdb::cli
