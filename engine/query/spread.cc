#include "engine/query/spread.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tsdb::engine {
namespace {

struct Moments {
  double first = 0;   // Σ(v - m)
  double second = 0;  // Σ(v - m)²
};

constexpr std::size_t kLanes = 16;

/// `factor`, a power of two, keeps squares within the range of double.
template <bool kScaled>
inline __attribute__((always_inline)) Moments MomentsOf(std::span<const double> numbers, double m, double factor) {
  typedef double Four __attribute__((vector_size(32)));
  Four first[4] = {};
  Four second[4] = {};
  const Four mean = {m, m, m, m};
  const double* v = numbers.data();
  std::size_t i = 0;
  for (; i + kLanes <= numbers.size(); i += kLanes) {
    for (std::size_t k = 0; k < 4; ++k) {
      Four d;
      __builtin_memcpy(&d, v + i + 4 * k, sizeof d);
      d -= mean;
      if constexpr (kScaled) {
        d *= factor;
      }
      first[k] += d;
      second[k] += d * d;
    }
  }
  Four f = (first[0] + first[1]) + (first[2] + first[3]);
  Four s = (second[0] + second[1]) + (second[2] + second[3]);
  Moments result = {(f[0] + f[1]) + (f[2] + f[3]), (s[0] + s[1]) + (s[2] + s[3])};
  for (; i < numbers.size(); ++i) {
    const double d = (v[i] - m) * (kScaled ? factor : 1.0);
    result.first += d;
    result.second += d * d;
  }
  return result;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) Moments MomentsAvx2(std::span<const double> numbers, double m) {
  return MomentsOf<false>(numbers, m, 1);
}
#endif

Moments PlainMoments(std::span<const double> numbers, double m) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) {
    return MomentsAvx2(numbers, m);
  }
#endif
  return MomentsOf<false>(numbers, m, 1);
}

/// The exponent that brings the largest |v - m| near 1. 0 when there is no difference.
int ScaleOf(std::span<const double> numbers, double m) {
  double largest = 0;
  for (const double v : numbers) {
    // Halves do not overflow.
    largest = std::max(largest, std::fabs(v * 0.5 - m * 0.5));
  }
  return largest == 0 ? 0 : std::clamp(std::ilogb(largest) + 1, -1000, 1000);
}

}  // namespace

void Spread::Add(std::span<const double> numbers, const ExactSum& sum) {
  const auto n = static_cast<double>(numbers.size());
  const double m = sum.Mean(numbers.size());
  if (infinite_ || !std::isfinite(m)) {
    infinite_ = true;
    count_ += numbers.size();
    return;
  }
  Moments moments = PlainMoments(numbers, m);
  int scale = 0;
  if (!(moments.second < 1e300) || (moments.second < 1e-270 && numbers.size() > 1)) {
    scale = ScaleOf(numbers, m);
    moments = MomentsOf<true>(numbers, m, std::ldexp(1.0, -scale));
    if (!std::isfinite(moments.second)) {  // v - m itself is beyond the range of double
      moments = {};
      for (const double v : numbers) {
        const double d = std::ldexp(v, -scale) - std::ldexp(m, -scale);
        moments.first += d;
        moments.second += d * d;
      }
    }
  }
  double squares = std::max(0.0, moments.second - moments.first * (moments.first / n));
  const double rest = std::ldexp(moments.first / n, scale);
  if (count_ == 0) {
    count_ = numbers.size();
    mean_ = m;
    mean_rest_ = rest;
    squares_ = squares;
    scale_ = scale;
    return;
  }
  // The larger scale holds both parts and the distance of the means.
  const double before = static_cast<double>(count_);
  const double total = before + n;
  const double half_apart = (m * 0.5 - mean_ * 0.5) + (rest * 0.5 - mean_rest_ * 0.5);
  int common = std::max(scale, scale_);
  if (std::fabs(half_apart) > 1e140 || common != 0) {
    common = std::max(common, half_apart == 0 ? common : std::ilogb(half_apart) + 2);
  }
  const double apart = std::ldexp(half_apart, 1 - common);
  squares = std::ldexp(squares, 2 * (scale - common)) + std::ldexp(squares_, 2 * (scale_ - common)) +
            apart * apart * (before * (n / total));
  const double shift = std::ldexp(apart * (n / total), common);
  const double mean = mean_ + shift;
  const double part = mean - mean_;
  mean_rest_ += (mean_ - (mean - part)) + (shift - part);
  mean_ = mean;
  squares_ = squares;
  scale_ = common;
  count_ += numbers.size();
}

double Spread::Squares() const {
  if (infinite_) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return std::ldexp(squares_, 2 * scale_);
}

}  // namespace tsdb::engine
