#include "chunk/value_integers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "base/coding.h"
#include "chunk/codec_kernels.h"
#include "chunk/column_layout.h"
#include "chunk/decimal.h"
#include "chunk/integer_blocks.h"

namespace tsdb::chunk {
namespace {

/// Near misses up to this many units in the last place are decimals with a correction.
constexpr std::int64_t kUlpsMax = 64;
/// An exception costs a position and 8 bytes.
constexpr double kExceptionBits = 76;
constexpr double kBitsPerDigit = 3.33;

bool IsNear(const DecimalMatch& match) {
  return match.in_range && match.ulps >= -kUlpsMax && match.ulps <= kUlpsMax && (match.ulps == 0 || match.decimal != 0);
}

/// The smallest exponent that gives `value` exactly, or nearly with at most 13 digits.
int NeededExponent(double value) {
  for (int exponent = 0; exponent <= kDecimalExponentMax; ++exponent) {
    const DecimalMatch match = MatchDecimal(value, exponent);
    if (!match.in_range) {
      return -1;
    }
    if (match.ulps == 0 || (IsNear(match) && std::abs(match.decimal) < 10'000'000'000'000)) {
      return exponent;
    }
  }
  return -1;
}

/// The exponent that makes a sample of the values smallest, weighing digits against exceptions; -1 when more than a
/// quarter of it would be exceptions.
int ChooseExponent(std::span<const double> values) {
  constexpr std::size_t kSamples = 32;
  std::array<std::size_t, kDecimalExponentMax + 1> needed{};
  const std::size_t samples = std::min(kSamples, values.size());
  for (std::size_t k = 0; k < samples; ++k) {
    const int exponent = NeededExponent(values[k * values.size() / samples]);
    if (exponent >= 0) {
      ++needed[static_cast<std::size_t>(exponent)];
    }
  }
  int best = -1;
  double best_cost = 0;
  std::size_t covered = 0;
  for (std::size_t exponent = 0; exponent < needed.size(); ++exponent) {
    covered += needed[exponent];
    if (4 * covered < 3 * samples) {
      continue;
    }
    const double cost = kBitsPerDigit * static_cast<double>(exponent * samples) +
                        kExceptionBits * static_cast<double>(samples - covered);
    if (best < 0 || cost < best_cost) {
      best_cost = cost;
      best = static_cast<int>(exponent);
    }
  }
  return best;
}

void MatchDecimals(std::span<const double> values, int exponent, ValueIntegers* result) {
  const std::size_t n = values.size();
  result->exponent = exponent;
  result->integers.resize(n);
  std::vector<std::uint64_t> misses((n + 63) / 64);
  Kernels().match_decimals(values.data(), n, kPowersOfTen[static_cast<std::size_t>(exponent)],
                           reinterpret_cast<std::int64_t*>(result->integers.data()), misses.data());
  for (std::size_t word = 0; word < misses.size(); ++word) {
    for (std::uint64_t left = misses[word]; left != 0; left &= left - 1) {
      const std::size_t i = 64 * word + static_cast<std::size_t>(std::countr_zero(left));
      const DecimalMatch match = MatchDecimal(values[i], exponent);
      if (IsNear(match)) {
        result->ulps.resize(n);
        result->ulps[i] = static_cast<std::uint64_t>(match.ulps);
      } else {
        result->exceptions.push_back(static_cast<std::uint32_t>(i));
      }
    }
  }
  // Where an exception stands, the neighbour's integer costs least.
  std::size_t k = 0;
  while (k < result->exceptions.size() && result->exceptions[k] == k) {
    ++k;
  }
  const std::uint64_t first = k < n ? result->integers[k] : 0;
  for (const std::uint32_t i : result->exceptions) {
    result->integers[i] = i == 0 ? first : result->integers[i - 1];
  }
}

void PutExceptions(std::span<const double> values, std::span<const std::uint32_t> exceptions, std::string* out) {
  PutVarint(out, exceptions.size());
  std::uint32_t next = 0;
  for (const std::uint32_t i : exceptions) {
    PutVarint(out, i - next);
    next = i + 1;
  }
  for (const std::uint32_t i : exceptions) {
    PutFixed64(out, std::bit_cast<std::uint64_t>(values[i]));
  }
}

/// Differences between the integers must fit in 64 bits or `divisor` be a power of two.
void Divide(std::uint64_t divisor, ValueIntegers* column) {
  if (divisor <= 1) {
    return;
  }
  column->divisor = divisor;
  column->offset = column->integers[0];
  const std::uint64_t offset = column->offset;
  if (std::has_single_bit(divisor)) {
    const int shift = std::countr_zero(divisor);
    for (std::uint64_t& v : column->integers) {
      v = static_cast<std::uint64_t>(static_cast<std::int64_t>(v - offset) >> shift);
    }
  } else {
    for (std::uint64_t& v : column->integers) {
      v = static_cast<std::uint64_t>(static_cast<std::int64_t>(v - offset) / static_cast<std::int64_t>(divisor));
    }
  }
}

}  // namespace

bool ToDecimals(std::span<const double> values, ValueIntegers* result) {
  const int exponent = ChooseExponent(values);
  if (exponent < 0) {
    return false;
  }
  MatchDecimals(values, exponent, result);
  if (result->exceptions.size() > values.size() / 4) {
    return false;
  }
  Divide(CommonDivisor(result->integers), result);
  return true;
}

void ToBits(std::span<const double> values, ValueIntegers* result) {
  *result = {};
  result->integers.resize(values.size());
  std::transform(values.begin(), values.end(), result->integers.begin(), OrderedBits);
  // Differences of raw bits may wrap, so that only a power of two divides them for certain.
  const std::uint64_t divisor = CommonDivisor(result->integers);
  Divide(divisor & (0 - divisor), result);
}

unsigned FlagsOf(const ValueIntegers& column) {
  return (column.divisor > 1 ? kFlagDivisor : 0) | (column.ulps.empty() ? 0 : kFlagUlps) |
         (column.exceptions.empty() ? 0 : kFlagExceptions);
}

void PutDivisor(const ValueIntegers& column, std::string* out) {
  if (column.divisor > 1) {
    PutVarint(out, column.divisor);
    PutVarintSigned(out, static_cast<std::int64_t>(column.offset));
  }
}

void PutCorrections(std::span<const double> values, const ValueIntegers& column, std::string* out) {
  if (!column.ulps.empty()) {
    std::vector<std::uint64_t> ulps = column.ulps;
    EncodeIntegerBlocks(ulps, 0, out);
  }
  if (!column.exceptions.empty()) {
    PutExceptions(values, column.exceptions, out);
  }
}

}  // namespace tsdb::chunk
