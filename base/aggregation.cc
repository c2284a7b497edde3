#include "tsdb/aggregation.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

#include <fmt/format.h>

namespace tsdb {

namespace {

__extension__ using Int128 = __int128;

// In the order of the enums.
constexpr std::array<std::string_view, 18> kNames = {
    "avg",   "sum",  "min",   "max",   "range", "count", "countnan", "countall", "first",
    "last",  "std.p", "std.s", "var.p", "var.s", "twa",   "increase", "rate",     "quantile"};
constexpr std::array<std::string_view, 5> kCalendarNames = {"none", "day", "week", "month", "year"};
constexpr std::array<std::string_view, 6> kFillNames = {"none", "empty", "null", "previous", "linear", "constant"};

template <typename Names, typename Enum>
std::string_view NameOf(const Names& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names[index] : std::string_view("unknown");
}

}  // namespace

std::string_view AggregatorName(Aggregator aggregator) { return NameOf(kNames, aggregator); }
std::string_view CalendarUnitName(CalendarUnit unit) { return NameOf(kCalendarNames, unit); }
std::string_view FillName(Fill fill) { return NameOf(kFillNames, fill); }

Result<Aggregator> ParseAggregator(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) {
      return static_cast<Aggregator>(i);
    }
  }
  return Status::InvalidArgument(
      fmt::format("'{}' is not an aggregator; use one of: {}", text, fmt::join(kNames, " ")));
}

std::string AggregationName(const Aggregation& aggregation) {
  if (aggregation.aggregator != Aggregator::kQuantile) {
    return std::string(AggregatorName(aggregation.aggregator));
  }
  return fmt::format("quantile({})", aggregation.q);
}

Result<Aggregation> ParseAggregation(std::string_view text) {
  constexpr std::string_view kQuantileOpen = "quantile(";
  if (!text.starts_with(kQuantileOpen)) {
    TSDB_ASSIGN_OR_RETURN(const Aggregator aggregator, ParseAggregator(text));
    if (aggregator == Aggregator::kQuantile) {
      return Status::InvalidArgument("quantile needs its parameter, a number from 0 to 1: quantile(0.99)");
    }
    return Aggregation(aggregator);
  }
  const std::string_view number = text.substr(kQuantileOpen.size());
  double q = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), q);
  if (error != std::errc() || number.substr(static_cast<std::size_t>(end - number.data())) != ")" ||
      !(q >= 0 && q <= 1)) {
    return Status::InvalidArgument(
        fmt::format("'{}': the parameter of quantile is a number from 0 to 1, as in quantile(0.99)", text));
  }
  return Aggregation::Quantile(q);
}

Result<CalendarUnit> ParseCalendarUnit(std::string_view text) {
  for (std::size_t i = 1; i < kCalendarNames.size(); ++i) {
    if (kCalendarNames[i] == text) {
      return static_cast<CalendarUnit>(i);
    }
  }
  return Status::InvalidArgument(fmt::format("'{}' is not a unit of the calendar; use one of: day week month year",
                                             text));
}

Timestamp BucketStart(Timestamp time, const BucketSpec& spec) {
  if (spec.width <= 0) {
    return kTimestampMin;  // one bucket over everything
  }
  std::int64_t distance = 0;
  std::int64_t inside = 0;  // time - start, 0 <= inside < width
  if (!__builtin_sub_overflow(time, spec.align, &distance)) {
    inside = distance % spec.width;
  } else {
    inside = static_cast<std::int64_t>((static_cast<Int128>(time) - spec.align) % spec.width);
  }
  if (inside < 0) {
    inside += spec.width;
  }
  Timestamp start = 0;
  if (__builtin_sub_overflow(time, inside, &start) || start < kTimestampMin) {
    return kTimestampMin;
  }
  return start;
}

}  // namespace tsdb
