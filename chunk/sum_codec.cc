#include "chunk/sum_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "chunk/decimal.h"

namespace tsdb::chunk {

namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

/// Exponent of the lowest bit of any double: units are kept as their distance from it.
constexpr int kUnitMin = -1074;
constexpr int kUnitMax = 971;
/// Multiples take at most so many bits beside the sign.
constexpr int kMultipleBits = 118;
/// Sums of decimals are written in relation to bounds not beyond this.
constexpr std::int64_t kDecimalSumMax = std::int64_t{1} << 62;
/// A sum has fewer terms than this many bits can count.
constexpr unsigned kTermCountBits = 6;
constexpr unsigned kFormBits = 2;
constexpr unsigned kUnitBits = 11;
/// Of numbers of both signs some are likely to be so many bits smaller than the largest.
constexpr int kUnitBelowSpan = 10;
constexpr std::int64_t kOverflowMax = std::int64_t{1} << 40;
/// Every integer up to here is a double.
constexpr double kExactIntegers = 9007199254740992.0;

/// Exponent of the lowest set bit of a finite v != 0.
int LowestBit(double v) {
  const auto bits = std::bit_cast<std::uint64_t>(v);
  const int biased = static_cast<int>(bits >> 52 & 0x7ff);
  std::uint64_t mantissa = bits & ((1ull << 52) - 1);
  mantissa |= biased == 0 ? 0 : 1ull << 52;
  return std::max(biased, 1) - 1075 + std::countr_zero(mantissa);
}

bool IsPlain(const SumTerms& terms) {
  return terms.overflow == 0 && !terms.positive_infinity && !terms.negative_infinity;
}

/// The greatest unit all sums are multiples of; absent when one of them has no finite value or takes too many bits.
std::optional<int> FindUnit(std::span<const SumTerms> sums) {
  int unit = kUnitMax;
  int top = kUnitMin;
  for (const SumTerms& terms : sums) {
    if (!IsPlain(terms)) {
      return std::nullopt;
    }
    for (const double term : terms.terms) {
      unit = std::min(unit, LowestBit(term));
      top = std::max(top, std::ilogb(term) + 1);
    }
  }
  return top - unit <= kMultipleBits ? std::optional(unit) : std::nullopt;
}

Int128 MultipleOf(const SumTerms& terms, int unit) {
  Int128 result = 0;
  for (const double term : terms.terms) {
    const int bit = LowestBit(term);
    result += static_cast<Int128>(std::ldexp(term, -bit)) * (static_cast<Int128>(1) << (bit - unit));
  }
  return result;
}

/// Adds multiple · 2^unit in parts that are doubles.
void AddMultiple(Int128 multiple, int unit, ExactSum* sum) {
  const bool negative = multiple < 0;
  auto rest = negative ? -static_cast<Uint128>(multiple) : static_cast<Uint128>(multiple);
  for (int part = 0; rest != 0; ++part, rest >>= 32) {
    const double value = std::ldexp(static_cast<double>(static_cast<std::uint32_t>(rest)), unit + 32 * part);
    sum->Add(negative ? -value : value);
  }
}

/// Exponent of the last place of v.
int LastPlace(double v) {
  const auto biased = static_cast<int>(std::bit_cast<std::uint64_t>(v) >> 52 & 0x7ff);
  return std::max(biased, 1) - 1075;
}

/// Where the lowest bit of a sum of such numbers is likely to be.
int LikelyUnit(double min, double max) {
  return min > 0 ? LastPlace(min) : max < 0 ? LastPlace(max) : LastPlace(std::max(-min, max)) - kUnitBelowSpan;
}

/// The sum less `count` times the least number is below 2 to this; not finite numbers give no such bound.
std::optional<int> SpanExponent(const SummedNumbers& numbers) {
  const double span = static_cast<double>(numbers.count) * (numbers.max - numbers.min);
  return span > 0 && std::isfinite(span) ? std::optional(std::ilogb(span) + 1) : std::nullopt;
}

/// count · value as two doubles, exactly; absent when it is too large for that.
std::optional<std::array<double, 2>> Multiply(std::uint32_t count, double value) {
  const auto n = static_cast<double>(count);
  const double product = n * value;
  return std::isfinite(product) ? std::optional(std::array{product, std::fma(n, value, -product)}) : std::nullopt;
}

/// Whether so many of these decimals add up to an integer of 64 bits.
bool Fit(const SummedNumbers& numbers) {
  const std::int64_t most = kDecimalSumMax / numbers.count;
  return numbers.decimal_min >= -most && numbers.decimal_min <= most &&
         numbers.decimal_range <= static_cast<std::uint64_t>(most);
}

/// Each sum as D / 10^E, and what is left as a small multiple of one unit.
std::optional<BitFields> AsDecimals(std::span<const PageSum> sums, int exponent) {
  std::vector<SumTerms> rests;
  std::vector<std::uint64_t> above;
  bool exact = true;
  const double power = kPowersOfTen[static_cast<std::size_t>(exponent)];
  for (const PageSum& page : sums) {
    const double scaled = page.sum->Sum() * power;
    if (!(std::fabs(scaled) < kExactIntegers) || !Fit(page.numbers)) {
      return std::nullopt;
    }
    const std::int64_t number = std::llrint(scaled);
    const std::int64_t low = std::int64_t{page.numbers.count} * page.numbers.decimal_min;
    above.push_back(static_cast<std::uint64_t>(number - low));
    if (number < low || above.back() > page.numbers.count * page.numbers.decimal_range) {
      return std::nullopt;
    }
    ExactSum rest = *page.sum;
    rest.Add(-(static_cast<double>(number) / power));
    rests.push_back(rest.Terms());
    exact = exact && rests.back() == SumTerms();
  }
  const std::optional<int> unit = exact ? kUnitMax : FindUnit(rests);
  if (!unit) {
    return std::nullopt;
  }
  std::vector<std::uint64_t> residuals;
  unsigned width = 0;
  for (const SumTerms& rest : rests) {
    const Int128 multiple = MultipleOf(rest, *unit);
    if (multiple > INT64_MAX / 2 || multiple < -(INT64_MAX / 2)) {
      return std::nullopt;
    }
    residuals.push_back(ZigZag(static_cast<std::int64_t>(multiple)));
    width = std::max(width, BitLength(residuals.back()));
  }
  BitFields out;
  out.Add(static_cast<std::uint64_t>(exact ? SumForm::kDecimals : SumForm::kResiduals), kFormBits);
  if (!exact) {
    out.Add(static_cast<std::uint64_t>(*unit - kUnitMin), kUnitBits);
    out.Add(width, kSizeBits);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    out.Add(above[i], BitLength(sums[i].numbers.count * sums[i].numbers.decimal_range));
    out.Add(residuals[i], width);
  }
  return out;
}

/// Each sum as a multiple of a unit of its own above as many times the least number.
std::optional<BitFields> AsMultiples(std::span<const PageSum> sums) {
  BitFields out;
  out.Add(static_cast<std::uint64_t>(SumForm::kMultiples), kFormBits);
  for (const PageSum& page : sums) {
    const SummedNumbers& numbers = page.numbers;
    const auto least = Multiply(numbers.count, numbers.min);
    if (!least) {
      return std::nullopt;
    }
    ExactSum rest = *page.sum;
    rest.Add(-(*least)[0]);
    rest.Add(-(*least)[1]);
    const SumTerms terms = rest.Terms();
    if (terms == SumTerms()) {
      if (numbers.max != numbers.min) {
        return std::nullopt;
      }
      continue;
    }
    const std::optional<int> unit = FindUnit({&terms, 1});
    const std::optional<int> top = SpanExponent(numbers);
    if (!unit || !top || *top - *unit > kMultipleBits) {
      return std::nullopt;
    }
    const auto width = static_cast<unsigned>(*top - *unit);
    const auto multiple = static_cast<Uint128>(MultipleOf(terms, *unit));
    out.AddGamma(ZigZag(*unit - LikelyUnit(numbers.min, numbers.max)) + 1);
    out.Add(static_cast<std::uint64_t>(multiple) & LowMask(width), std::min(width, 64u));
    out.Add(static_cast<std::uint64_t>(multiple >> 64), width - std::min(width, 64u));
  }
  return out;
}

}  // namespace

