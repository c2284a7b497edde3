#include "chunk/statistics_codec.h"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "chunk/bit_fields.h"
#include "chunk/chunk_rows.h"
#include "chunk/statistics_layout.h"

namespace tsdb::chunk {

namespace {

/// The parts of the statistics: itself when there is only one.
std::span<const ValueStatistics> PartsOf(const ChunkStatistics& s) {
  const ValueStatistics* const whole = &s;
  return s.pages.empty() ? std::span(whole, 1) : std::span<const ValueStatistics>(s.pages);
}

/// The exponent at which all numbers are decimals, -1 when there is none.
int FindExponent(const ChunkStatistics& s) {
  int exponent = 0;
  const auto raise = [&](double v) { exponent = exponent < 0 ? -1 : ExactExponent(v, exponent); };
  raise(s.first_number);
  raise(s.last_number);
  for (const ValueStatistics& part : PartsOf(s)) {
    if (part.has_numbers()) {
      raise(part.min);
      raise(part.max);
    }
  }
  // A number that is a decimal of fewer digits is none of more when it is too large for them.
  const auto fits = [&](double v) { return MatchDecimal(v, exponent).exact(); };
  const bool all_fit = exponent >= 0 && fits(s.first_number) && fits(s.last_number) &&
                       std::ranges::all_of(PartsOf(s), [&](const ValueStatistics& part) {
                         return !part.has_numbers() || (fits(part.min) && fits(part.max));
                       });
  return all_fit ? exponent : -1;
}

/// First number, last number and extremes of one chunk, as integers.
class NumberEncoder {
 public:
  NumberEncoder(const ChunkStatistics& s, int exponent) : scale_(exponent) {
    first_ = scale_.ToInteger(s.first_number);
    last_ = scale_.ToInteger(s.last_number);
    min_ = scale_.ToInteger(s.min);
    max_ = scale_.ToInteger(s.max);
    for (const ValueStatistics& part : PartsOf(s)) {
      if (part.has_numbers()) {
        parts_.push_back({scale_.ToInteger(part.min), scale_.ToInteger(part.max)});
      }
    }
    several_ = !s.pages.empty();
  }

  void Encode(BitFields* out) const {
    BitFields apart;
    apart.Add(0, 1);
    EncodeApart(&apart);
    BitFields chained;
    chained.Add(1, 1);
    EncodeChained(&chained);
    out->Append(chained.bits() < apart.bits() ? chained : apart);
  }

 private:
  struct Extremes {
    std::uint64_t min;
    std::uint64_t max;
  };

  static std::uint64_t Signed(std::uint64_t difference) { return ZigZag(static_cast<std::int64_t>(difference)); }

  void PutStart(std::uint64_t integer, BitFields* out) const {
    if (scale_.decimal()) {
      out->AddSized(Signed(integer));
    } else {
      PutTop(integer, out);
    }
  }
  /// The bits of a double but for the zeros at their end.
  static void PutTop(std::uint64_t integer, BitFields* out) {
    const unsigned zeros = integer == 0 ? 63 : static_cast<unsigned>(std::countr_zero(integer));
    out->Add(63 - zeros, kSizeBits);
    out->Add(integer >> zeros, 64 - zeros);
  }

  /// Numbers by their distance from the greatest of the chunk; a bit is enough for what is an extreme of the chunk.
  void EncodeApart(BitFields* out) const {
    PutStart(max_, out);
    BitFields distance;
    distance.AddSized(max_ - min_);
    BitFields top;
    PutTop(min_, &top);
    const bool by_top = !scale_.decimal() && top.bits() < distance.bits();
    if (!scale_.decimal()) {
      out->Add(by_top ? 1 : 0, 1);
    }
    out->Append(by_top ? top : distance);
    std::uint64_t all = (IsEdge(first_) ? 0 : max_ - first_) | (IsEdge(last_) ? 0 : max_ - last_);
    for (const Extremes& part : parts_) {
      all |= (part.min == min_ ? 0 : max_ - part.min) | (max_ - part.max);
    }
    const unsigned width = BitLength(all);
    out->Add(width, kWidthBits);
    for (const std::uint64_t number : {first_, last_}) {
      out->Add(IsEdge(number) ? 1 : 0, 1);
      out->Add(IsEdge(number) ? (number == max_ ? 1 : 0) : max_ - number, IsEdge(number) ? 1 : width);
    }
    if (several_) {
      for (const Extremes& part : parts_) {
        PutDistance(part.min, min_, width, out);
        PutDistance(part.max, max_, width, out);
      }
    }
  }
  bool IsEdge(std::uint64_t number) const { return number == min_ || number == max_; }
  void PutDistance(std::uint64_t number, std::uint64_t edge, unsigned width, BitFields* out) const {
    out->Add(number == edge ? 1 : 0, 1);
    out->Add(number == edge ? 0 : max_ - number, number == edge ? 0 : width);
  }

