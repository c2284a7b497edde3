// What the generators ask of the tree of commands.
//
// Thread safety: pure functions.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace tsdb::cli {

/// Commands below `command`, without hidden ones, in the order of declaration.
std::vector<const CLI::App*> VisibleCommands(const CLI::App& command);
/// Options (not positionals), and positionals.
std::vector<const CLI::Option*> NamedOptions(const CLI::App& command);
std::vector<const CLI::Option*> Positionals(const CLI::App& command);

/// "-f", "--format": every spelling, short ones first.
std::vector<std::string> Spellings(const CLI::Option& option);
bool TakesValue(const CLI::Option& option);
/// The word that stands for the value: "FORMAT".
std::string ValueName(const CLI::Option& option);
/// The values an option accepts; empty when it is not a choice.
std::vector<std::string> Choices(const CLI::Option& option);
/// Whether the value names a file, a directory, or neither.
enum class PathKind { kNone, kFile, kDirectory };
PathKind ValuePathKind(const CLI::Option& option);

/// Words with `separator` between them.
std::string Join(const std::vector<std::string>& words, const std::string& separator);

}  // namespace tsdb::cli
