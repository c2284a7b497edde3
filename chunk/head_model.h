// The adaptive codes of a head chunk, shared by its encoder and decoder: both keep the same state and take the same
// steps after each sample.
//
//   symbol   u = zig-zag of (what came - what was expected)
//   Rice     q ones, a zero, k low bits; k from the running mean of u; q < 15
//   escape   15 ones, 2 bits of kind, what the kind says
//   flagged  when zeros are common: one bit 0 for u = 0, else 1 and the code of u - 1 (one more of the ones)
//
// These bits never leave the process (a snapshot is decoded by the same build), so they may change.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/coding.h"
#include "chunk/bit_stream.h"
#include "chunk/decimal.h"

namespace tsdb::chunk::head {

/// Quotients from here on are escaped.
inline constexpr unsigned kQuotientMax = 15;
inline constexpr std::uint64_t kEscapePrefix = (1u << kQuotientMax) - 1;

enum Escape : unsigned {
  kWide = 0,      // 6 bits length - 1, then u
  kExponent = 1,  // 5 bits new exponent, then the symbol at it
  kRaw = 2,       // 1 bit, 0: 64 bits of the value; 1: XOR codes from this sample on
  kUlps = 3,      // 4 bits ulps + 8, then the symbol
};

inline constexpr int kUlpsMin = -8;
inline constexpr int kUlpsMax = 7;
/// Decimals near this many and more have too many digits for corrections to pay.
inline constexpr std::int64_t kNearDecimalMax = std::int64_t{1} << 44;

/// In place of the first value's exponent: 64 raw bits follow.
inline constexpr unsigned kRawFirstValue = 31;

/// Sizes and frequencies of a column's symbols so far.
struct SymbolState {
  std::uint64_t mean;   // 16 times the running mean of u (of u - 1 where flagged)
  std::uint32_t zeros;  // running share of u = 0, of kZerosAll

  static constexpr std::uint32_t kZerosAll = 1u << 16;
  static constexpr std::uint32_t kFlagFrom = kZerosAll * 3 / 10;
  static constexpr std::uint64_t kSizeMax = std::uint64_t{1} << 40;

  /// From this share on, whether a symbol is zero is worth a branch; below, nobody can foretell it.
  static constexpr std::uint32_t kMostlyFrom = kZerosAll * 9 / 10;
  /// Symbols of a larger mean are escaped: with one more the code would be too long.
  static constexpr unsigned kRiceBitsMax = 40;

  bool flagged() const { return zeros > kFlagFrom; }
  bool mostly_zero() const { return zeros > kMostlyFrom; }
  bool too_wide() const { return mean >> (4 + kRiceBitsMax + 1) != 0; }
  unsigned rice_bits() const { return BitLength((mean >> 4) | 1) - 1; }

  /// After a symbol that was coded while `was_flagged`.
  void Update(std::uint64_t u, bool was_flagged) {
    const std::uint64_t flag = was_flagged ? 1 : 0;
    if (flag == 0 || u != 0) {
      mean += std::min(u - flag, kSizeMax) - (mean >> 4);
    }
    zeros += (u == 0 ? kZerosAll >> 4 : 0) - (zeros >> 4);
  }
  /// After `count` zeros while flagged.
  void UpdateZeros(std::uint32_t count) {
    for (; count > 0 && zeros >> 4 != kZerosAll >> 4; --count) {
      zeros += (kZerosAll >> 4) - (zeros >> 4);
    }
  }
};

inline constexpr SymbolState kFirstState = {64, 0};

/// Carries the last decimal and the sizes over to `digits` more digits.
inline void RaiseExponent(int digits, std::int64_t* decimal, SymbolState* state) {
  const auto factor = static_cast<std::uint64_t>(kPowersOfTen[static_cast<std::size_t>(digits)]);
  *decimal = static_cast<std::int64_t>(static_cast<std::uint64_t>(*decimal) * factor);
  const std::uint64_t most = SymbolState::kSizeMax << 4;
  state->mean = state->mean > most / factor ? most : state->mean * factor;
}

struct Code {
  std::uint64_t bits;
  unsigned width;
};

/// The code of `u` without escape; false when it needs one (nothing changed then). Without branches on what u is.
inline bool MakeCode(SymbolState* state, std::uint64_t u, Code* code) {
  const std::uint64_t zero = u == 0 ? 1 : 0;
  const std::uint64_t flagged = state->flagged() ? 1 : 0;
  const std::uint64_t flag = flagged & ~zero;
  const std::uint64_t keep = (flagged & zero) - 1;  // 0 for a flagged zero, which has no low bits
  const std::uint64_t mean = state->mean;
  const unsigned k = state->rice_bits();
  const std::uint64_t rest = u - flag;
  const std::uint64_t quotient = rest >> k;
  if (quotient >= kQuotientMax || state->too_wide()) [[unlikely]] {
    return false;
  }
  const auto ones = static_cast<unsigned>(quotient + flag);
  const std::uint64_t low = rest & ((std::uint64_t{1} << k) - 1);
  *code = {((2 * low + 1) << ones) - 1, ones + 1 + (k & static_cast<unsigned>(keep))};
  state->mean = mean + ((rest - (mean >> 4)) & keep);
  state->zeros += static_cast<std::uint32_t>(zero * (SymbolState::kZerosAll >> 4)) - (state->zeros >> 4);
  return true;
}

/// Where the next sample is expected, by two lines; the one that did better lately speaks. Grid: an exact step from a
/// fixed phase, so that a late sample does not shift the next (scrapes). Mean: the usual step from the last time,
/// whatever it was (loops that sleep, events). All arithmetic is modulo 2^64: a poor forecast costs bits, never
/// correctness.
class TimeForecast {
 public:
  void Start(std::uint64_t delta) {
    grid_step_ = delta;
    mean_step_ = delta << kFraction;
  }

