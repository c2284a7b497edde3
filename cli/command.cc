#include "cli/command.h"

namespace tsdb::cli {

CLI::App* CommandSet::Add(CLI::App* parent, const std::string& name, const std::string& summary,
                          const std::vector<std::string>& examples) {
  CLI::App* command = parent->add_subcommand(name, summary);
  command->fallthrough();  // global options may also stand behind the command
  command->footer(ExamplesText(examples));
  return command;
}

const CLI::App* CommandSet::Selected() const {
  const CLI::App* command = root_;
  while (true) {
    const std::vector<CLI::App*> chosen = command->get_subcommands();
    if (chosen.empty()) {
      return command;
    }
    command = chosen.back();
  }
}

CommandSet::Run CommandSet::SelectedRun() const {
  const auto found = runs_.find(Selected());
  return found == runs_.end() ? Run() : found->second;
}

std::string CommandPath(const CLI::App* command) {
  const CLI::App* parent = command->get_parent();
  return parent == nullptr ? command->get_name() : CommandPath(parent) + " " + command->get_name();
}

std::string ExamplesText(const std::vector<std::string>& examples) {
  std::string text = examples.size() == 1 ? "Example:\n" : "Examples:\n";
  for (const std::string& example : examples) {
    text += "  " + example + "\n";
  }
  return text;
}

}  // namespace tsdb::cli
