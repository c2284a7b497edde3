// The settings of a series as options, in the same words for every command that sets them.
//
// Thread safety: none; called while the tree of commands is built.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "tsdb/series_life.h"

namespace tsdb::cli {

/// Empty texts were not given.
struct SettingsArguments {
  std::vector<std::string> labels;
  std::string retention;
  std::string duplicates;
  std::string ignore_time;
  std::string ignore_value;
  std::string expiry;
};

/// --label, --retention, --duplicates, --ignore-time, --ignore-value, --expiry.
void AddSettingsOptions(CLI::App* command, SettingsArguments* arguments);

/// What was given. The policy "default" is that of the database.
Result<SeriesChange> ParseChange(const SettingsArguments& arguments, TimeUnit unit);
/// The settings of a new series.
Result<SeriesSettings> ParseSettings(const SettingsArguments& arguments, TimeUnit unit);
Result<Labels> ParseLabels(const std::vector<std::string>& texts);

}  // namespace tsdb::cli
