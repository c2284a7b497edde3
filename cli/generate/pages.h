// Manual page and shell completions, made from the tree of commands itself, so that they cannot disagree with it.
//
// Thread safety: pure functions.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace tsdb::cli {

/// The manual page in man(7) form. `version` without the program's name.
std::string ManPage(const CLI::App& root, const std::string& version);
std::string BashCompletion(const CLI::App& root);
std::string ZshCompletion(const CLI::App& root);

}  // namespace tsdb::cli
