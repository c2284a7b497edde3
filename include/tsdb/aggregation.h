// Aggregators and time buckets.
//
// Formulas. Let the samples of a bucket in time order be v1..vn; NaN values are left out by every aggregator except
// count of all (kCountAll), kCountNan, first and last.
//   count  number of values that are not NaN      min, max  smallest, largest value
//   sum    the exact sum of the stored doubles, rounded once (correctly rounded)
//   avg    that exact sum divided by count, rounded once
//   range  max - min                              first, last  value with the smallest, largest time
//   var.p  Σ(v - mean)² / n, two-pass             var.s  Σ(v - mean)² / (n - 1); NaN for n = 1
//   std.p, std.s  square roots of the variances
// A bucket without samples gives no row. A bucket whose values are all NaN gives NaN, and 0 for the counts.
// Sum rules: +Inf and -Inf together, or any NaN produced by them, give NaN; one infinity gives that infinity; a finite
// exact sum beyond the range of double gives an infinity of its sign. A sum of only negative zeros is -0.
//
// Buckets: start(t) = floor((t - align) / width) * width + align, floor towards minus infinity; a bucket is
// [start, start + width).
#pragma once

#include <cstdint>
#include <string_view>

#include "tsdb/types.h"

namespace tsdb {

enum class Aggregator : std::uint8_t {
  kAvg, kSum, kMin, kMax, kRange, kCount, kCountNan, kCountAll, kFirst, kLast, kStdP, kStdS, kVarP, kVarS,
};

/// "avg", "sum", "std.p", ...
std::string_view AggregatorName(Aggregator aggregator);
Result<Aggregator> ParseAggregator(std::string_view text);

/// Which time of a bucket labels its row.
enum class BucketLabel : std::uint8_t { kStart, kMid, kEnd };

struct BucketSpec {
  /// Width in units of the database, > 0.
  std::int64_t width = 0;
  /// Buckets start at align + k * width.
  Timestamp align = 0;
  BucketLabel label = BucketLabel::kStart;
};

/// Start of the bucket that holds `time`; saturates at kTimestampMin. A width of 0 or less is one bucket over
/// everything.
Timestamp BucketStart(Timestamp time, const BucketSpec& spec);

}  // namespace tsdb
