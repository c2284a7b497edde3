// Options that several commands declare in the same words. What they mean is in text/arguments.h.
//
// Thread safety: none; called while the tree of commands is built.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/text/arguments.h"

namespace tsdb::cli {

/// SELECTOR or --key NAME.
void AddSeriesOptions(CLI::App* command, SeriesArguments* arguments);
/// --from T, --to T.
void AddRangeOptions(CLI::App* command, RangeArguments* arguments);
/// --output, one of `choices`, the first is the default.
void AddOutputOption(CLI::App* command, std::string* output, const std::vector<std::string>& choices);

/// Accepts whole numbers from `min` to `max`; the message says so.
CLI::Validator WholeNumber(std::uint64_t min, std::uint64_t max = 1ull << 62);

}  // namespace tsdb::cli
