#include "cli/text/arguments.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

#include "tsdb/time_text.h"

namespace tsdb::cli {

Result<TimeRange> ParseRange(const RangeArguments& arguments, TimeUnit unit, Timestamp now) {
  Result<Timestamp> from = ParseTime(arguments.from, unit, now);
  if (!from.ok()) {
    return from.status().WithContext("--from");
  }
  Result<Timestamp> to = ParseTime(arguments.to, unit, now);
  if (!to.ok()) {
    return to.status().WithContext("--to");
  }
  if (*from > *to) {
    return Status::InvalidArgument("--from " + arguments.from + " is after --to " + arguments.to + ": swap them");
  }
  return TimeRange{*from, *to};
}

Result<BucketSpec> ParseBucket(const BucketArguments& arguments, const RangeArguments& range_arguments,
                               const TimeRange& range, TimeUnit unit, Timestamp now) {
  BucketSpec spec;
  if (!arguments.width.empty()) {
    Result<std::int64_t> width = ParseDuration(arguments.width, unit);
    if (!width.ok()) {
      return width.status().WithContext("--bucket");
    }
    if (*width <= 0) {
      return Status::InvalidArgument("--bucket " + arguments.width + ": the width must be above zero");
    }
    spec.width = *width;
  }
  if (arguments.align == "start" || arguments.align == "end") {
    const bool start = arguments.align == "start";
    if (start ? !range_arguments.has_from() : !range_arguments.has_to()) {
      return Status::InvalidArgument("--align " + arguments.align + ": give " + (start ? "--from" : "--to") +
                                     " a time, so that there is something to align to");
    }
    spec.align = start ? range.from : range.to;
  } else if (!arguments.align.empty()) {
    Result<Timestamp> align = ParseTime(arguments.align, unit, now);
    if (!align.ok()) {
      return align.status().WithContext("--align");
    }
    spec.align = *align;
  }
  spec.label = arguments.label_at == "end"   ? BucketLabel::kEnd
               : arguments.label_at == "mid" ? BucketLabel::kMid
                                             : BucketLabel::kStart;
  return spec;
}

Result<std::vector<Aggregation>> ParseAggregators(std::string_view list) {
  std::vector<Aggregation> aggregators;
  while (true) {
    const std::size_t comma = list.find(',');
    Result<Aggregation> aggregator = ParseAggregation(list.substr(0, comma));
    if (!aggregator.ok()) {
      return aggregator.status().WithContext("--aggregate");
    }
    aggregators.push_back(*aggregator);
    if (comma == std::string_view::npos) {
      return aggregators;
    }
    list.remove_prefix(comma + 1);
  }
}

Result<Label> ParseLabel(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Status::InvalidArgument("--label " + std::string(text) + ": write it as name=value");
  }
  return Label{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

Result<Selector> ParseSeries(const SeriesArguments& arguments, bool all_by_default) {
  if (arguments.has_key) {
    if (!arguments.selector.empty()) {
      return Status::InvalidArgument("give a selector or --key, not both");
    }
    if (arguments.key.empty()) {
      return Status::InvalidArgument("--key: a key is not empty");
    }
    return Selector::ForKey(arguments.key);
  }
  if (arguments.selector.empty()) {
    if (all_by_default) {
      return Selector();
    }
    return Status::InvalidArgument("give a selector, or --key NAME for one series; '{}' selects every series");
  }
  Result<Selector> selector = Selector::Parse(arguments.selector);
  if (!selector.ok()) {
    return selector.status();
  }
  return selector;
}

std::vector<std::string> SplitList(std::string_view list) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) {
      return parts;
    }
    list.remove_prefix(comma + 1);
  }
}

Result<double> ParseNumber(std::string_view text) {
  const std::string_view digits = text.starts_with('+') && !text.starts_with("+-") ? text.substr(1) : text;
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return Status::InvalidArgument("'" + std::string(text) + "' is not a number");
  }
  return value;
}

Result<std::uint64_t> ParseByteSize(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"kB", 1e3}, {"KB", 1e3},
      {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},    {"B", 1}};
  std::string_view number = text;
  double unit = 1;
  for (const auto& [name, bytes] : kUnits) {
    if (text.ends_with(name)) {
      number = text.substr(0, text.size() - name.size());
      unit = bytes;
      break;
    }
  }
  const Result<double> count = ParseNumber(number);
  if (!count.ok() || !(*count >= 0) || *count * unit >= 0x1p63) {
    return Status::InvalidArgument("'" + std::string(text) + "' is not a number of bytes: write 500MB, 10GiB, 1048576");
  }
  return static_cast<std::uint64_t>(std::llround(*count * unit));
}

Timestamp WallClock(TimeUnit unit) {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
  return nanoseconds / (1'000'000'000 / UnitsPerSecond(unit));
}

}  // namespace tsdb::cli
