// Exact decimals: a double as an integer d and an exponent E with d / 10^E == v, bit for bit.
//
// The test is a division, which IEEE rounds correctly: every decimal of up to 15 digits passes with its own number of
// digits, without a search. Near misses (6.0820000000000025, the sum of exact decimals) lie a few units in the last
// place away from d / 10^E.
//
// The source files that use this are compiled without contraction of a·b + c; the decoders depend only on division,
// conversion and exact sums, which contraction cannot change.
//
// Thread safety: pure functions.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tsdb::chunk {

/// Largest exponent of a decimal.
inline constexpr int kDecimalExponentMax = 17;
/// |d| of a decimal is at most this: 2^51.
inline constexpr std::int64_t kDecimalMax = std::int64_t{1} << 51;

inline constexpr std::array<double, 18> kPowersOfTen = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,
                                                        1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17};

/// 2^52 + 2^51: a double with |s| <= 2^51 added to it is rounded to an integer, which then stands in its low bits.
inline constexpr double kIntegerMagic = 6755399441055744.0;
inline constexpr std::uint64_t kIntegerMagicBits = 0x4338000000000000;
static_assert(std::bit_cast<std::uint64_t>(kIntegerMagic) == kIntegerMagicBits);

/// d as a double; exact for |d| <= 2^51 (any other d gives some double, the same on every machine).
inline double IntegerToDouble(std::int64_t d) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(d) + kIntegerMagicBits) - kIntegerMagic;
}

/// d / 10^exponent.
inline double FromDecimal(std::int64_t d, int exponent) {
  return IntegerToDouble(d) / kPowersOfTen[static_cast<std::size_t>(exponent)];
}

/// How far `value` is from the nearest decimal of an exponent.
struct DecimalMatch {
  std::int64_t decimal = 0;
  /// Bits of the value minus bits of the decimal: 0 when exact. A distance in units in the last place when the signs
  /// are equal.
  std::int64_t ulps = 0;
  /// False for NaN, infinities and |value · 10^exponent| >= 2^51; the rest is then without meaning.
  bool in_range = false;

  bool exact() const { return in_range && ulps == 0; }
};

inline DecimalMatch MatchDecimal(double value, int exponent) {
  const double power = kPowersOfTen[static_cast<std::size_t>(exponent)];
  const double scaled = value * power;
  DecimalMatch match;
  match.in_range = std::fabs(scaled) < static_cast<double>(kDecimalMax);
  const double shifted = scaled + kIntegerMagic;
  match.decimal = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(shifted) - kIntegerMagicBits);
  const double back = (shifted - kIntegerMagic) / power;
  match.ulps = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(value) - std::bit_cast<std::uint64_t>(back));
  return match;
}

/// Smallest exponent from `from` on at which `value` is an exact decimal; -1 when there is none.
int ExactExponent(double value, int from = 0);

}  // namespace tsdb::chunk
