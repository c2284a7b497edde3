// Spread: count, mean and Σ(v - mean)² of numbers, in parts that may be put together.
//
// Of a part: m, the mean correctly rounded; then Σ(v - m) and Σ(v - m)² in one pass over lanes. The first corrects the
// second for what rounding m cost. Parts are merged by the distance of their means. Source: T. Chan, G. Golub,
// R. LeVeque, Updating formulae and a pairwise algorithm for computing sample variances (1979).
//
// Thread safety: value type.
#pragma once

#include <cstdint>
#include <span>

#include "base/exact_sum.h"

namespace tsdb::engine {

class Spread {
 public:
  /// Adds numbers (no NaN), at least one. `sum`: exactly of these.
  void Add(std::span<const double> numbers, const ExactSum& sum);
  /// Σ(v - mean)², NaN when an infinity was among them. 0 for one number.
  double Squares() const;
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0;         // mean_ + mean_rest_
  double mean_rest_ = 0;
  double squares_ = 0;      // times 2^(2 · scale_)
  int scale_ = 0;
  bool infinite_ = false;
};

}  // namespace tsdb::engine
