#include "base/exact_sum.h"

#include <cmath>
#include <limits>

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

}  // namespace

void ExactSum::Reset() { *this = ExactSum(); }

bool ExactSum::TryAdd(std::span<const double> values) {
  constexpr std::size_t kLanes = 8;
  double high = high_;
  double low = low_;
  double lost = 0;  // anything but zero (or a NaN): not exact
  const std::size_t n = values.size();
  std::size_t i = 0;
  if (n >= 4 * kLanes) {
    // Independent lanes, so that the processor works on several additions at a time.
    double highs[kLanes];
    double lows[kLanes] = {};
    double errors[kLanes] = {};
    for (std::size_t k = 0; k < kLanes; ++k) {
      highs[k] = values[k];
    }
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
      for (std::size_t k = 0; k < kLanes; ++k) {
        const TwoDoubles first = TwoSum(highs[k], values[i + k]);
        const TwoDoubles second = TwoSum(lows[k], first.error);
        highs[k] = first.sum;
        lows[k] = second.sum;
        errors[k] += std::fabs(second.error);
      }
    }
    for (std::size_t k = 0; k < kLanes; ++k) {
      const TwoDoubles first = TwoSum(high, highs[k]);
      const TwoDoubles second = TwoSum(low, first.error);
      const TwoDoubles third = TwoSum(second.sum, lows[k]);
      high = first.sum;
      low = third.sum;
      lost += std::fabs(second.error) + std::fabs(third.error) + errors[k];
    }
  }
  for (; i < n; ++i) {
    const TwoDoubles first = TwoSum(high, values[i]);
    const TwoDoubles second = TwoSum(low, first.error);
    high = first.sum;
    low = second.sum;
    lost += std::fabs(second.error);
  }
  if (!(lost == 0) || !std::isfinite(high) || !std::isfinite(low)) {
    return false;
  }
  high_ = high;
  low_ = low;
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
  if (wide_ != nullptr || !TryAdd(values)) {
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
