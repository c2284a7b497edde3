// jobs: shows what merging has done and left to do, holds it back and lets it go on.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/open_database.h"
#include "cli/text/numbers.h"
#include "cli/text/table.h"
#include "tsdb/inspect.h"

namespace tsdb::cli {
namespace {

struct JobsOptions {
  bool watch = false;
  bool json = false;
};

constexpr std::array<const char*, 7> kLevels{"as flushed", "rest",    "warm days", "days",
                                             "8 days",     "64 days", "512 days"};

void WriteTable(const Stats& stats, Program& program) {
  Table table({"merging", stats.merging_paused ? "held: 'tsdb-cli jobs resume' lets it go on" : "goes on by itself"},
              {false, true});
  for (std::size_t level = 0; level < stats.chunk_files_by_level.size(); ++level) {
    const std::string name = level < kLevels.size() ? kLevels[level] : fmt::format("level {}", level);
    table.AddRow({"chunk files, " + name, FormatCount(stats.chunk_files_by_level[level])});
  }
  table.AddRow({"chunk files in all", FormatCount(stats.chunk_files)});
  table.AddRow({"bytes of these", FormatBytes(stats.chunk_file_bytes)});
  table.AddRow({"samples in these", FormatCount(stats.samples_in_files)});
  table.AddRow({"samples not yet in files", FormatCount(stats.samples_in_head)});
  table.AddRow({"deletes to be merged in", FormatCount(stats.tombstones)});
  table.AppendTo(program.out.buffer(), program.color);
}

void WriteJson(const Stats& stats, Program& program) {
  std::string* out = program.out.buffer();
  *out += fmt::format("{{\"held\":{},\"chunk_files_by_level\":[", stats.merging_paused);
  for (std::size_t level = 0; level < stats.chunk_files_by_level.size(); ++level) {
    *out += fmt::format("{}{}", level == 0 ? "" : ",", stats.chunk_files_by_level[level]);
  }
  *out += fmt::format("],\"chunk_files\":{},\"chunk_file_bytes\":{},\"samples\":{},\"samples_in_head\":{},"
                      "\"tombstones\":{}}}\n",
                      stats.chunk_files, stats.chunk_file_bytes, stats.samples_in_files, stats.samples_in_head,
                      stats.tombstones);
}

Outcome RunJobs(const JobsOptions& options, Program& program) {
  Result<std::unique_ptr<Database>> db = OpenForReading(program, Reads::kFewSeries);
  if (!db.ok()) {
    return Outcome::Failed(db.status());
  }
  CatchInterrupts();
  for (;;) {
    options.json ? WriteJson((*db)->GetStats(), program) : WriteTable((*db)->GetStats(), program);
    if (!options.watch || !program.out.Flush()) {
      return Outcome::Done();
    }
    for (int tenth = 0; tenth < 10 && InterruptSignal() == 0; ++tenth) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    if (const int signal = InterruptSignal(); signal != 0) {
      return {static_cast<ExitCode>(128 + signal), ""};
    }
    if (const Status refreshed = (*db)->Refresh(); !refreshed.ok()) {
      return Outcome::Failed(refreshed);
    }
    if (!options.json) {
      *program.out.buffer() += '\n';
    }
  }
}

Outcome RunHold(bool hold, Program& program) {
  if (const Status status = CheckMayWrite(program); !status.ok()) {
    return Outcome::Failed(status);
  }
  const Status status = hold ? HoldMerging(program.db_path) : ReleaseMerging(program.db_path);
  if (!status.ok()) {
    return Outcome::Failed(status.code() == StatusCode::kNotFound ? NoDatabase(program.db_path) : status);
  }
  program.messages.Note(hold ? "merging is held until 'tsdb-cli jobs resume'" : "merging goes on by itself");
  return Outcome::Done();
}

}  // namespace

void AddJobs(CommandSet* set) {
  CLI::App* command = set->Add(set->root(), "jobs", "Show what merging has left to do; hold it back, or let it go on",
                               {"tsdb-cli --db ./metrics jobs --watch", "tsdb-cli --db ./metrics jobs pause"});
  auto options = std::make_shared<JobsOptions>();
  command->add_flag("--watch", options->watch, "Show it again every second until interrupted");
  command->add_flag("--json", options->json, "One JSON object instead of a table");
  set->SetRun(command, [options](Program& program) { return RunJobs(*options, program); });
  CLI::App* pause = set->Add(command, "pause", "Keep merges from running, whichever process has the database open",
                             {"tsdb-cli --db ./metrics jobs pause"});
  set->SetRun(pause, [](Program& program) { return RunHold(true, program); });
  CLI::App* resume = set->Add(command, "resume", "Let merges run again", {"tsdb-cli --db ./metrics jobs resume"});
  set->SetRun(resume, [](Program& program) { return RunHold(false, program); });
}

}  // namespace tsdb::cli
