#include "cli/command.h"
#include "cli/generate/pages.h"
#include "cli/generate/tree.h"

namespace tsdb::cli {
namespace {

/// Text that roff prints as it is.
std::string Roff(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) {
      out += "\\&";
    }
    line_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Bold(const std::string& text) { return "\\fB" + Roff(text) + "\\fR"; }
std::string Italic(const std::string& text) { return "\\fI" + Roff(text) + "\\fR"; }

void AppendOption(const CLI::Option& option, std::string* out) {
  *out += ".TP\n";
  std::vector<std::string> names;
  if (option.get_positional()) {
    names.push_back(Italic(ValueName(option)));
  }
  for (const std::string& spelling : Spellings(option)) {
    names.push_back(Bold(spelling) + (TakesValue(option) ? " " + Italic(ValueName(option)) : ""));
  }
  *out += Join(names, ", ") + "\n" + Roff(option.get_description()) + ".\n";
  if (const std::vector<std::string> choices = Choices(option); !choices.empty()) {
    *out += "One of " + Roff(Join(choices, ", ")) + ".\n";
  }
  if (!option.get_default_str().empty()) {
    *out += "Default: " + Roff(option.get_default_str()) + ".\n";
  }
}

void AppendOptions(const CLI::App& command, std::string* out) {
  for (const CLI::Option* option : Positionals(command)) {
    AppendOption(*option, out);
  }
  for (const CLI::Option* option : NamedOptions(command)) {
    AppendOption(*option, out);
  }
}

/// The footer's example lines as they are, with a line before them that says what they are.
void AppendExamples(const CLI::App& command, std::string* out) {
  const std::string footer = command.get_footer();
  const std::size_t first_end = footer.find('\n');
  *out += ".PP\n" + Roff(footer.substr(0, first_end)) + "\n.nf\n" + Roff(footer.substr(first_end + 1)) + ".fi\n";
}

void AppendCommand(const CLI::App& command, std::string* out) {
  const std::vector<const CLI::App*> children = VisibleCommands(command);
  if (children.empty()) {
    std::string synopsis = Bold(CommandPath(&command)) + " [" + Italic("options") + "]";
    for (const CLI::Option* option : Positionals(command)) {
      const std::string name = Italic(ValueName(*option));
      synopsis += option->get_required() ? " " + name : " [" + name + "]";
    }
    *out += ".SS " + synopsis + "\n" + Roff(command.get_description()) + ".\n";
    AppendOptions(command, out);
    AppendExamples(command, out);
  }
  for (const CLI::App* child : children) {
    AppendCommand(*child, out);
  }
}

constexpr char kExitStatus[] = R"(.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
failed; one line on standard error says what, where and what to do
.TP
.B 2
wrong usage
.TP
.B 3
done in part: some input was rejected, or damage was found
.TP
.B 130, 143
ended by SIGINT or SIGTERM; ingest stores what it has read in whole lines first
)";

}  // namespace

std::string ManPage(const CLI::App& root, const std::string& version) {
  std::string out = ".TH TSDB\\-CLI 1 \"\" \"tsdb " + version + "\" \"User Commands\"\n";
  out += ".SH NAME\ntsdb\\-cli \\- time\\-series database in a directory\n";
  out += ".SH SYNOPSIS\n.B tsdb\\-cli\n[\\fB\\-\\-db\\fR \\fIDIR\\fR] \\fICOMMAND\\fR [\\fIoptions\\fR]\n";
  out += ".SH DESCRIPTION\n" + Roff(root.get_description()) + "\n";
  out += ".SH OPTIONS\nThese may stand before or behind the command.\n";
  AppendOptions(root, &out);
  out += ".SH COMMANDS\n";
  for (const CLI::App* command : VisibleCommands(root)) {
    AppendCommand(*command, &out);
  }
  out += ".SH ENVIRONMENT\n.TP\n.B TSDB_DB\nDirectory of the database when \\fB\\-\\-db\\fR is not given.\n";
  out += ".TP\n.B NO_COLOR\nWhen set, no colours under \\fB\\-\\-color auto\\fR.\n";
  out += kExitStatus;
  out += ".SH EXAMPLES\n";
  AppendExamples(root, &out);
  return out;
}

}  // namespace tsdb::cli
