#include "chunk/sum_codec.h"

#include <algorithm>
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
constexpr std::size_t kTermsMax = 64;
constexpr std::int64_t kOverflowMax = std::int64_t{1} << 40;
/// Every integer up to here is a double.
constexpr double kExactIntegers = 9007199254740992.0;

constexpr std::uint8_t kPositiveInfinity = 1;
constexpr std::uint8_t kNegativeInfinity = 2;
constexpr std::uint8_t kOverflow = 4;

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

unsigned BytesOf(std::uint64_t v) { return (static_cast<unsigned>(std::bit_width(v)) + 7) / 8; }

void PutBytes(std::string* out, Uint128 v, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i, v >>= 8) {
    out->push_back(static_cast<char>(v));
  }
}

bool ReadBytes(ByteReader* reader, unsigned bytes, Uint128* v) {
  std::string_view data;
  if (!reader->ReadBytes(bytes, &data)) {
    return false;
  }
  *v = 0;
  for (unsigned i = bytes; i > 0; --i) {
    *v = *v << 8 | static_cast<unsigned char>(data[i - 1]);
  }
  return true;
}

struct Decimals {
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> residuals;
  int unit = 0;
  bool exact = true;
};

/// Each sum as D / 10^E plus a small multiple of one unit.
std::optional<Decimals> ToDecimals(std::span<const BoundedSum> sums, int exponent) {
  Decimals result;
  std::vector<SumTerms> rests;
  const double power = kPowersOfTen[static_cast<std::size_t>(exponent)];
  for (const BoundedSum& bounded : sums) {
    const double scaled = bounded.sum->Sum() * power;
    if (!(std::fabs(scaled) < kExactIntegers)) {
      return std::nullopt;
    }
    const std::int64_t number = std::llrint(scaled);
    if (number < bounded.low || number > bounded.high) {
      return std::nullopt;
    }
    ExactSum rest = *bounded.sum;
    rest.Add(-(static_cast<double>(number) / power));
    result.numbers.push_back(number);
    rests.push_back(rest.Terms());
    result.exact = result.exact && IsPlain(rests.back()) && rests.back().terms.empty();
  }
  if (result.exact) {
    return result;
  }
  const std::optional<int> unit = FindUnit(rests);
  if (!unit) {
    return std::nullopt;
  }
  result.unit = *unit;
  for (const SumTerms& rest : rests) {
    const Int128 multiple = MultipleOf(rest, *unit);
    if (multiple > INT64_MAX / 2 || multiple < -(INT64_MAX / 2)) {
      return std::nullopt;
    }
    result.residuals.push_back(static_cast<std::int64_t>(multiple));
  }
  return result;
}

}  // namespace

SumForm EncodeSums(std::span<const BoundedSum> sums, int exponent, std::string* out) {
  if (exponent >= 0) {
    if (const auto decimals = ToDecimals(sums, exponent)) {
      if (!decimals->exact) {
        PutVarint(out, static_cast<std::uint64_t>(decimals->unit - kUnitMin));
      }
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto room = static_cast<std::uint64_t>(sums[i].high) - static_cast<std::uint64_t>(sums[i].low);
        const auto above = static_cast<std::uint64_t>(decimals->numbers[i]) - static_cast<std::uint64_t>(sums[i].low);
        PutBytes(out, above, BytesOf(room));
        if (!decimals->exact) {
          PutVarintSigned(out, decimals->residuals[i]);
        }
      }
      return decimals->exact ? SumForm::kDecimals : SumForm::kResiduals;
    }
  }
  std::vector<SumTerms> terms;
  for (const BoundedSum& bounded : sums) {
    terms.push_back(bounded.sum->Terms());
  }
  const std::optional<int> unit = FindUnit(terms);
  if (!unit) {
    for (const SumTerms& one : terms) {
      EncodeTerms(one, out);
    }
    return SumForm::kTerms;
  }
  std::vector<Int128> multiples;
  int width = 1;
  for (const SumTerms& one : terms) {
    multiples.push_back(MultipleOf(one, *unit));
    const Int128 m = multiples.back() < 0 ? ~multiples.back() : multiples.back();
    while (width < 16 && m >> (8 * width - 1) != 0) {
      ++width;
    }
  }
  PutVarint(out, static_cast<std::uint64_t>(*unit - kUnitMin));
  out->push_back(static_cast<char>(width));
  for (const Int128 multiple : multiples) {
    PutBytes(out, static_cast<Uint128>(multiple), static_cast<unsigned>(width));
  }
  return SumForm::kMultiples;
}