  /// Each part's least number by its distance from the greatest before it.
  void EncodeChained(BitFields* out) const {
    PutStart(first_, out);
    std::uint64_t steps = 0;
    std::uint64_t ranges = 0;
    std::uint64_t before = first_;
    for (const Extremes& part : parts_) {
      steps |= Signed(part.min - before);
      ranges |= part.max - part.min;
      before = part.max;
    }
    steps |= Signed(last_ - before);
    const unsigned step_width = BitLength(steps);
    const unsigned range_width = BitLength(ranges);
    out->Add(step_width, kWidthBits);
    out->Add(range_width, kWidthBits);
    before = first_;
    for (const Extremes& part : parts_) {
      out->Add(Signed(part.min - before), step_width);
      out->Add(part.max - part.min, range_width);
      before = part.max;
    }
    out->Add(Signed(last_ - before), step_width);
  }

  const NumberScale scale_;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t min_ = 0;
  std::uint64_t max_ = 0;
  std::vector<Extremes> parts_;  // those with numbers
  bool several_ = false;
};

void EncodeReset(const ExactSum& resets, int exponent, BitFields* out) {
  const SumTerms terms = resets.Terms();
  if (terms == SumTerms()) {
    out->Add(kNoReset, kResetBits);
    return;
  }
  if (exponent >= 0 && terms.terms.size() == 1 && terms.overflow == 0 && !terms.positive_infinity &&
      !terms.negative_infinity) {
    const DecimalMatch match = MatchDecimal(terms.terms[0], exponent);
    if (match.exact()) {
      out->Add(kDecimalReset, kResetBits);
      out->AddSized(ZigZag(match.decimal));
      return;
    }
  }
  out->Add(kTermsReset, kResetBits);
  EncodeTerms(terms, out);
}

void EncodeNans(const ChunkStatistics& s, BitFields* out) {
  for (const double value : {s.first, s.last}) {
    const bool is_nan = value != value;
    out->Add(is_nan ? 1 : 0, 1);
    out->Add(is_nan ? std::bit_cast<std::uint64_t>(value) : 0, is_nan ? 64 : 0);
  }
  for (const ValueStatistics& part : PartsOf(s)) {
    out->Add(part.nan_count, NanBits(part.count));
  }
}

BitFields Encode(const ChunkStatistics& s) {
  const bool has_resets = s.resets && s.resets->Terms() != SumTerms();
  const int exponent = s.has_numbers() ? FindExponent(s) : -1;
  BitFields out;
  out.Add(exponent < 0 ? kRawNumbers : static_cast<unsigned>(exponent), kExponentBitsInStatistics);
  out.Add(s.nan_count != 0 ? 1 : 0, 1);
  out.Add(!s.resets ? kResetsUnknown : has_resets ? kResetsFollow : kNoResets, kResetBits);
  if (s.count > kPageSamples) {
    out.Add(static_cast<unsigned>(std::countr_zero(s.page_step)), kPageStepBits);
  }
  if (s.nan_count != 0) {
    EncodeNans(s, &out);
  }
  if (s.has_numbers()) {
    NumberEncoder(s, exponent).Encode(&out);
    const NumberScale scale(exponent);
    std::vector<PageSum> sums;
    for (const ValueStatistics& part : PartsOf(s)) {
      if (part.has_numbers()) {
        sums.push_back({&part.sum, NumbersOf(part, scale)});
      }
    }
    EncodeSums(sums, exponent, &out);
  }
  if (has_resets) {
    for (const ValueStatistics& part : PartsOf(s)) {
      EncodeReset(*part.resets, exponent, &out);
    }
  }
  return out;
}

bool IsSmall(const BitFields& fields, const ChunkStatistics& s) {
  return fields.bytes() * kValuesPerStatisticsByte <= s.count;
}

}  // namespace

void EncodeStatistics(const ChunkStatistics& statistics, std::string* out) {
  BitFields fields = Encode(statistics);
  if (!statistics.pages.empty() && !IsSmall(fields, statistics)) {
    ChunkStatistics pooled = statistics;
    do {
      PoolPages(2 * pooled.page_step, &pooled);
      fields = Encode(pooled);
    } while (!pooled.pages.empty() && !IsSmall(fields, statistics));
  }
  fields.WriteTo(out);
}

}  // namespace tsdb::chunk
