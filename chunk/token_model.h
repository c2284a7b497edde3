// Token model: how 64-bit integers become tokens and raw bits. A token stands for an interval of 2^bits integers from
// its base on; the raw bits say which of them it is. Two kinds of tokens:
//
//   graded      intervals that grow with the distance from a centre, both ways: 2^direct single integers on each side,
//               then 2^mantissa intervals per power of two
//   dictionary  single integers, ascending
//
// And how often each token occurs in each context, as levels on a logarithmic scale. Byte layout:
// docs/format/encodings.md, "Tokens".
//
// Thread safety: values and pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/coding.h"
#include "chunk/bit_stream.h"
#include "chunk/rans.h"

namespace tsdb::chunk {

inline constexpr unsigned kDirectBitsMax = 7;
inline constexpr unsigned kMantissaBitsMax = 2;

struct GradedTokens {
  unsigned direct = 0;    // <= kDirectBitsMax
  unsigned mantissa = 0;  // <= kMantissaBitsMax and <= direct
  std::uint64_t centre = 0;

  /// The step of an integer: 0 at the centre, positive above it, negative below.
  int StepOf(std::uint64_t integer) const {
    const auto distance = static_cast<std::int64_t>(integer - centre);
    const std::uint64_t size = distance < 0 ? 0 - integer + centre : integer - centre;
    int step = static_cast<int>(size);
    if (size >> direct != 0) {
      const unsigned exponent = BitLength(size) - 1;
      step = static_cast<int>((1u << direct) + ((exponent - direct) << mantissa) +
                              ((size >> (exponent - mantissa)) & ((1u << mantissa) - 1)));
    }
    return distance < 0 ? -step : step;
  }
  /// Largest size of a step.
  int StepMax() const { return static_cast<int>((1u << direct) + ((64 - direct) << mantissa)) - 1; }
};

/// The intervals of a column's tokens.
struct TokenSet {
  std::size_t size = 0;
  unsigned bits_max = 0;
  std::array<std::uint64_t, rans::kTokensMax> base;
  std::array<std::uint8_t, rans::kTokensMax> bits;

  /// Tokens for the steps from `first` on; all `count` of them lie within +-StepMax().
  void SetGraded(const GradedTokens& graded, int first, std::size_t count);
  void SetDictionary(std::span<const std::uint64_t> integers);
};

/// Frequencies are stored as levels: 0 where a token does not occur, else a step of a logarithmic scale with
/// 2^precision levels to a factor of two; the most frequent token has the highest level.
inline constexpr unsigned kPrecisionMax = 3;
using Levels = std::array<std::uint8_t, rans::kTokensMax>;

/// The levels that fit `counts` best; 1 <= counts.size() <= 256, not all 0.
Levels LevelsOf(std::span<const std::uint32_t> counts, unsigned log, unsigned precision);
/// The frequencies that levels stand for; false when there is no token with one, or too many for 2^log.
bool FrequenciesOf(const Levels& levels, std::size_t size, unsigned log, unsigned precision,
                   rans::Frequencies* frequencies);

void PutLevels(const Levels& levels, std::size_t size, unsigned log, unsigned precision, BitWriter* bits);

/// Reads bits from untrusted bytes with a look at their end each time: for headers.
class HeaderBits {
 public:
  explicit HeaderBits(std::string_view bytes) : bytes_(bytes) {}
  /// 0 <= width <= 32. 0, and ok() false from then on, when the bytes have ended.
  std::uint32_t Get(unsigned width);
  /// A number from 1 on in Elias's gamma code, up to 2^16.
  std::uint32_t GetGamma();
  /// Ones before a zero, up to `most`.
  std::uint32_t GetUnary(std::uint32_t most);
  bool ok() const { return ok_; }
  bool Fail() { return ok_ = false; }
  std::size_t bytes_used() const { return (position_ + 7) / 8; }

 private:
  /// The next bits, 57 of them at least; zeros behind the end.
  std::uint64_t Peek() const;

  std::string_view bytes_;
  std::size_t position_ = 0;
  bool ok_ = true;
};
void PutGamma(std::uint32_t v, BitWriter* bits);

bool ReadLevels(HeaderBits* bits, std::size_t size, unsigned log, unsigned precision, Levels* levels);

}  // namespace tsdb::chunk
