#include "base/exact_sum.h"

#include <cmath>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tsdb {
namespace {

struct TwoDoubles {
  double sum;
  double error;
};

/// sum + error == a + b exactly (no overflow).
inline TwoDoubles TwoSum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

/// A sum as two doubles, and the absolute values of what they could not hold.
struct PairSum {
  double high;
  double low;
  double lost;
};

inline void AddTo(double value, PairSum* sum) {
  const TwoDoubles first = TwoSum(sum->high, value);
  const TwoDoubles second = TwoSum(sum->low, first.error);
  sum->high = first.sum;
  sum->low = second.sum;
  sum->lost += std::fabs(second.error);
}

inline void AddTo(const PairSum& other, PairSum* sum) {
  AddTo(other.high, sum);
  const TwoDoubles low = TwoSum(sum->low, other.low);
  sum->low = low.sum;
  sum->lost += std::fabs(low.error) + other.lost;
}

constexpr std::size_t kLanes = 8;
/// Fewer values are added one by one.
constexpr std::size_t kBlocksFrom = 4 * kLanes;

/// Independent lanes, so that the processor works on several additions at a time. Adds as many values as fill the
/// lanes, and says how many.
std::size_t AddBlocksScalar(std::span<const double> values, PairSum* sum) {
  PairSum lanes[kLanes];
  for (std::size_t k = 0; k < kLanes; ++k) {
    lanes[k] = {values[k], 0, 0};
  }
  std::size_t i = kLanes;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      AddTo(values[i + k], &lanes[k]);
    }
  }
  for (const PairSum& lane : lanes) {
    AddTo(lane, sum);
  }
  return i;
}

#if defined(__x86_64__)

/// Four lanes.
struct PairSum4 {
  __m256d high;
  __m256d low;
  __m256d lost;
};

__attribute__((target("avx2"), always_inline)) inline void AddTo4(__m256d value, PairSum4* sum) {
  const __m256d high = _mm256_add_pd(sum->high, value);
  const __m256d value_part = _mm256_sub_pd(high, sum->high);
  const __m256d error = _mm256_add_pd(_mm256_sub_pd(sum->high, _mm256_sub_pd(high, value_part)),
                                      _mm256_sub_pd(value, value_part));
  const __m256d low = _mm256_add_pd(sum->low, error);
  const __m256d error_part = _mm256_sub_pd(low, sum->low);
  const __m256d lost = _mm256_add_pd(_mm256_sub_pd(sum->low, _mm256_sub_pd(low, error_part)),
                                     _mm256_sub_pd(error, error_part));
  sum->high = high;
  sum->low = low;
  sum->lost = _mm256_or_pd(sum->lost, lost);
}

__attribute__((target("avx2"))) std::size_t AddBlocksAvx2(std::span<const double> values, PairSum* sum) {
  PairSum4 a = {_mm256_loadu_pd(values.data()), _mm256_setzero_pd(), _mm256_setzero_pd()};
  PairSum4 b = {_mm256_loadu_pd(values.data() + 4), _mm256_setzero_pd(), _mm256_setzero_pd()};
  std::size_t i = kLanes;
  for (; i + kLanes <= values.size(); i += kLanes) {
    AddTo4(_mm256_loadu_pd(values.data() + i), &a);
    AddTo4(_mm256_loadu_pd(values.data() + i + 4), &b);
  }
  // b into a, then the lanes one by one. Bits OR-ed together are 0 only when each number was ±0.
  AddTo4(b.high, &a);
  PairSum4 lows = {a.low, _mm256_setzero_pd(), _mm256_setzero_pd()};
  AddTo4(b.low, &lows);
  const __m256d lost = _mm256_or_pd(_mm256_or_pd(a.lost, b.lost), _mm256_or_pd(lows.low, lows.lost));
  double highs[4];
  double low[4];
  double losts[4];
  _mm256_storeu_pd(highs, a.high);
  _mm256_storeu_pd(low, lows.high);
  _mm256_storeu_pd(losts, _mm256_andnot_pd(_mm256_set1_pd(-0.0), lost));
  PairSum left = {highs[0], low[0], losts[0]};
  PairSum right = {highs[2], low[2], losts[2]};
  AddTo(PairSum{highs[1], low[1], losts[1]}, &left);
  AddTo(PairSum{highs[3], low[3], losts[3]}, &right);
  AddTo(right, &left);
  AddTo(left, sum);
  return i;
}

#endif

std::size_t AddBlocks(std::span<const double> values, PairSum* sum) {
  if (values.size() < kBlocksFrom) {
    return 0;
  }
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) {
    return AddBlocksAvx2(values, sum);
  }
#endif
  return AddBlocksScalar(values, sum);
}

}  // namespace

void ExactSum::Reset() { *this = ExactSum(); }

bool ExactSum::TryAdd(std::span<const double> values) {
  if (wide_ != nullptr) {
    return false;
  }
  PairSum sum = {high_, low_, 0};
  const std::size_t done = AddBlocks(values, &sum);
  for (std::size_t i = done; i < values.size(); ++i) {
    AddTo(values[i], &sum);
  }
  // What was lost is 0 or, behind a NaN or an infinity, not equal to it.
  if (!(sum.lost == 0) || !std::isfinite(sum.high) || !std::isfinite(sum.low)) {
    return false;
  }
  high_ = sum.high;
  low_ = sum.low;
  return true;
}

