#include "base/wide_sum.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tsdb {
namespace {

__extension__ typedef unsigned __int128 Uint128;

constexpr std::uint64_t kLow32 = 0xFFFFFFFFu;

// Rounds `significand` (its top bit set, 64 bits) · 2^exponent, with `sticky` for lost bits below, to a double.
double RoundToDouble(std::uint64_t significand, int exponent, bool sticky, bool negative) {
  // A double keeps 53 bits, fewer below 2^-1022.
  int keep = 53;
  const int top = exponent + 63;  // exponent of the leading bit
  if (top < -1022) {
    keep = 53 - (-1022 - top);
  }
  double magnitude = 0;
  if (keep >= 0) {
    const int drop = 64 - keep;  // 11..64
    std::uint64_t kept = drop == 64 ? 0 : significand >> drop;
    const std::uint64_t half = 1ull << (drop - 1);
    const std::uint64_t rest = drop == 64 ? significand : significand & ((1ull << drop) - 1);
    if (rest > half || (rest == half && (sticky || (kept & 1) != 0))) {
      ++kept;
    }
    magnitude = std::ldexp(static_cast<double>(kept), exponent + drop);
  }
  return negative ? -magnitude : magnitude;
}

}  // namespace

void WideSum::Add(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int biased = static_cast<int>((bits >> 52) & 0x7FF);
  std::uint64_t mantissa = bits & ((1ull << 52) - 1);
  if (biased != 0) {
    mantissa |= 1ull << 52;
  }
  const int exponent = (biased == 0 ? 1 : biased) - 1075;  // value = mantissa · 2^exponent
  const unsigned position = static_cast<unsigned>(exponent - kLowestExponent);
  const unsigned limb = position / 32;
  const Uint128 shifted = static_cast<Uint128>(mantissa) << (position % 32);
  const std::int64_t sign = (bits >> 63) != 0 ? -1 : 1;
  limbs_[limb] += sign * static_cast<std::int64_t>(static_cast<std::uint64_t>(shifted) & kLow32);
  limbs_[limb + 1] += sign * static_cast<std::int64_t>(static_cast<std::uint64_t>(shifted >> 32) & kLow32);
  limbs_[limb + 2] += sign * static_cast<std::int64_t>(static_cast<std::uint64_t>(shifted >> 64) & kLow32);
  if (++adds_ == (1u << 30)) {
    Normalize();
  }
}

void WideSum::Add(const WideSum& other) {
  // A limb after a carry is as large as after one addition.
  if (std::uint64_t{adds_} + other.adds_ + 2 >= (1u << 30)) {
    Normalize();
  }
  WideSum copy = other;
  copy.Normalize();
  for (int i = 0; i < kLimbs; ++i) {
    limbs_[i] += copy.limbs_[i];
  }
  adds_ += 1;
}

void WideSum::AddOverflow(std::int64_t count) {
  limbs_[kOverflowLimb] += count;
  Normalize();
}

std::int64_t WideSum::TakeOverflow() {
  Normalize();
  // Two's complement; sums of fewer than 2^40 doubles need no more than these two limbs.
  auto count = static_cast<std::int64_t>(static_cast<std::uint64_t>(limbs_[kOverflowLimb]) +
                                         (static_cast<std::uint64_t>(limbs_[kOverflowLimb + 1]) << 32));
  for (int i = kOverflowLimb; i < kLimbs; ++i) {
    limbs_[i] = 0;
  }
  if ((limbs_[kOverflowLimb - 1] >> 31) != 0) {
    limbs_[kOverflowLimb] = -1;
    ++count;
  }
  return count;
}

void WideSum::Normalize() {
  for (int i = 0; i + 1 < kLimbs; ++i) {
    const std::int64_t carry = limbs_[i] >> 32;
    limbs_[i] -= carry * (std::int64_t{1} << 32);
    limbs_[i + 1] += carry;
  }
  adds_ = 0;
}

bool WideSum::Magnitude(std::array<std::uint32_t, kLimbs>* digits) const {
  WideSum copy = *this;
  copy.Normalize();
  const bool negative = copy.limbs_[kLimbs - 1] < 0;
  if (negative) {
    for (auto& limb : copy.limbs_) {
      limb = -limb;
    }
    copy.Normalize();
  }
  for (int i = 0; i < kLimbs; ++i) {
    (*digits)[i] = static_cast<std::uint32_t>(copy.limbs_[i]);
  }
  return negative;
}

double WideSum::Round() const { return RoundQuotient(1); }

double WideSum::RoundQuotient(std::uint64_t n) const {
  std::array<std::uint32_t, kLimbs> digits;
  const bool negative = Magnitude(&digits);
  // Long division from the top; four more limbs below the point give the quotient's 64 leading bits in every case.
  constexpr int kExtra = 4;
  std::array<std::uint32_t, kLimbs + kExtra> quotient{};
  Uint128 remainder = 0;
  for (int i = kLimbs + kExtra - 1; i >= 0; --i) {
    remainder = (remainder << 32) | (i >= kExtra ? digits[i - kExtra] : 0);
    quotient[i] = static_cast<std::uint32_t>(remainder / n);
    remainder %= n;
  }
  int top = kLimbs + kExtra - 1;
  while (top >= 0 && quotient[top] == 0) {
    --top;
  }
  if (top < 0) {
    return 0.0;
  }
  const auto digit = [&](int i) { return i >= 0 ? static_cast<std::uint64_t>(quotient[i]) : 0; };
  const unsigned shift = static_cast<unsigned>(std::countl_zero(quotient[top]));
  std::uint64_t significand = (digit(top) << 32 | digit(top - 1)) << shift;
  if (shift != 0) {
    significand |= digit(top - 2) >> (32 - shift);
  }
  bool sticky = remainder != 0 || (shift == 0 ? digit(top - 2) != 0 : (digit(top - 2) << (32 + shift)) != 0);
  for (int i = top - 3; i >= 0 && !sticky; --i) {
    sticky = quotient[i] != 0;
  }
  const int exponent = kLowestExponent + 32 * (top - 1 - kExtra) - static_cast<int>(shift);
  return RoundToDouble(significand, exponent, sticky, negative);
}

}  // namespace tsdb