void EncodeSums(std::span<const PageSum> sums, int exponent, BitFields* out) {
  const std::optional<BitFields> decimals = exponent >= 0 ? AsDecimals(sums, exponent) : std::nullopt;
  const std::optional<BitFields> multiples = AsMultiples(sums);
  if (decimals && (!multiples || decimals->bits() <= multiples->bits())) {
    out->Append(*decimals);
  } else if (multiples) {
    out->Append(*multiples);
  } else {
    out->Add(static_cast<std::uint64_t>(SumForm::kTerms), kFormBits);
    for (const PageSum& page : sums) {
      EncodeTerms(page.sum->Terms(), out);
    }
  }
}

bool SumReader::Open() {
  std::uint64_t form = 0;
  std::uint64_t unit = 0;
  std::uint64_t width = 0;
  if (!bits_->Get(kFormBits, &form)) {
    return false;
  }
  form_ = static_cast<SumForm>(form);
  if (form_ == SumForm::kResiduals &&
      (!bits_->Get(kUnitBits, &unit) || unit > static_cast<std::uint64_t>(kUnitMax - kUnitMin) ||
       !bits_->Get(kSizeBits, &width))) {
    return false;
  }
  unit_ = static_cast<int>(unit) + kUnitMin;
  width_ = static_cast<unsigned>(width);
  return exponent_ >= 0 || form_ == SumForm::kMultiples || form_ == SumForm::kTerms;
}

