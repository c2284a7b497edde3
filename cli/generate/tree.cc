#include "cli/generate/tree.h"

namespace tsdb::cli {

std::vector<const CLI::App*> VisibleCommands(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* child) { return !child->get_group().empty(); });
}

std::vector<const CLI::Option*> NamedOptions(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return option->nonpositional(); });
}

std::vector<const CLI::Option*> Positionals(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<std::string> Spellings(const CLI::Option& option) {
  std::vector<std::string> spellings;
  for (const std::string& name : option.get_snames()) {
    spellings.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    spellings.push_back("--" + name);
  }
  return spellings;
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() != 0; }

std::string ValueName(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));  // checks add their own words behind a colon
}

// A choice describes itself as NAME:{a,b,c}.
std::vector<std::string> Choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find(":{");
  if (open == std::string::npos || type.back() != '}') {
    return {};
  }
  return CLI::detail::split(type.substr(open + 2, type.size() - open - 3), ',');
}

PathKind ValuePathKind(const CLI::Option& option) {
  const std::string name = ValueName(option);
  if (name == "DIR") {
    return PathKind::kDirectory;
  }
  return name == "PATH" || name == "FILE..." ? PathKind::kFile : PathKind::kNone;
}

std::string Join(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : separator) + words[i];
  }
  return text;
}

}  // namespace tsdb::cli
