#include "cli/open_database.h"

namespace tsdb::cli {
namespace {

void ReportRecovery(const Database& db, const Messages& messages) {
  for (const std::string& note : db.recovery_report().notes) {
    messages.Warning("recovery: " + note);
  }
}

}  // namespace

OpenOptions MakeOpenOptions(const Program& program) {
  OpenOptions options;
  const Messages* messages = &program.messages;  // outlives every database of a command
  options.log = [messages](LogLevel level, std::string_view text) {
    if (level != LogLevel::kInfo) {
      messages->Warning(text);
    }
  };
  return options;
}

Status NoDatabase(const std::string& path) {
  return Status::NotFound("no database at " + path + ": create it with 'tsdb-cli init' or ingest");
}

Result<std::unique_ptr<Database>> OpenExisting(Program& program) {
  OpenOptions options = MakeOpenOptions(program);
  options.create_if_missing = false;
  Result<std::unique_ptr<Database>> db = Database::Open(program.db_path, options);
  if (!db.ok()) {
    return db.status().code() == StatusCode::kNotFound ? NoDatabase(program.db_path) : db.status();
  }
  ReportRecovery(**db, program.messages);
  return db;
}

Result<std::unique_ptr<Database>> OpenOrCreate(Program& program) {
  Result<std::unique_ptr<Database>> db = Database::Open(program.db_path, MakeOpenOptions(program));
  if (db.ok()) {
    ReportRecovery(**db, program.messages);
  }
  return db;
}

}  // namespace tsdb::cli