bool SumReader::Next(const SummedNumbers& numbers, ExactSum* sum) {
  *sum = ExactSum();
  if (form_ == SumForm::kTerms) {
    SumTerms terms;
    if (!DecodeTerms(bits_, &terms)) {
      return false;
    }
    *sum = ExactSum(terms);
    return true;
  }
  sum->Add(0.0);
  return form_ == SumForm::kMultiples ? NextMultiple(numbers, sum) : NextDecimal(numbers, sum);
}

bool SumReader::NextDecimal(const SummedNumbers& numbers, ExactSum* sum) {
  const std::uint64_t room = numbers.count * numbers.decimal_range;
  std::uint64_t above = 0;
  std::uint64_t residual = 0;
  if (!Fit(numbers) || !bits_->Get(BitLength(room), &above) || above > room || !bits_->Get(width_, &residual)) {
    return false;
  }
  const std::uint64_t low = numbers.count * static_cast<std::uint64_t>(numbers.decimal_min);
  const auto number = static_cast<double>(static_cast<std::int64_t>(low + above));
  if (!(std::fabs(number) < kExactIntegers)) {
    return false;
  }
  sum->Add(number / kPowersOfTen[static_cast<std::size_t>(exponent_)]);
  AddMultiple(UnZigZag(residual), unit_, sum);
  return true;
}

bool SumReader::NextMultiple(const SummedNumbers& numbers, ExactSum* sum) {
  const auto least = Multiply(numbers.count, numbers.min);
  if (!least) {
    return false;
  }
  sum->Add(*least);
  if (numbers.min == numbers.max) {
    return true;
  }
  const std::optional<int> top = SpanExponent(numbers);
  std::uint64_t near = 0;
  if (!top || !bits_->GetGamma(&near)) {
    return false;
  }
  const auto off = static_cast<int>(UnZigZag(near - 1));
  const int unit = LikelyUnit(numbers.min, numbers.max) + off;
  if (unit < kUnitMin || unit > kUnitMax || *top <= unit || *top - unit > kMultipleBits) {
    return false;
  }
  const auto width = static_cast<unsigned>(*top - unit);
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  if (!bits_->Get(std::min(width, 64u), &low) || !bits_->Get(width - std::min(width, 64u), &high)) {
    return false;
  }
  AddMultiple(static_cast<Int128>(static_cast<Uint128>(high) << 64 | low), unit, sum);
  return true;
}

void EncodeTerms(const SumTerms& terms, BitFields* out) {
  out->Add(terms.positive_infinity ? 1 : 0, 1);
  out->Add(terms.negative_infinity ? 1 : 0, 1);
  out->AddSized(ZigZag(terms.overflow));
  out->Add(terms.terms.size(), kTermCountBits);
  for (const double term : terms.terms) {
    out->Add(std::bit_cast<std::uint64_t>(term), 64);
  }
}

bool DecodeTerms(CheckedBits* bits, SumTerms* terms) {
  std::uint64_t positive = 0;
  std::uint64_t negative = 0;
  std::uint64_t overflow = 0;
  std::uint64_t count = 0;
  if (!bits->Get(1, &positive) || !bits->Get(1, &negative) || !bits->GetSized(&overflow) ||
      !bits->Get(kTermCountBits, &count)) {
    return false;
  }
  terms->positive_infinity = positive != 0;
  terms->negative_infinity = negative != 0;
  terms->overflow = UnZigZag(overflow);
  if (terms->overflow > kOverflowMax || terms->overflow < -kOverflowMax) {
    return false;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t term = 0;
    if (!bits->Get(64, &term) || !std::isfinite(std::bit_cast<double>(term))) {
      return false;
    }
    terms->terms.push_back(std::bit_cast<double>(term));
  }
  return true;
}

}  // namespace tsdb::chunk
