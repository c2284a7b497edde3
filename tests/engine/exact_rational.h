// Exact arithmetic on doubles for tests: sums and variances as fractions of whole numbers.
//
// Slow and simple; the oracle for engine/query.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace tsdb::engine {

using Rational = boost::multiprecision::cpp_rational;
using BigInteger = boost::multiprecision::cpp_int;

inline Rational ExactOf(double value) {
  if (value == 0) {
    return 0;
  }
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  exponent -= 53;
  const BigInteger power = BigInteger(1) << (exponent < 0 ? -exponent : exponent);
  return exponent < 0 ? Rational(BigInteger(mantissa), power) : Rational(BigInteger(mantissa) * power);
}

inline Rational ExactSumOf(std::span<const double> values) {
  Rational sum = 0;
  for (const double value : values) {
    sum += ExactOf(value);
  }
  return sum;
}

/// True when `rounded` is the double nearest to `exact` (ties to even; beyond the largest double: infinity).
inline bool IsNearest(double rounded, const Rational& exact) {
  const double largest = std::numeric_limits<double>::max();
  if (std::isinf(rounded)) {
    const Rational bound = ExactOf(largest) + ExactOf(std::ldexp(1.0, 970));
    return rounded > 0 ? exact >= bound : exact <= -bound;
  }
  const Rational distance = abs(exact - ExactOf(rounded));
  for (const double direction : {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()}) {
    const double neighbour = std::nextafter(rounded, direction);
    // Beyond the largest double the next step would be 2^1024.
    const Rational beyond = Rational(BigInteger(1) << 1024) * (neighbour > 0 ? 1 : -1);
    const Rational position = std::isinf(neighbour) ? beyond : ExactOf(neighbour);
    const Rational other = abs(exact - position);
    if (other < distance) {
      return false;
    }
    if (other == distance && distance != 0 && (std::bit_cast<std::uint64_t>(rounded) & 1) != 0) {
      return false;
    }
  }
  return true;
}

/// Σ(v - mean)² / n exactly.
inline Rational ExactVariance(std::span<const double> values) {
  const Rational n = static_cast<std::int64_t>(values.size());
  const Rational mean = ExactSumOf(values) / n;
  Rational squares = 0;
  for (const double value : values) {
    const Rational d = ExactOf(value) - mean;
    squares += d * d;
  }
  return squares / n;
}

}  // namespace tsdb::engine
