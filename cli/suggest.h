// What the user may have meant: messages about words that no command or option has.
//
// Thread safety: pure functions.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tsdb::cli {

/// The candidate nearest to `word`: it begins so, or differs in at most two letters (one in short words); empty when
/// none does.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

/// About the words that `command` left over, the first of which is not understood. Not for no words.
std::string NotUnderstood(const CLI::App& command, const std::vector<std::string>& words);

/// About a command that is only a group of others, or nothing at all.
std::string CommandMissing(const CLI::App& command);

}  // namespace tsdb::cli
