// flush, verify, dump: care for the files of a database.
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/open_database.h"
#include "cli/text/escape.h"
#include "cli/text/numbers.h"
#include "tsdb/inspect.h"

namespace tsdb::cli {
namespace {

Outcome RunFlush(Program& program) {
  Result<std::unique_ptr<Database>> db = OpenExisting(program);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  const std::uint64_t samples = (*db)->GetStats().samples_in_head;
  if (const Status closed = (*db)->Close(); !closed.ok()) {
    return Outcome::Failed(closed);
  }
  program.messages.Note(fmt::format("flushed {} samples", FormatCount(samples)));
  return Outcome::Done();
}

Outcome RunVerify(Program& program) {
  const Result<VerifyReport> report = Verify(program.db_path);
  if (!report.ok()) {
    return Outcome::Failed(report.status().code() == StatusCode::kNotFound ? NoDatabase(program.db_path)
                                                                          : report.status());
  }
  for (const std::string& damage : report->damage) {
    *program.out.buffer() += Printable(damage) + "\n";
    program.out.Drain();
  }
  for (const std::string& note : report->notes) {
    program.messages.Note("note: " + note);
  }
  program.messages.Note(fmt::format("read {} files, {}: {} chunks, {} samples, {} damaged places",
                                    FormatCount(report->files), FormatBytes(report->bytes),
                                    FormatCount(report->chunks), FormatCount(report->samples),
                                    FormatCount(report->damage.size())));
  if (!report->damage.empty()) {
    return Outcome::Partly(fmt::format("damage in {} places of {}: 'tsdb-cli repair --dry-run' tells what can be saved",
                                       report->damage.size(), program.db_path));
  }
  return Outcome::Done();
}

Outcome RunRepair(const RepairOptions& options, Program& program) {
  if (const Status status = options.dry_run ? Status::Ok() : CheckMayWrite(program); !status.ok()) {
    return Outcome::Failed(status);
  }
  const Result<RepairReport> report = Repair(program.db_path, options);
  if (!report.ok()) {
    return Outcome::Failed(report.status().code() == StatusCode::kNotFound ? NoDatabase(program.db_path)
                                                                          : report.status());
  }
  for (const std::string& action : report->actions) {
    *program.out.buffer() += Printable(action) + "\n";
    program.out.Drain();
  }
  if (report->actions.empty()) {
    program.messages.Note("nothing to repair");
    return Outcome::Done();
  }
  program.messages.Note(fmt::format("{}{} samples of damaged files saved, {} lost; {} files set aside",
                                    options.dry_run ? "nothing was changed; a repair would end with: " : "",
                                    FormatCount(report->samples_saved), FormatCount(report->samples_lost),
                                    FormatCount(report->files_set_aside)));
  return report->samples_lost == 0 ? Outcome::Done() : Outcome::Partly();
}

using DumpFunction = Status (*)(const std::string&, const LineSink&);

Outcome RunDump(DumpFunction dump, const std::string& path, Program& program) {
  Output& out = program.out;
  const Status status = dump(path, [&out](std::string_view line) {
    if (!out.failed()) {
      AppendPrintable(line, out.buffer());
      *out.buffer() += '\n';
      out.Drain();
    }
  });
  if (status.code() == StatusCode::kCorruption) {
    return Outcome::Partly(std::string(status.message()));
  }
  return status.ok() ? Outcome::Done() : Outcome::Failed(status);
}

void AddDumpOf(CommandSet* set, CLI::App* parent, const std::string& name, const std::string& summary,
               const std::string& example_path, DumpFunction dump) {
  CLI::App* command = set->Add(parent, name, summary, {"tsdb-cli dump " + name + " " + example_path});
  auto path = std::make_shared<std::string>();
  command->add_option("path", *path, "File to print")->type_name("PATH")->required();
  set->SetRun(command, [path, dump](Program& program) { return RunDump(dump, *path, program); });
}

}  // namespace

void AddFlush(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "flush", "Move everything from the log into files",
                               {"tsdb-cli --db ./metrics flush"});
  set->SetRun(command, RunFlush);
}

void AddVerify(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "verify", "Read every byte, and name each damaged place",
                               {"tsdb-cli --db ./metrics verify"});
  set->SetRun(command, RunVerify);
}

void AddRepair(CommandSet* set) {
  CLI::App* command =
      set->Add(set->root(), "repair", "Save everything that is whole; damaged files go to quarantine/, none is deleted",
               {"tsdb-cli --db ./metrics repair --dry-run", "tsdb-cli --db ./metrics repair --rebuild-index"});
  auto options = std::make_shared<RepairOptions>();
  command->add_flag("--dry-run", options->dry_run, "Only tell what would be done");
  command->add_flag("--rebuild-index", options->rebuild_index, "Build the label index again");
  set->SetRun(command, [options](Program& program) { return RunRepair(*options, program); });
}

void AddDump(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "dump", "Print what is in a file of the database",
                               {"tsdb-cli dump wal ./metrics/wal", "tsdb-cli dump manifest ./metrics/manifest/000001"});
  command->require_subcommand(1);
  AddDumpOf(set, command, "wal", "Print a log segment, or all of a folder: groups, commits, operations",
            "./metrics/wal", DumpWal);
  AddDumpOf(set, command, "file", "Print a chunk file: header, chunks, statistics", "./metrics/chunks/000001.chunk",
            DumpChunkFile);
  AddDumpOf(set, command, "manifest", "Print every edit of a manifest", "./metrics/manifest/000001", DumpManifest);
}

}  // namespace tsdb::cli
