#include "tsdb/aggregation.h"

#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace tsdb {

namespace {

__extension__ using Int128 = __int128;

// In the order of the enum.
constexpr std::array<std::string_view, 14> kNames = {"avg",      "sum",   "min",  "max",   "range", "count", "countnan",
                                                     "countall", "first", "last", "std.p", "std.s", "var.p", "var.s"};

}  // namespace

std::string_view AggregatorName(Aggregator aggregator) {
  const auto index = static_cast<std::size_t>(aggregator);
  return index < kNames.size() ? kNames[index] : std::string_view("unknown");
}

Result<Aggregator> ParseAggregator(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) {
      return static_cast<Aggregator>(i);
    }
  }
  return Status::InvalidArgument(
      fmt::format("'{}' is not an aggregator; use one of: {}", text, fmt::join(kNames, " ")));
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
