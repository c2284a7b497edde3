// What the encoder and the decoder of a chunk's statistics share; docs/format/chunk-file.md, "Statistics".
//
// Thread safety: constants, values and pure functions.
#pragma once

#include <bit>
#include <cstdint>

#include "chunk/bit_stream.h"
#include "chunk/chunk_statistics.h"
#include "chunk/column_layout.h"
#include "chunk/decimal.h"
#include "chunk/sum_codec.h"

namespace tsdb::chunk {

inline constexpr unsigned kExponentBitsInStatistics = 5;
/// In place of the exponent: numbers are doubles.
inline constexpr unsigned kRawNumbers = 31;
inline constexpr unsigned kPageStepBits = 2;
/// Width of a width, 0 to 64.
inline constexpr unsigned kWidthBits = 7;

/// What is said of resets as a whole, and of those of one part.
inline constexpr unsigned kResetBits = 2;
enum Resets : unsigned { kNoResets = 0, kResetsFollow = 1, kResetsUnknown = 2 };
enum Reset : unsigned { kNoReset = 0, kDecimalReset = 1, kTermsReset = 2 };

/// Bits of the NaN count of so many values.
inline unsigned NanBits(std::uint32_t count) { return BitLength(count); }

/// Numbers as integers: decimals, or the bits of doubles in an order that rises with the value.
class NumberScale {
 public:
  /// `exponent` -1 when the numbers are no decimals.
  explicit NumberScale(int exponent) : exponent_(exponent) {}
  bool decimal() const { return exponent_ >= 0; }
  std::uint64_t ToInteger(double v) const {
    return decimal() ? static_cast<std::uint64_t>(MatchDecimal(v, exponent_).decimal) : OrderedBits(v);
  }
  /// False when the integer stands for no number.
  bool ToNumber(std::uint64_t integer, double* v) const {
    if (!decimal()) {
      *v = FromOrderedBits(integer);
      return *v == *v;
    }
    const auto d = static_cast<std::int64_t>(integer);
    *v = FromDecimal(d, exponent_);
    return d >= -kDecimalMax && d <= kDecimalMax;
  }

 private:
  const int exponent_;
};

/// What the sum of a part is written in relation to.
inline SummedNumbers NumbersOf(const ValueStatistics& part, const NumberScale& scale) {
  SummedNumbers numbers = {part.count - part.nan_count, part.min, part.max, 0, 0};
  if (scale.decimal()) {
    const std::uint64_t min = scale.ToInteger(part.min);
    numbers.decimal_min = static_cast<std::int64_t>(min);
    numbers.decimal_range = scale.ToInteger(part.max) - min;
  }
  return numbers;
}

}  // namespace tsdb::chunk
