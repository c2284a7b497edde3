#include "chunk/statistics_codec.h"

#include <array>
#include <bit>
#include <cmath>
#include <optional>

namespace tsdb::chunk {

namespace {

// The first byte: exponent (or kRaw) in the low five bits, then two flags.
constexpr unsigned kExponentMask = 31;
constexpr unsigned kRaw = 31;
constexpr unsigned kExponentMax = 17;
constexpr unsigned kHasNans = 32;
constexpr unsigned kAllEqual = 64;

constexpr double kDecimalMax = 2251799813685248.0;  // 2^51
constexpr std::array<double, kExponentMax + 1> kPowers = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,
                                                          1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17};

bool SameBits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

/// The integer d for which d / 10^exponent is `v`, bit for bit.
std::optional<std::int64_t> ToDecimal(double v, unsigned exponent) {
  const double scaled = v * kPowers[exponent];
  if (!(std::abs(scaled) < kDecimalMax)) {
    return std::nullopt;
  }
  const auto d = static_cast<std::int64_t>(std::llrint(scaled));
  if (!SameBits(static_cast<double>(d) / kPowers[exponent], v)) {
    return std::nullopt;
  }
  return d;
}

struct Decimals {
  unsigned exponent = 0;
  std::array<std::int64_t, 4> numbers = {};
};

std::optional<Decimals> ToDecimals(const std::array<double, 4>& values) {
  Decimals result;
  for (; result.exponent <= kExponentMax; ++result.exponent) {
    bool fits = true;
    for (std::size_t i = 0; i < values.size() && fits; ++i) {
      const std::optional<std::int64_t> d = ToDecimal(values[i], result.exponent);
      fits = d.has_value();
      result.numbers[i] = d.value_or(0);
    }
    if (fits) {
      return result;
    }
  }
  return std::nullopt;
}

}  // namespace

void EncodeStatistics(const ChunkStatistics& s, std::string* out) {
  const std::array<double, 4> values = {s.first, s.last, s.min, s.max};
  const std::optional<Decimals> decimals = ToDecimals(values);
  const bool all_equal = SameBits(s.first, s.last) && SameBits(s.first, s.min) && SameBits(s.first, s.max);
  const unsigned head = (decimals ? decimals->exponent : kRaw) | (s.nan_count != 0 ? kHasNans : 0) |
                        (all_equal ? kAllEqual : 0);
  out->push_back(static_cast<char>(head));
  if (s.nan_count != 0) {
    PutVarint(out, s.nan_count);
  }
  const std::size_t stored = all_equal ? 1 : values.size();
  for (std::size_t i = 0; i < stored; ++i) {
    if (decimals) {
      PutVarintSigned(out, decimals->numbers[i] - (i == 0 ? 0 : decimals->numbers[0]));
    } else {
      PutFixed64(out, std::bit_cast<std::uint64_t>(values[i]));
    }
  }
}

bool DecodeStatistics(ByteReader* reader, ChunkStatistics* s) {
  std::uint8_t head = 0;
  if (!reader->ReadFixed(&head) || head >= kAllEqual * 2) {
    return false;
  }
  const unsigned exponent = head & kExponentMask;
  if (exponent > kExponentMax && exponent != kRaw) {
    return false;
  }
  std::uint64_t nan_count = 0;
  if ((head & kHasNans) != 0 && (!reader->ReadVarint(&nan_count) || nan_count == 0 || nan_count > kChunkSamplesMax)) {
    return false;
  }
  std::array<double, 4> values = {};
  const std::size_t stored = (head & kAllEqual) != 0 ? 1 : values.size();
  std::int64_t first = 0;
  for (std::size_t i = 0; i < stored; ++i) {
    if (exponent == kRaw) {
      if (!reader->ReadFixed(&values[i])) {
        return false;
      }
      continue;
    }
    std::int64_t number = 0;
    if (!reader->ReadVarintSigned(&number)) {
      return false;
    }
    // Unsigned: a sum that overflows can only come from foreign bytes, and is then a number too large.
    const auto d = static_cast<std::int64_t>(static_cast<std::uint64_t>(number) + static_cast<std::uint64_t>(first));
    if (!(std::abs(static_cast<double>(d)) < kDecimalMax)) {
      return false;
    }
    first = i == 0 ? d : first;
    values[i] = static_cast<double>(d) / kPowers[exponent];
  }
  for (std::size_t i = stored; i < values.size(); ++i) {
    values[i] = values[0];
  }
  s->nan_count = static_cast<std::uint32_t>(nan_count);
  s->first = values[0];
  s->last = values[1];
  s->min = values[2];
  s->max = values[3];
  return true;
}

}  // namespace tsdb::chunk
