// BucketState: what a bucket knows of its samples so far; gives the value of every aggregator. Formulas: aggregation.h.
//
// Samples come in parts, in order of time: decoded ones, or the statistics of a chunk or page. Only what the asked
// aggregators need is computed (BucketNeeds).
//
// Thread safety: value type.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/exact_sum.h"
#include "chunk/chunk_statistics.h"
#include "chunk/columns.h"
#include "engine/query/spread.h"
#include "tsdb/aggregation.h"
#include "tsdb/types.h"

namespace tsdb::engine {

/// Which parts of the state the asked aggregators use.
struct BucketNeeds {
  bool extremes = false;
  bool sum = false;
  bool variance = false;
  bool edges = false;     // first, last
  bool area = false;      // twa
  bool increase = false;  // increase, rate
  bool values = false;    // quantile
  BucketNeeds() = default;
  explicit BucketNeeds(std::span<const Aggregation> aggregators);
  /// The numbers before a bucket matter to it.
  bool neighbours() const { return area || increase; }
  /// Statistics can answer at all.
  bool in_statistics() const { return !variance && !values; }
};

/// A sample that is a number.
struct Number {
  Timestamp time = 0;
  double value = 0;
};

/// Value at `time` of the straight line from one number to a later one.
double Between(const Number& left, const Number& right, Timestamp time);

/// Of values that are no NaN, at least one: the one at rank q · (n - 1), straight between two. Reorders them.
double QuantileOf(std::span<double> values, double q);

/// `to - from` as a double; from <= to.
inline double Distance(Timestamp from, Timestamp to) {
  return static_cast<double>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from));
}

/// A part answered by statistics: a whole chunk, or a page of one.
struct StatisticsPart {
  const chunk::ValueStatistics* values = nullptr;
  /// Its chunk, when the part is the whole of it; for a page the edges it shares with its chunk.
  const chunk::ChunkStatistics* chunk = nullptr;
  bool begins_chunk = false;
  bool ends_chunk = false;
  bool even = false;            // times at even steps
  bool drop_nans = false;       // a filter refuses them
  Timestamp first = 0;          // first and last time; of a page that does not end its chunk a bound
  Timestamp last = 0;
};

class BucketState {
 public:
  /// Of an empty bucket. `before`: the last number before it. `begin`: where it begins, cut at the range; no value when
  /// the range is open there.
  void Start(const BucketNeeds& needs, const std::optional<Number>& before, std::optional<Timestamp> begin);
  /// Adds samples, in order of time; at least one. Their times may be left out unless needs.neighbours().
  void Add(chunk::ColumnsView samples, const BucketNeeds& needs);
  void Add(const StatisticsPart& part, const BucketNeeds& needs);
  /// Adds values whose times do not matter (needs.area must be off).
  void AddValues(std::span<const double> values, const BucketNeeds& needs);

  bool empty() const { return count_all_ == 0; }
  bool has_numbers() const { return count_ != 0; }
  /// Needs area, increase: the last number so far, in or before the bucket.
  const std::optional<Number>& last_number() const { return number_; }

  struct Ending {
    std::optional<Number> after;      // the first number behind the bucket
    std::optional<Timestamp> end;     // of the bucket, cut at the range; none: the range is open there
    double seconds = 0;               // of the bucket, for rate
  };
  /// Reorders the kept values.
  double Finish(const Aggregation& aggregation, const Ending& ending);
  double LastValue() const { return last_; }

 private:
  void AddNumbers(std::span<const double> numbers, const Timestamp* times, const BucketNeeds& needs, ExactSum* sum);
  void AddExtremes(std::span<const double> numbers);
  void MergeExtremes(double low, double high);
  void AddArea(const Timestamp* times, std::span<const double> numbers);
  void AddIncrease(std::span<const double> numbers);
  void EnterArea(const Number& first);
  void EnterIncrease(double first);
  double TimeWeighted(const Ending& ending) const;
  double Increase() const;
  double Variance(std::uint64_t divisor) const;

  std::uint64_t count_ = 0;      // not NaN
  std::uint64_t count_all_ = 0;
  double first_ = 0;
  double last_ = 0;
  double min_ = 0;
  double max_ = 0;
  ExactSum sum_;
  Spread spread_;
  std::vector<double> values_;
  std::optional<Number> number_;
  std::optional<Timestamp> begin_;
  // twa
  double area_ = 0;
  Timestamp area_from_ = 0;
  // increase = number_ - base_ + resets_
  double base_ = 0;
  ExactSum resets_;
};

}  // namespace tsdb::engine
