// Aggregators, time buckets, and what stands where a bucket is empty. All rules with examples: docs/queries.md.
//
// Let the samples of a bucket in time order be v1..vn. NaN values are left out by every aggregator but countall,
// countnan, first and last.
//   count  number of values that are not NaN      min, max  smallest, largest value
//   sum    the exact sum of the stored doubles, rounded once (correctly rounded)
//   avg    that exact sum divided by count, rounded once
//   range  max - min                              first, last  value with the smallest, largest time
//   var.p  Σ(v - mean)² / n, without cancellation var.s  Σ(v - mean)² / (n - 1); NaN for n = 1
//   std.p, std.s  square roots of the variances
//   twa    time-weighted average: area under the straight lines between the samples and to the neighbours outside
//          the bucket, divided by the time covered
//   increase  of a counter: what it rose by since the sample before the bucket; a fall counts as a new beginning at 0
//   rate   increase divided by the seconds of the bucket
//   quantile(q)  the value at rank q · (n - 1) of the sorted values, straight between two of them
// A sum with +Inf and -Inf is NaN; with one infinity it is that; a finite exact sum beyond the range of double is an
// infinity of its sign; a sum of only negative zeros is -0.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tsdb/types.h"

namespace tsdb {

enum class Aggregator : std::uint8_t {
  kAvg, kSum, kMin, kMax, kRange, kCount, kCountNan, kCountAll, kFirst, kLast, kStdP, kStdS, kVarP, kVarS, kTwa,
  kIncrease, kRate, kQuantile,
};

/// "avg", "sum", "std.p", ...; of kQuantile "quantile".
std::string_view AggregatorName(Aggregator aggregator);
/// By the name alone; kQuantile needs its parameter: ParseAggregation.
Result<Aggregator> ParseAggregator(std::string_view text);

/// An aggregator with its parameter.
struct Aggregation {
  Aggregator aggregator = Aggregator::kAvg;
  /// Of kQuantile: 0 to 1. Otherwise 0.
  double q = 0;

  constexpr Aggregation() = default;
  constexpr Aggregation(Aggregator a) : aggregator(a) {}  // NOLINT: an aggregator without parameter is one
  static constexpr Aggregation Quantile(double q) {
    Aggregation result(Aggregator::kQuantile);
    result.q = q;
    return result;
  }
  friend bool operator==(const Aggregation&, const Aggregation&) = default;
};

/// "avg", "quantile(0.99)".
std::string AggregationName(const Aggregation& aggregation);
Result<Aggregation> ParseAggregation(std::string_view text);

/// Which time of a bucket labels its row.
enum class BucketLabel : std::uint8_t {
  kStart,
  kMid,  // start + (end - start) / 2, rounded down
  kEnd,  // start of the next bucket
};

/// Buckets that follow the calendar of a time zone.
enum class CalendarUnit : std::uint8_t {
  kNone,
  kDay,
  kWeek,  // from Monday on
  kMonth,
  kYear,
};
/// "none", "day", "week", "month", "year".
std::string_view CalendarUnitName(CalendarUnit unit);
Result<CalendarUnit> ParseCalendarUnit(std::string_view text);

struct BucketSpec {
  /// Width in units of the database. 0: one bucket over the whole range. With a calendar: how many of its units make a
  /// bucket (0 is 1), counted from 1970-01-01, weeks from Monday 1970-01-05.
  std::int64_t width = 0;
  /// Buckets start at align + k * width. Not used with a calendar.
  Timestamp align = 0;
  BucketLabel label = BucketLabel::kStart;
  CalendarUnit calendar = CalendarUnit::kNone;
  /// Of the calendar: a name of the IANA time zone database as the system has it. Empty: UTC.
  std::string time_zone = {};
};

/// Start of the bucket of fixed width that holds `time`: floor((time - align) / width) * width + align, floor towards
/// minus infinity; saturates at kTimestampMin. A width of 0 or less is one bucket over everything.
Timestamp BucketStart(Timestamp time, const BucketSpec& spec);

/// What to give for buckets without samples. Such buckets exist only between the first and the last sample of the
/// series (those outside the range included), and inside the range.
enum class Fill : std::uint8_t {
  kNone,      // no row
  kEmpty,     // what the aggregator says of nothing: 0 for sum, increase, rate and the counts; last: the newest value
              // before the bucket; twa: from the straight line between the neighbours; NaN for all others
  kNull,      // NaN in every column
  kPrevious,  // the row before, also one before the range; NaN when there is none
  kLinear,    // straight between the rows before and behind, by the times of their rows; NaN at an open end
  kConstant,  // QuerySpec::fill_value
};
/// "none", "empty", "null", "previous", "linear", "constant".
std::string_view FillName(Fill fill);

}  // namespace tsdb
