#include "cli/suggest.h"

#include <algorithm>

#include "cli/generate/tree.h"

namespace tsdb::cli {
namespace {

/// Letters to change, add, leave out or swap with their neighbour (Damerau 1964; Levenshtein 1966).
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      const std::size_t changed = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
  }
  return rows[a.size()][b.size()];
}

std::vector<std::string> CommandNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* child : VisibleCommands(command)) {
    names.push_back(child->get_name());
  }
  return names;
}

/// Of the command and of those above it: global options may stand anywhere.
std::vector<std::string> OptionNames(const CLI::App* command) {
  std::vector<std::string> names;
  for (; command != nullptr; command = command->get_parent()) {
    for (const CLI::Option* option : NamedOptions(*command)) {
      const std::vector<std::string> spellings = Spellings(*option);
      names.insert(names.end(), spellings.begin(), spellings.end());
    }
  }
  return names;
}

std::string Meant(const std::string& nearest) { return nearest.empty() ? "" : "; did you mean " + nearest + "?"; }

}  // namespace

std::string Nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kWordMax = 64;  // nothing of ours is longer; keeps the table small
  std::string nearest;
  std::size_t best = word.size() < 5 ? 2 : 3;
  for (const std::string& candidate : candidates) {
    if (word.size() > kWordMax) {
      break;
    }
    const bool begins = word.size() > 2 && candidate.starts_with(word);
    const std::size_t distance = begins ? 1 : Distance(word, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string NotUnderstood(const CLI::App& command, const std::vector<std::string>& words) {
  const std::string& word = words.front();
  if (word.starts_with("-")) {
    const std::string name = word.substr(0, word.find('='));
    return "there is no option " + name + Meant(Nearest(name, OptionNames(&command)));
  }
  const std::vector<std::string> commands = CommandNames(command);
  if (!commands.empty()) {
    return "there is no command '" + word + "'" + Meant(Nearest(word, commands));
  }
  return "not understood: " + CLI::detail::join(words, " ");
}

std::string CommandMissing(const CLI::App& command) {
  const std::vector<std::string> commands = CommandNames(command);
  return "a command is missing: " + Join(commands, ", ");
}

}  // namespace tsdb::cli
