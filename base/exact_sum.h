// ExactSum: sum and mean of doubles, correctly rounded: the value of the exact sum, rounded once. Sums of parts can be
// added, written down and read back without a loss.
//
// The cheap way keeps the sum as two doubles (TwoSum twice, D. Knuth, TAOCP 2, 4.2.2) and notices the first error of
// the second level; from then on a WideSum takes everything. NaN values are left out by Add (the caller counts them);
// infinities are remembered. Rules for the result: tsdb/aggregation.h.
//
// Thread safety: value type.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/wide_sum.h"

namespace tsdb {

/// A sum in its one canonical form: overflow · 2^1024 + terms[0] + terms[1] + …, each term being what is left rounded
/// to a double. A zero has no terms (whatever its sign). Infinities stand beside it.
struct SumTerms {
  std::int64_t overflow = 0;  // 0 unless the sum is beyond the range of double
  std::vector<double> terms;
  bool positive_infinity = false;
  bool negative_infinity = false;
  friend bool operator==(const SumTerms&, const SumTerms&) = default;
};

class ExactSum {
 public:
  ExactSum() = default;
  ExactSum(const ExactSum& other);
  ExactSum& operator=(const ExactSum& other);
  ExactSum(ExactSum&&) = default;
  ExactSum& operator=(ExactSum&&) = default;
  /// `terms` need not be canonical; |overflow| <= 2^40.
  explicit ExactSum(const SumTerms& terms);

  /// Adds values; NaN is skipped.
  void Add(std::span<const double> values);
  /// The quick part of Add: false, without effect, when a NaN or an infinity is among the values or when two doubles
  /// cannot hold the sum exactly. True says that all values were finite.
  bool TryAdd(std::span<const double> values);
  void Add(double value) { Add({&value, 1}); }
  /// Adds everything that was added to `other`.
  void Add(const ExactSum& other);
  /// Sum of everything added; -0.0 when only negative zeros (or nothing) were.
  double Sum() const;
  /// Exact sum divided by n > 0, rounded once.
  double Mean(std::uint64_t n) const;
  SumTerms Terms() const;
  void Reset();

 private:
  void AddWide(std::span<const double> values);
  void Widen();
  /// NaN, +Inf or -Inf when infinities decide the result, else 0 and `*finite` true.
  double Special(bool* finite) const;

  double high_ = -0.0;  // sum = high_ + low_ exactly, unless wide_
  double low_ = 0.0;
  bool positive_infinity_ = false;
  bool negative_infinity_ = false;
  std::unique_ptr<WideSum> wide_;
};

/// True when both are the same exact number (zeros of either sign are equal).
inline bool SameSum(const ExactSum& a, const ExactSum& b) { return a.Terms() == b.Terms(); }

}  // namespace tsdb
