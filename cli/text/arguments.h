// Arguments that several commands share: ranges, aggregators, labels. Every error is one line that names the option.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tsdb/aggregation.h"
#include "tsdb/labels.h"
#include "tsdb/result.h"
#include "tsdb/selector.h"
#include "tsdb/types.h"

namespace tsdb::cli {

struct RangeArguments {
  std::string from = "-";
  std::string to = "+";
  bool has_from() const { return from != "-"; }
  bool has_to() const { return to != "+"; }
};
/// Both ends included; kInvalidArgument also when `from` is after `to`.
Result<TimeRange> ParseRange(const RangeArguments& arguments, TimeUnit unit, Timestamp now);

struct BucketArguments {
  std::string width;                // a duration; empty: one bucket over the whole range
  std::string align;                // "start", "end", a time; empty: the epoch
  std::string label_at = "start";   // "start", "mid", "end"
};
/// `start` and `end` are the ends of the range; each must have been given.
Result<BucketSpec> ParseBucket(const BucketArguments& arguments, const RangeArguments& range_arguments,
                               const TimeRange& range, TimeUnit unit, Timestamp now);

/// "avg,max" -> both, in this order.
Result<std::vector<Aggregation>> ParseAggregators(std::string_view list);

/// "k=v", split at the first '='.
Result<Label> ParseLabel(std::string_view text);

/// A selector, or the one series of `key` when has_key. Exactly one of the two must be given unless `all_by_default`,
/// which makes `{}` of neither.
struct SeriesArguments {
  std::string selector;
  std::string key;
  bool has_key = false;
};
Result<Selector> ParseSeries(const SeriesArguments& arguments, bool all_by_default);

/// "a,b" -> "a", "b"; an empty text is one empty part.
std::vector<std::string> SplitList(std::string_view list);
/// A decimal number, "NaN", "inf", "+Inf", "-Inf" …; the whole text, whatever the locale.
Result<double> ParseNumber(std::string_view text);
/// Bytes: an integer with B, kB, MB, GB, TB (1000) or KiB, MiB, GiB, TiB (1024), or without a unit; "1.5GiB".
Result<std::uint64_t> ParseByteSize(std::string_view text);

/// The wall clock in `unit`.
Timestamp WallClock(TimeUnit unit);

}  // namespace tsdb::cli
