#include "cli/series_options.h"

#include <charconv>

namespace tsdb::cli {

void AddSeriesOptions(CLI::App* command, SeriesArguments* arguments) {
  command->add_option("selector", arguments->selector, "Series: metric{label=\"v\",other=~\"a.*\"}; {} is every series")
      ->type_name("SELECTOR");
  command
      ->add_option_function<std::string>(
          "--key",
          [arguments](const std::string& key) {
            arguments->key = key;
            arguments->has_key = true;
          },
          "The one series with this key, instead of a selector")
      ->type_name("NAME");
}

void AddRangeOptions(CLI::App* command, RangeArguments* arguments) {
  command->add_option("--from", arguments->from, "First time: integer, RFC 3339, now-1h, or - for the oldest")
      ->type_name("T")
      ->default_str("-");
  command->add_option("--to", arguments->to, "Last time, included: as --from, or + for the newest")
      ->type_name("T")
      ->default_str("+");
}

void AddOutputOption(CLI::App* command, std::string* output, const std::vector<std::string>& choices) {
  *output = choices.front();
  command->add_option("--output,-o", *output, "Output format")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(choices))
      ->default_str(choices.front());
}

CLI::Validator WholeNumber(std::uint64_t min, std::uint64_t max) {
  const auto check = [min, max](const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good = error == std::errc() && end == text.data() + text.size() && min <= value && value <= max;
    return good ? std::string()
                : "'" + text + "' is not a whole number from " + std::to_string(min) +
                      (max == 1ull << 62 ? " up" : " to " + std::to_string(max));
  };
  return CLI::Validator(check, "");
}

}  // namespace tsdb::cli
