#include "cli/generate/pages.h"
#include "cli/generate/tree.h"

namespace tsdb::cli {
namespace {

/// Text inside single quotes of an _arguments specification.
std::string Quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (c == '[' || c == ']' || c == ':' || c == '\\') {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

/// ":FORMAT:(a b)", ":DIR:_files -/", …
std::string ValueAction(const CLI::Option& option) {
  const std::string head = ":" + Quoted(ValueName(option)) + ":";
  if (const std::vector<std::string> choices = Choices(option); !choices.empty()) {
    return head + "(" + Join(choices, " ") + ")";
  }
  switch (ValuePathKind(option)) {
    case PathKind::kFile: return head + "_files";
    case PathKind::kDirectory: return head + "_files -/";
    case PathKind::kNone: break;
  }
  return head + " ";
}

void AppendArguments(const CLI::App& command, std::string* out) {
  for (const CLI::Option* option : NamedOptions(command)) {
    for (const std::string& spelling : Spellings(*option)) {
      *out += " \\\n    '*" + spelling + "[" + Quoted(option->get_description()) + "]" +
              (TakesValue(*option) ? ValueAction(*option) : "") + "'";
    }
  }
  for (const CLI::Option* option : Positionals(command)) {
    *out += " \\\n    '" + std::string(ValueName(*option) == "FILE..." ? "*" : "") + ValueAction(*option) + "'";
  }
}

void AppendFunction(const CLI::App& command, const std::string& function, const std::string& global_arguments,
                    std::string* out) {
  const std::vector<const CLI::App*> children = VisibleCommands(command);
  for (const CLI::App* child : children) {
    AppendFunction(*child, function + "_" + child->get_name(), global_arguments, out);
  }
  *out += function + "() {\n";
  std::string arguments;
  AppendArguments(command, &arguments);
  if (command.get_parent() != nullptr) {
    arguments += global_arguments;
  }
  if (children.empty()) {
    *out += "  _arguments -s" + arguments + "\n}\n\n";
    return;
  }
  *out += "  local curcontext=$curcontext state line\n  _arguments -s -C" + arguments +
          " \\\n    '1: :->command' \\\n    '*:: :->rest'\n  case $state in\n    command)\n      local -a commands\n" +
          "      commands=(\n";
  for (const CLI::App* child : children) {
    *out += "        '" + child->get_name() + ":" + Quoted(child->get_description()) + "'\n";
  }
  *out += "      )\n      _describe command commands ;;\n    rest)\n      case $line[1] in\n";
  for (const CLI::App* child : children) {
    *out += "        " + child->get_name() + ") " + function + "_" + child->get_name() + " ;;\n";
  }
  *out += "      esac ;;\n  esac\n}\n\n";
}

}  // namespace

std::string ZshCompletion(const CLI::App& root) {
  std::string out = "#compdef tsdb-cli\n# made by the program itself\n\n";
  std::string global_arguments;
  for (const CLI::Option* option : NamedOptions(root)) {
    if (option->check_lname("help") || option->check_lname("version")) {
      continue;
    }
    for (const std::string& spelling : Spellings(*option)) {
      global_arguments += " \\\n    '*" + spelling + "[" + Quoted(option->get_description()) + "]" +
                          (TakesValue(*option) ? ValueAction(*option) : "") + "'";
    }
  }
  AppendFunction(root, "_tsdb_cli", global_arguments, &out);
  out += "_tsdb_cli \"$@\"\n";
  return out;
}

}  // namespace tsdb::cli
