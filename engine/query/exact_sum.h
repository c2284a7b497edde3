// ExactSum: sum and mean of doubles, correctly rounded: the value of the exact sum, rounded once.
//
// The cheap way keeps the sum as two doubles (TwoSum twice, D. Knuth, TAOCP 2, 4.2.2) and notices the first error of
// the second level; from then on a WideSum takes everything. NaN values are left out by Add (the caller counts them);
// infinities are remembered. Rules for the result: aggregation.h.
//
// Thread safety: value type.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/query/wide_sum.h"

namespace tsdb::engine {

class ExactSum {
 public:
  /// Adds values; NaN is skipped.
  void Add(std::span<const double> values);
  /// Sum of everything added; -0.0 when only negative zeros (or nothing) were.
  double Sum() const;
  /// Exact sum divided by n > 0, rounded once.
  double Mean(std::uint64_t n) const;
  void Reset();

 private:
  /// False, without effect, when the two doubles cannot hold the result exactly.
  bool TryAdd(std::span<const double> values);
  void AddWide(std::span<const double> values);
  /// NaN, +Inf or -Inf when infinities decide the result, else 0 and `*finite` true.
  double Special(bool* finite) const;

  double high_ = -0.0;  // sum = high_ + low_ exactly, unless wide_
  double low_ = 0.0;
  bool positive_infinity_ = false;
  bool negative_infinity_ = false;
  std::unique_ptr<WideSum> wide_;
};

}  // namespace tsdb::engine
