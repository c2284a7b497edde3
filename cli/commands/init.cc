// init: creates a database with its settings.
#include <memory>

#include "cli/command.h"
#include "cli/open_database.h"
#include "cli/text/arguments.h"
#include "tsdb/time_text.h"

namespace tsdb::cli {
namespace {

struct InitOptions {
  std::string unit = "ms";
  std::string durability = "interval";
  std::string duplicates = "last";
  std::string retention;
  std::string bytes_max;
};

/// How long and how much is kept, when it was given.
Status ParseRetention(const InitOptions& options, CreateOptions* create) {
  if (!options.retention.empty()) {
    const Result<std::int64_t> age = ParseDuration(options.retention, create->unit);
    if (!age.ok()) {
      return age.status().WithContext("--retention");
    }
    if (*age < 0) {
      return Status::InvalidArgument("--retention " + options.retention + ": must not be negative");
    }
    create->retention = *age;
  }
  if (!options.bytes_max.empty()) {
    const Result<std::uint64_t> bytes = ParseByteSize(options.bytes_max);
    if (!bytes.ok()) {
      return bytes.status().WithContext("--max-bytes");
    }
    create->bytes_max = *bytes;
  }
  return Status::Ok();
}

Outcome RunInit(const InitOptions& options, Program& program) {
  const Result<TimeUnit> unit = ParseTimeUnit(options.unit);
  const Result<Durability> durability = ParseDurability(options.durability);
  const Result<DuplicatePolicy> duplicates = ParseDuplicatePolicy(options.duplicates);
  for (const Status& status : {unit.status(), durability.status(), duplicates.status()}) {
    if (!status.ok()) {
      return Outcome::Usage(std::string(status.message()));
    }
  }
  if (const Status status = CheckMayWrite(program); !status.ok()) {
    return Outcome::Failed(status);
  }
  OpenOptions open = MakeOpenOptions(program);
  open.error_if_exists = true;
  open.create.unit = *unit;
  open.create.durability = *durability;
  open.create.duplicates = *duplicates;
  if (const Status status = ParseRetention(options, &open.create); !status.ok()) {
    return Outcome::Usage(std::string(status.message()));
  }
  Result<std::unique_ptr<Database>> db = Database::Open(program.db_path, open);
  if (!db.ok()) {
    if (db.status().code() == StatusCode::kAlreadyExists) {
      return Outcome::Failed("a database exists at " + program.db_path +
                             ": use it, or name another directory with --db");
    }
    return Outcome::Failed(db.status());
  }
  if (const Status closed = (*db)->Close(); !closed.ok()) {
    return Outcome::Failed(closed);
  }
  program.messages.Note("created " + program.db_path + ": unit " + options.unit + ", durability " +
                        options.durability + ", duplicates " + options.duplicates +
                        (options.retention.empty() ? "" : ", retention " + options.retention) +
                        (options.bytes_max.empty() ? "" : ", at most " + options.bytes_max));
  return Outcome::Done();
}

}  // namespace

void AddInit(CommandSet* set) {
  CLI::App* command =
      set->Add(set->root(), "init", "Create a database with its settings, which stay",
               {"tsdb-cli --db ./metrics init", "tsdb-cli --db ./metrics init --unit us --durability always",
                "tsdb-cli --db ./metrics init --retention 90d --max-bytes 10GiB"});
  auto options = std::make_shared<InitOptions>();
  command->add_option("--unit", options->unit, "Unit of all times")
      ->type_name("UNIT")
      ->check(CLI::IsMember({"s", "ms", "us", "ns"}))
      ->default_str("ms");
  command->add_option("--durability", options->durability, "What an acknowledged write survives")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"always", "interval", "none"}))
      ->default_str("interval");
  command->add_option("--duplicates", options->duplicates, "What a second sample at one time does")
      ->type_name("POLICY")
      ->check(CLI::IsMember({"last", "first", "min", "max", "sum", "block"}))
      ->default_str("last");
  command->add_option("--retention", options->retention, "Keep samples so long; 'retention' changes it later")
      ->type_name("DURATION");
  command->add_option("--max-bytes", options->bytes_max, "Most bytes of the directory, as 10GiB; the oldest files go")
      ->type_name("BYTES");
  set->SetRun(command, [options](Program& program) { return RunInit(*options, program); });
}

}  // namespace tsdb::cli
