#include <set>

#include "cli/generate/pages.h"
#include "cli/generate/tree.h"

namespace tsdb::cli {
namespace {

/// A command and its place: "" for the root, "/dump/wal" for a command below another.
struct Place {
  std::string path;
  const CLI::App* command;
};

void Collect(const Place& place, std::vector<Place>* places) {
  places->push_back(place);
  for (const CLI::App* child : VisibleCommands(*place.command)) {
    Collect({place.path + "/" + child->get_name(), child}, places);
  }
}

std::vector<std::string> OptionSpellings(const CLI::App& command) {
  std::vector<std::string> all;
  for (const CLI::Option* option : NamedOptions(command)) {
    for (const std::string& spelling : Spellings(*option)) {
      all.push_back(spelling);
    }
  }
  return all;
}

/// Case branches that complete the value of an option: choices, files or directories.
void AppendValueBranches(const Place& place, std::string* out) {
  for (const CLI::Option* option : NamedOptions(*place.command)) {
    if (!TakesValue(*option)) {
      continue;
    }
    std::vector<std::string> patterns;
    for (const std::string& spelling : Spellings(*option)) {
      patterns.push_back((place.path.empty() ? "*" : place.path) + ":" + spelling);
    }
    const std::vector<std::string> choices = Choices(*option);
    const PathKind kind = ValuePathKind(*option);
    std::string action = "return ;;";
    if (!choices.empty()) {
      action = "mapfile -t COMPREPLY < <(compgen -W '" + Join(choices, " ") + "' -- \"$cur\"); return ;;";
    } else if (kind != PathKind::kNone) {
      action = std::string("compopt -o filenames; mapfile -t COMPREPLY < <(compgen ") +
               (kind == PathKind::kDirectory ? "-d" : "-f") + " -- \"$cur\"); return ;;";
    }
    *out += "    " + Join(patterns, "|") + ") " + action + "\n";
  }
}

void AppendWordBranch(const Place& place, const std::vector<std::string>& global_options, std::string* out) {
  std::vector<std::string> options = OptionSpellings(*place.command);
  if (!place.path.empty()) {
    for (const std::string& option : global_options) {
      if (option != "-h" && option != "--help" && option != "--version") {
        options.push_back(option);
      }
    }
  }
  std::vector<std::string> commands;
  for (const CLI::App* child : VisibleCommands(*place.command)) {
    commands.push_back(child->get_name());
  }
  bool files = false;
  for (const CLI::Option* option : Positionals(*place.command)) {
    files = files || ValuePathKind(*option) == PathKind::kFile;
  }
  *out += "    '" + place.path + "') options='" + Join(options, " ") + "'; commands='" + Join(commands, " ") +
          "'; files=" + (files ? "yes" : "") + " ;;\n";
}

}  // namespace

std::string BashCompletion(const CLI::App& root) {
  std::vector<Place> places;
  Collect({"", &root}, &places);
  std::set<std::string> valued;
  std::vector<std::string> paths;
  for (const Place& place : places) {
    for (const CLI::Option* option : NamedOptions(*place.command)) {
      if (TakesValue(*option)) {
        for (const std::string& spelling : Spellings(*option)) {
          valued.insert(spelling);
        }
      }
    }
    if (!place.path.empty()) {
      paths.push_back(place.path);
    }
  }
  std::string out = "# bash completion for tsdb-cli; made by the program itself\n_tsdb_cli() {\n";
  out += "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n";
  out += "  local path='' options='' commands='' files='' i\n";
  out += "  for ((i = 1; i < COMP_CWORD; i++)); do\n    case ${COMP_WORDS[i]} in\n      ";
  out += Join({valued.begin(), valued.end()}, "|") + ") ((i++)); continue ;;\n    esac\n";
  out += "    case $path/${COMP_WORDS[i]} in\n      " + Join(paths, "|") + ") path=$path/${COMP_WORDS[i]} ;;\n";
  out += "    esac\n  done\n  case $path:$prev in\n";
  for (auto place = places.rbegin(); place != places.rend(); ++place) {  // the root's patterns match everywhere: last
    AppendValueBranches(*place, &out);
  }
  out += "  esac\n  case $path in\n";
  const std::vector<std::string> global_options = OptionSpellings(root);
  for (const Place& place : places) {
    AppendWordBranch(place, global_options, &out);
  }
  out += "  esac\n  if [[ $cur == -* ]]; then\n    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n";
  out += "  elif [[ -n $commands ]]; then\n    mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$cur\")\n";
  out += "  elif [[ -n $files ]]; then\n    compopt -o filenames\n";
  out += "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n  fi\n}\ncomplete -F _tsdb_cli tsdb-cli\n";
  return out;
}

}  // namespace tsdb::cli
