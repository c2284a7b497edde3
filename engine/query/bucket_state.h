// BucketState: what a bucket knows of its samples so far; gives the value of every aggregator. Formulas: aggregation.h.
//
// Only what the asked aggregators need is computed (BucketNeeds). Variances keep Σ(v - k) and Σ(v - k)² in
// double-double arithmetic around k, the mean of the first values, so that no cancellation eats the digits.
//
// Thread safety: value type.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/exact_sum.h"
#include "tsdb/aggregation.h"

namespace tsdb::engine {

/// Which parts of the state the asked aggregators use.
struct BucketNeeds {
  bool extremes = false;
  bool sum = false;
  bool variance = false;
  explicit BucketNeeds(std::span<const Aggregation> aggregators);
};

/// An unevaluated sum of two doubles.
struct DoubleDouble {
  double high = 0;
  double low = 0;
  void Add(double value);
  void AddProduct(double a, double b);
};

class BucketState {
 public:
  /// Adds consecutive samples' values; `values` is not empty.
  void Add(std::span<const double> values, const BucketNeeds& needs);
  bool empty() const { return count_all_ == 0; }
  double Finish(const Aggregation& aggregation) const;
  void Reset();

 private:
  /// `sum`: they are not in sum_ yet, and are wanted there.
  void AddNumbers(std::span<const double> numbers, const BucketNeeds& needs, bool sum);
  void AddExtremes(std::span<const double> numbers);
  void AddVariance(std::span<const double> numbers);
  double Variance(std::uint64_t divisor) const;

  std::uint64_t count_ = 0;      // not NaN
  std::uint64_t count_all_ = 0;
  double first_ = 0;
  double last_ = 0;
  double min_ = 0;
  double max_ = 0;
  ExactSum sum_;
  double shift_ = 0;             // k
  DoubleDouble shifted_sum_;
  DoubleDouble shifted_squares_;
  bool infinite_ = false;        // a variance with an infinity in it is NaN
};

}  // namespace tsdb::engine