bool SumReader::Open() {
  if (form_ == SumForm::kResiduals || form_ == SumForm::kMultiples) {
    std::uint64_t unit = 0;
    if (!reader_->ReadVarint(&unit) || unit > static_cast<std::uint64_t>(kUnitMax - kUnitMin)) {
      return false;
    }
    unit_ = static_cast<int>(unit) + kUnitMin;
  }
  if (form_ == SumForm::kMultiples) {
    std::uint8_t width = 0;
    if (!reader_->ReadFixed(&width) || width == 0 || width > 16) {
      return false;
    }
    width_ = width;
  }
  return form_ == SumForm::kMultiples || form_ == SumForm::kTerms || exponent_ >= 0;
}

bool SumReader::Next(std::int64_t low, std::int64_t high, ExactSum* sum) {
  *sum = ExactSum();
  if (form_ == SumForm::kTerms) {
    SumTerms terms;
    if (!DecodeTerms(reader_, &terms)) {
      return false;
    }
    *sum = ExactSum(terms);
    return true;
  }
  sum->Add(0.0);
  Uint128 bytes = 0;
  if (form_ == SumForm::kMultiples) {
    if (!ReadBytes(reader_, width_, &bytes)) {
      return false;
    }
    const unsigned shift = 128 - 8 * width_;
    const auto multiple = static_cast<Int128>(bytes << shift) >> shift;
    if (std::bit_width(static_cast<std::uint64_t>((multiple < 0 ? ~multiple : multiple) >> 64)) >
        static_cast<int>(kMultipleBits - 64)) {
      return false;
    }
    AddMultiple(multiple, unit_, sum);
    return true;
  }
  const std::uint64_t room = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  std::int64_t residual = 0;
  if (!ReadBytes(reader_, BytesOf(room), &bytes) || bytes > room ||
      (form_ == SumForm::kResiduals && !reader_->ReadVarintSigned(&residual))) {
    return false;
  }
  const auto number = static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + static_cast<std::uint64_t>(bytes));
  if (!(std::fabs(static_cast<double>(number)) < kExactIntegers)) {
    return false;
  }
  sum->Add(static_cast<double>(number) / kPowersOfTen[static_cast<std::size_t>(exponent_)]);
  AddMultiple(residual, unit_, sum);
  return true;
}

void EncodeTerms(const SumTerms& terms, std::string* out) {
  out->push_back(static_cast<char>((terms.positive_infinity ? kPositiveInfinity : 0) |
                                   (terms.negative_infinity ? kNegativeInfinity : 0) |
                                   (terms.overflow != 0 ? kOverflow : 0)));
  if (terms.overflow != 0) {
    PutVarintSigned(out, terms.overflow);
  }
  PutVarint(out, terms.terms.size());
  for (const double term : terms.terms) {
    PutFixed64(out, std::bit_cast<std::uint64_t>(term));
  }
}

bool DecodeTerms(ByteReader* reader, SumTerms* terms) {
  std::uint8_t flags = 0;
  std::uint64_t count = 0;
  if (!reader->ReadFixed(&flags) || flags > (kPositiveInfinity | kNegativeInfinity | kOverflow) ||
      ((flags & kOverflow) != 0 && !reader->ReadVarintSigned(&terms->overflow)) || terms->overflow > kOverflowMax ||
      terms->overflow < -kOverflowMax || !reader->ReadVarint(&count) || count > kTermsMax) {
    return false;
  }
  terms->positive_infinity = (flags & kPositiveInfinity) != 0;
  terms->negative_infinity = (flags & kNegativeInfinity) != 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    double term = 0;
    if (!reader->ReadFixed(&term) || !std::isfinite(term)) {
      return false;
    }
    terms->terms.push_back(term);
  }
  return true;
}

}  // namespace tsdb::chunk