void ExactSum::Widen() {
  if (wide_ == nullptr) {
    wide_ = std::make_unique<WideSum>();
    wide_->Add(high_);
    wide_->Add(low_);
  }
}

void ExactSum::AddWide(std::span<const double> values) {
  Widen();
  for (const double value : values) {
    if (std::isfinite(value)) {
      wide_->Add(value);
    } else if (std::isinf(value)) {
      (value > 0 ? positive_infinity_ : negative_infinity_) = true;
    }
  }
}

void ExactSum::Add(std::span<const double> values) {
  if (values.empty()) {
    return;
  }
  if (!TryAdd(values)) {
    AddWide(values);
  }
}

void ExactSum::Add(const ExactSum& other) {
  if (other.wide_ != nullptr) {
    Widen();
    wide_->Add(*other.wide_);
    positive_infinity_ |= other.positive_infinity_;
    negative_infinity_ |= other.negative_infinity_;
    return;
  }
  // A low part of +0 is left out: it would make a +0 of a sum of -0.
  const double parts[] = {other.high_, other.low_};
  Add(std::span(parts).first(other.low_ == 0 ? 1 : 2));
}

SumTerms ExactSum::Terms() const {
  SumTerms result;
  if (wide_ == nullptr) {
    const TwoDoubles sum = TwoSum(high_, low_);
    if (std::isfinite(sum.sum)) {
      if (sum.sum != 0) {
        result.terms.push_back(sum.sum);
      }
      if (sum.error != 0) {
        result.terms.push_back(sum.error);
      }
      return result;
    }
  }
  result.positive_infinity = positive_infinity_;
  result.negative_infinity = negative_infinity_;
  WideSum rest;
  if (wide_ != nullptr) {
    rest = *wide_;
  } else {
    rest.Add(high_);
    rest.Add(low_);
  }
  if (std::isinf(rest.Round())) {
    result.overflow = rest.TakeOverflow();
  }
  for (double term = rest.Round(); term != 0; term = rest.Round()) {
    result.terms.push_back(term);
    rest.Add(-term);
  }
  return result;
}

ExactSum::ExactSum(const SumTerms& terms) {
  if (terms.overflow != 0 || terms.positive_infinity || terms.negative_infinity) {
    Widen();
    wide_->AddOverflow(terms.overflow);
    positive_infinity_ = terms.positive_infinity;
    negative_infinity_ = terms.negative_infinity;
  }
  Add(terms.terms);
  if (terms.terms.empty()) {
    Add(0.0);
  }
}

ExactSum::ExactSum(const ExactSum& other)
    : high_(other.high_),
      low_(other.low_),
      positive_infinity_(other.positive_infinity_),
      negative_infinity_(other.negative_infinity_),
      wide_(other.wide_ == nullptr ? nullptr : std::make_unique<WideSum>(*other.wide_)) {}

ExactSum& ExactSum::operator=(const ExactSum& other) {
  if (this != &other) {
    *this = ExactSum(other);
  }
  return *this;
}

double ExactSum::Special(bool* finite) const {
  *finite = !positive_infinity_ && !negative_infinity_;
  if (positive_infinity_ && negative_infinity_) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return positive_infinity_ ? infinity : -infinity;
}

double ExactSum::Sum() const {
  if (wide_ == nullptr) {
    return low_ == 0 ? high_ : high_ + low_;
  }
  bool finite = false;
  const double special = Special(&finite);
  return finite ? wide_->Round() : special;
}

double ExactSum::Mean(std::uint64_t n) const {
  if (wide_ != nullptr) {
    bool finite = false;
    const double special = Special(&finite);
    return finite ? wide_->RoundQuotient(n) : special;
  }
  const auto divisor = static_cast<double>(n);
  if (low_ == 0 && n <= (1ull << 53)) {
    return high_ / divisor;  // one rounding
  }
  // quotient + correction is the exact value up to a tiny relative error of the correction; unless that error could
  // move the rounding, the rounded sum of the two is the answer.
  const double quotient = high_ / divisor;
  const double remainder = std::fma(-quotient, divisor, high_);
  const double correction = (remainder + low_) / divisor;
  const TwoDoubles result = TwoSum(quotient, correction);
  const double away = std::nextafter(result.sum, std::copysign(std::numeric_limits<double>::infinity(), result.error));
  const double half_step = std::fabs(away - result.sum) / 2;
  const bool normal = std::fabs(result.sum) > 1e-290 && std::fabs(result.sum) < 1e290 && n <= (1ull << 53);
  if (normal && std::fabs(std::fabs(result.error) - half_step) > std::fabs(correction) * 0x1p-48) {
    return result.sum;
  }
  WideSum wide;
  wide.Add(high_);
  wide.Add(low_);
  return wide.RoundQuotient(n);
}

}  // namespace tsdb
