#include "cli/command_line.h"

#include <csignal>
#include <exception>
#include <map>
#include <new>

#include "cli/command.h"
#include "cli/plot/terminal.h"
#include "cli/suggest.h"

namespace tsdb::cli {
namespace {

constexpr char kDefaultPath[] = "./tsdb-data";

struct GlobalOptions {
  std::string db = kDefaultPath;
  bool read_only = false;
  bool quiet = false;
  std::string color = "auto";
};

ColorMode ParseColor(const std::string& text) {
  return text == "always" ? ColorMode::kAlways : text == "never" ? ColorMode::kNever : ColorMode::kAuto;
}

void AddGlobalOptions(CLI::App* root, GlobalOptions* globals) {
  root->add_option("--db", globals->db, "Directory of the database (also: environment variable TSDB_DB)")
      ->envname("TSDB_DB")
      ->type_name("DIR")
      ->default_str(kDefaultPath);
  root->add_flag("--read-only", globals->read_only,
                 "Change nothing: read beside a process that writes, or from media that cannot be written");
  root->add_flag("--quiet,-q", globals->quiet, "No progress, summaries or warnings");
  root->add_option("--color", globals->color, "Colours: auto, always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->default_str("auto");
  root->set_version_flag("--version", std::string("tsdb-cli ") + TSDB_VERSION);
}

void AddCommands(CommandSet* set) {
  AddInit(set);
  AddIngest(set);
  AddQuery(set);
  AddSeries(set);
  AddLabels(set);
  AddLabelValues(set);
  AddInfo(set);
  AddExport(set);
  AddCreate(set);
  AddAlter(set);
  AddRename(set);
  AddDrop(set);
  AddUndrop(set);
  AddDelete(set);
  AddRetention(set);
  AddStats(set);
  AddAnalyze(set);
  AddFlush(set);
  AddCompact(set);
  AddJobs(set);
  AddVerify(set);
  AddRepair(set);
  AddDump(set);
  AddBench(set);
  AddSelftest(set);
  AddGenerate(set);
}

/// One line out of the message of the option parser, which may have several.
std::string OneLine(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '.')) {
    text.pop_back();
  }
  for (char& c : text) {
    c = c == '\n' ? ' ' : c;
  }
  return text;
}

Outcome RunSelected(const CommandSet& set, Program* program) {
  const CommandSet::Run run = set.SelectedRun();
  if (!run) {
    return Outcome::Usage(CommandMissing(*set.Selected()));
  }
  // The library does not throw; what may still fail this way is memory, in our own containers.
  try {
    return run(*program);
  } catch (const std::bad_alloc&) {
    return Outcome::Failed("out of memory: narrow the request, or give the process more");
  }
}

/// Delivers what is buffered. A reader that went away ends the program the way it ends other filters: by SIGPIPE.
Outcome Deliver(Outcome outcome, Program* program) {
  program->out.Flush();
  if (program->out.reader_gone()) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
    return Outcome::Failed("");  // SIGPIPE is blocked
  }
  if (!program->out.status().ok() && outcome.done()) {
    return Outcome::Failed(program->out.status());
  }
  return outcome;
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  GlobalOptions globals;
  Program program;
  CLI::App root("Time-series database in a directory: load, look, query, export, check.", "tsdb-cli");
  root.require_subcommand(1);
  root.footer(ExamplesText({"tsdb-cli --db ./metrics ingest points.lp",
                            "tsdb-cli --db ./metrics query 'cpu{host=\"a\"}' --from now-1h --aggregate avg --bucket 5m",
                            "tsdb-cli query --help"}));
  AddGlobalOptions(&root, &globals);
  CommandSet set(&root);
  AddCommands(&set);

  Outcome outcome;
  try {
    root.parse(argc, argv);
    program.db_path = globals.db;
    program.read_only = globals.read_only;
    program.color = UseColor(ParseColor(globals.color), STDOUT_FILENO);
    program.ascii = globals.color == "never" || !LocaleIsUtf8();
    program.messages.set_color(UseColor(ParseColor(globals.color), STDERR_FILENO));
    program.messages.set_quiet(globals.quiet);
    outcome = RunSelected(set, &program);
  } catch (const CLI::CallForHelp&) {
    const CLI::App* parent = set.Selected()->get_parent();
    *program.out.buffer() += set.Selected()->help(parent == nullptr ? "" : CommandPath(parent));
  } catch (const CLI::CallForVersion& version) {
    *program.out.buffer() += std::string(version.what()) + "\n";
  } catch (const CLI::ExtrasError&) {
    outcome = Outcome::Usage(NotUnderstood(*set.Selected(), root.remaining(true)));
  } catch (const CLI::RequiredError& error) {
    // A word that is no command is left over, and then a command is missing; the word is what to talk about.
    const std::vector<std::string> words = root.remaining(true);
    outcome = Outcome::Usage(!words.empty()       ? NotUnderstood(*set.Selected(), words)
                             : !set.SelectedRun() ? CommandMissing(*set.Selected())
                                                  : OneLine(error.what()));
  } catch (const CLI::ParseError& error) {
    outcome = Outcome::Usage(OneLine(error.what()));
  }
  outcome = Deliver(std::move(outcome), &program);
  if (outcome.code == ExitCode::kUsage) {
    program.messages.Error(outcome.message + ": see '" + CommandPath(set.Selected()) + " --help'");
  } else if (!outcome.message.empty()) {
    program.messages.Error(outcome.message);
  }
  return static_cast<int>(outcome.code);
}

}  // namespace tsdb::cli
