// Bits and bounds of the column headers that encoders and decoders share; docs/format/encodings.md.
//
// Thread safety: constants and pure functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tsdb::chunk {

/// Pages of a column at most.
inline constexpr std::size_t kPagesMax = 8;

/// First byte of kDecimalBlocks and kBits: exponent in bits 0..4 (0 in kBits), order in bits 5..6, bit 7 zero.
inline constexpr unsigned kExponentMask = 0x1f;
inline constexpr unsigned kOrderShift = 5;
/// In place of the exponent, in kTokens only: the integers are ordered bits.
inline constexpr unsigned kExponentBits = 31;
/// Second byte.
inline constexpr unsigned kFlagDivisor = 1;
inline constexpr unsigned kFlagUlps = 2;
inline constexpr unsigned kFlagExceptions = 4;

/// First byte of kDeltaBlocks: mode in bits 0..1 (orders 0 to 2, or the grid), bit 2 a divisor.
inline constexpr unsigned kModeGrid = 3;
inline constexpr unsigned kModeMask = 3;
inline constexpr unsigned kTimeFlagDivisor = 4;
/// Fraction bits of the grid's step.
inline constexpr unsigned kGridFractionBits = 16;

/// Bits of a double as an integer that rises with the value (and tells every bit pattern apart), and back.
inline std::uint64_t OrderedBits(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return bits ^ ((bits >> 63) != 0 ? 0x7fffffffffffffff : 0);
}
inline double FromOrderedBits(std::uint64_t ordered) {
  return std::bit_cast<double>(ordered ^ ((ordered >> 63) != 0 ? 0x7fffffffffffffff : 0));
}

}  // namespace tsdb::chunk