  /// The grid is undisturbed: it expects the time rest_step() behind the last, and stays so while that comes.
  bool at_rest() const { return residual_ == 0 && on_grid(); }
  std::uint64_t rest_step() const { return grid_step_; }
  /// After `count` such times.
  void UpdateAtRest(std::uint32_t count) {
    last_off_ = count > 0 ? 0 : last_off_;
    for (; count > 0 && grid_bits_ >> 4 != 0; --count) {
      grid_bits_ = static_cast<std::uint16_t>(grid_bits_ - (grid_bits_ >> 4));
    }
  }

  /// Expected distance from the last time.
  std::uint64_t Next() const { return on_grid() ? GridNext() : MeanNext(); }

  /// After a time `delta` behind the one before, the sample number `count`.
  void Update(std::uint64_t delta, std::uint32_t count) {
    if (delta == rest_step() && at_rest()) {
      UpdateAtRest(1);
      return;
    }
    const std::uint64_t grid_error = delta - GridNext();
    grid_bits_ = Average(grid_bits_, grid_error);
    UpdateMean(delta, count);
    UpdateGrid(delta, grid_error);
  }

 private:
  static constexpr unsigned kFraction = 8;

  bool on_grid() const { return grid_bits_ <= mean_bits_; }
  std::uint64_t GridNext() const { return grid_step_ - static_cast<std::uint64_t>(std::int64_t{residual_}); }
  std::uint64_t MeanNext() const {
    return static_cast<std::uint64_t>((static_cast<std::int64_t>(mean_step_) + (1 << (kFraction - 1))) >> kFraction);
  }
  /// Running average of the bits of an error, in 1/256.
  static std::uint16_t Average(std::uint16_t average, std::uint64_t error) {
    const unsigned bits = BitLength(ZigZag(static_cast<std::int64_t>(error)));
    return static_cast<std::uint16_t>(average + (bits << 4) - (average >> 4));
  }

  void UpdateMean(std::uint64_t delta, std::uint32_t count) {
    const auto error = static_cast<std::int64_t>(delta - MeanNext());
    // One far-off time must not move the mean far.
    const std::int64_t most = std::int64_t{4} << std::min(mean_bits_ >> 8, 40);
    const std::int64_t pull = std::clamp(error, -most, most) << kFraction;
    mean_step_ += static_cast<std::uint64_t>(pull >> (count < 4 ? 1 : count < 8 ? 2 : count < 16 ? 3 : 4));
    mean_bits_ = Average(mean_bits_, static_cast<std::uint64_t>(error));
  }

  void UpdateGrid(std::uint64_t delta, std::uint64_t grid_error) {
    const auto off = static_cast<std::int64_t>(delta - grid_step_);
    const bool repeated = off == last_off_;
    const auto error = static_cast<std::int64_t>(grid_error);
    const std::int64_t far = static_cast<std::int64_t>(std::min<std::uint64_t>(grid_step_ / 2, 1u << 30));
    if (!repeated) {
      repeats_ = 0;
    } else if (off == 0) {
      residual_ = 0;  // the phase has moved for good
      return;
    } else if (++repeats_ >= 2) {
      grid_step_ = delta;
      residual_ = 0;
      last_off_ = 0;
      repeats_ = 0;
      return;
    }
    residual_ = error > -far && error < far ? static_cast<std::int32_t>(error) : 0;
    last_off_ = off >= -(1 << 30) && off <= 1 << 30 ? static_cast<std::int32_t>(off) : 1 << 30;
  }

  std::uint64_t grid_step_ = 0;
  std::uint64_t mean_step_ = 0;     // in 1/256 of a time unit
  std::int32_t residual_ = 0;       // the last time minus its place on the grid
  std::int32_t last_off_ = 0;       // the last distance minus grid_step_, when small
  std::uint16_t grid_bits_ = 0;     // what each line cost lately, in 1/256 of a bit
  std::uint16_t mean_bits_ = 64;
  std::uint8_t repeats_ = 0;        // of last_off_
};

}  // namespace tsdb::chunk::head
