#include "cli/settings_options.h"

#include "cli/text/arguments.h"
#include "tsdb/time_text.h"

namespace tsdb::cli {
namespace {

/// A duration that is not negative.
Status ParseLength(const std::string& text, const std::string& option, TimeUnit unit,
                   std::optional<std::int64_t>* out) {
  if (text.empty()) {
    return Status::Ok();
  }
  const Result<std::int64_t> length = ParseDuration(text, unit);
  if (!length.ok()) {
    return length.status().WithContext(option);
  }
  if (*length < 0) {
    return Status::InvalidArgument(option + " " + text + ": must not be negative");
  }
  *out = *length;
  return Status::Ok();
}

}  // namespace

void AddSettingsOptions(CLI::App* command, SettingsArguments* arguments) {
  command->add_option("--label,-l", arguments->labels, "A label of the series; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("--retention", arguments->retention,
                      "Keep samples so long, counted back from the series' newest; 0: as the database says")
      ->type_name("DURATION");
  command->add_option("--duplicates", arguments->duplicates, "What a second sample at one time does")
      ->type_name("POLICY")
      ->check(CLI::IsMember({"default", "last", "first", "min", "max", "sum", "block"}));
  command->add_option("--ignore-time", arguments->ignore_time,
                      "Ignore a sample that is newer than the newest by at most this; with --ignore-value; 0: off")
      ->type_name("DURATION");
  command->add_option("--ignore-value", arguments->ignore_value, "... and different from it by at most this")
      ->type_name("X");
  command->add_option("--expiry", arguments->expiry, "Drop the series when nothing was written for so long; 0: never")
      ->type_name("DURATION");
}

Result<Labels> ParseLabels(const std::vector<std::string>& texts) {
  std::vector<Label> pairs;
  for (const std::string& text : texts) {
    TSDB_ASSIGN_OR_RETURN(Label label, ParseLabel(text));
    pairs.push_back(std::move(label));
  }
  Result<Labels> labels = Labels::FromPairs(std::move(pairs));
  if (!labels.ok()) {
    return labels.status().WithContext("--label");
  }
  return labels;
}

Result<SeriesChange> ParseChange(const SettingsArguments& arguments, TimeUnit unit) {
  SeriesChange change;
  if (!arguments.labels.empty()) {
    TSDB_ASSIGN_OR_RETURN(change.labels, ParseLabels(arguments.labels));
  }
  TSDB_RETURN_IF_ERROR(ParseLength(arguments.retention, "--retention", unit, &change.retention));
  TSDB_RETURN_IF_ERROR(ParseLength(arguments.ignore_time, "--ignore-time", unit, &change.ignore_max_time_diff));
  TSDB_RETURN_IF_ERROR(ParseLength(arguments.expiry, "--expiry", TimeUnit::kMilliseconds, &change.expiry));
  if (arguments.duplicates == "default") {
    change.duplicates.emplace();
  } else if (!arguments.duplicates.empty()) {
    TSDB_ASSIGN_OR_RETURN(const DuplicatePolicy policy, ParseDuplicatePolicy(arguments.duplicates));
    change.duplicates.emplace(policy);
  }
  if (!arguments.ignore_value.empty()) {
    const Result<double> value = ParseNumber(arguments.ignore_value);
    if (!value.ok()) {
      return value.status().WithContext("--ignore-value");
    }
    if (!(*value >= 0)) {
      return Status::InvalidArgument("--ignore-value " + arguments.ignore_value + ": must not be negative");
    }
    change.ignore_max_value_diff = *value;
  }
  return change;
}

Result<SeriesSettings> ParseSettings(const SettingsArguments& arguments, TimeUnit unit) {
  TSDB_ASSIGN_OR_RETURN(const SeriesChange change, ParseChange(arguments, unit));
  SeriesSettings settings;
  settings.retention = change.retention.value_or(0);
  settings.ignore_max_time_diff = change.ignore_max_time_diff.value_or(0);
  settings.ignore_max_value_diff = change.ignore_max_value_diff.value_or(0);
  settings.expiry = change.expiry.value_or(0);
  if (change.duplicates && *change.duplicates) {
    settings.duplicates = **change.duplicates;
    settings.has_duplicates = true;
  }
  return settings;
}

}  // namespace tsdb::cli
