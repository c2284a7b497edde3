// CommandSet: the tree of commands, built once, and which of them the user asked for.
//
// A command is one `Add…` function in commands/: it declares its options on a CLI::App and gives the function to run.
// Options live in a struct that the function keeps alive.
//
// Thread safety: none.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/program.h"
#include "cli/text/outcome.h"

namespace tsdb::cli {

class CommandSet {
 public:
  using Run = std::function<Outcome(Program&)>;

  explicit CommandSet(CLI::App* root) : root_(root) {}
  CLI::App* root() const { return root_; }

  /// Adds a command below `parent`. `examples` are whole lines, shown at the end of its help.
  CLI::App* Add(CLI::App* parent, const std::string& name, const std::string& summary,
                const std::vector<std::string>& examples);
  /// What a command does when it is the last one on the command line.
  void SetRun(const CLI::App* command, Run run) { runs_[command] = std::move(run); }

  /// The last command on the parsed command line; the root when there was none.
  const CLI::App* Selected() const;
  /// What Selected() does; an empty function when it is only a group of others.
  Run SelectedRun() const;

 private:
  CLI::App* root_;
  std::map<const CLI::App*, Run> runs_;
};

/// "tsdb-cli bench write": the words a user types to reach `command`.
std::string CommandPath(const CLI::App* command);

/// Text shown under the options: "Examples:" and the lines.
std::string ExamplesText(const std::vector<std::string>& examples);

// The commands, one file each.
void AddInit(CommandSet* set);
void AddIngest(CommandSet* set);
void AddQuery(CommandSet* set);
void AddSeries(CommandSet* set);
void AddLabels(CommandSet* set);
void AddLabelValues(CommandSet* set);
void AddInfo(CommandSet* set);
void AddCreate(CommandSet* set);
void AddAlter(CommandSet* set);
void AddRename(CommandSet* set);
void AddDrop(CommandSet* set);
void AddUndrop(CommandSet* set);
void AddDelete(CommandSet* set);
void AddRetention(CommandSet* set);
void AddStats(CommandSet* set);
void AddAnalyze(CommandSet* set);
void AddFlush(CommandSet* set);
void AddCompact(CommandSet* set);
void AddJobs(CommandSet* set);
void AddVerify(CommandSet* set);
void AddRepair(CommandSet* set);
void AddDump(CommandSet* set);
void AddExport(CommandSet* set);
void AddBench(CommandSet* set);
void AddSelftest(CommandSet* set);
/// Hidden: makes the manual page and the shell completions when the project is built.
void AddGenerate(CommandSet* set);

}  // namespace tsdb::cli
