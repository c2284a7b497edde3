#include "cli/open_database.h"

namespace tsdb::cli {
namespace {

void ReportRecovery(const Database& db, const Messages& messages) {
  for (const std::string& note : db.recovery_report().notes) {
    messages.Warning("recovery: " + note);
  }
}

std::function<void(LogLevel, std::string_view)> LogTo(const Messages* messages) {
  return [messages](LogLevel level, std::string_view text) {
    if (level != LogLevel::kInfo) {
      messages->Warning(text);
    }
  };
}

Result<std::unique_ptr<Database>> OpenReadOnly(Program& program, Reads reads) {
  ReadOnlyOptions options;
  options.lazy_head = reads == Reads::kFewSeries;
  options.log = LogTo(&program.messages);
  Result<std::unique_ptr<Database>> db = Database::OpenReadOnly(program.db_path, options);
  if (!db.ok()) {
    return db.status().code() == StatusCode::kNotFound ? NoDatabase(program.db_path) : db.status();
  }
  ReportRecovery(**db, program.messages);
  return db;
}

}  // namespace

OpenOptions MakeOpenOptions(const Program& program) {
  OpenOptions options;
  options.log = LogTo(&program.messages);  // outlives every database of a command
  return options;
}

Status NoDatabase(const std::string& path) {
  return Status::NotFound("no database at " + path + ": create it with 'tsdb-cli init' or ingest");
}

Status CheckMayWrite(const Program& program) {
  return program.read_only ? Status::ReadOnly("this command changes the database: leave --read-only out")
                           : Status::Ok();
}

Result<std::unique_ptr<Database>> OpenForReading(Program& program, Reads reads) {
  if (!program.read_only) {
    Result<std::unique_ptr<Database>> db = OpenExisting(program);
    if (db.ok() || db.status().code() != StatusCode::kBusy) {
      return db;
    }
    const std::string_view message = db.status().message();  // the holder, and after a semicolon what to do
    program.messages.Note(std::string(message.substr(0, message.find(';'))) + ": reading beside it");
  }
  return OpenReadOnly(program, reads);
}

Result<std::unique_ptr<Database>> OpenExisting(Program& program) {
  TSDB_RETURN_IF_ERROR(CheckMayWrite(program));
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
  TSDB_RETURN_IF_ERROR(CheckMayWrite(program));
  Result<std::unique_ptr<Database>> db = Database::Open(program.db_path, MakeOpenOptions(program));
  if (db.ok()) {
    ReportRecovery(**db, program.messages);
  }
  return db;
}

}  // namespace tsdb::cli
