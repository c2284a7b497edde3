// WideSum: the exact sum of any doubles, as one wide fixed-point number from 2^-1074 up; rounded once when asked.
//
//   limb i holds a signed multiple of 2^(32·i - 1088), with 31 bits of headroom for carries
//
// Source: the "long accumulator" of U. Kulisch (fixed-point register wide enough for every double).
//
// Thread safety: value type.
#pragma once

#include <array>
#include <cstdint>

namespace tsdb {

class WideSum {
 public:
  /// Adds a finite value.
  void Add(double value);
  void Add(const WideSum& other);
  /// Adds count · 2^1024, |count| <= 2^40.
  void AddOverflow(std::int64_t count);
  /// The exact sum rounded to nearest, ties to even; ±Inf when it is beyond the range of double. +0 for zero.
  double Round() const;
  /// The exact sum divided by n > 0, rounded once.
  double RoundQuotient(std::uint64_t n) const;
  /// Takes the nearest multiple of 2^1024 out of the sum and returns how many that was; what is left rounds to a
  /// finite number.
  std::int64_t TakeOverflow();

 private:
  static constexpr int kLimbs = 70;         // 70 * 32 = 2240 bits ≥ 1088 + 1024 + 64 of headroom
  static constexpr int kLowestExponent = -1088;
  static constexpr int kOverflowLimb = 66;  // 2^1024

  /// Magnitude in base 2^32, least significant first; returns the sign (true: negative).
  bool Magnitude(std::array<std::uint32_t, kLimbs>* digits) const;
  void Normalize();

  std::array<std::int64_t, kLimbs> limbs_{};
  std::uint32_t adds_ = 0;  // since the last carry
};

}  // namespace tsdb
