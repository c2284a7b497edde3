#include "chunk/statistics_codec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "chunk/chunk_rows.h"
#include "chunk/column_layout.h"
#include "chunk/decimal.h"
#include "chunk/sum_codec.h"

namespace tsdb::chunk {

namespace {

// The first byte: exponent (or kRaw) in the low five bits, then the flags.
constexpr unsigned kExponentMask = 31;
constexpr unsigned kRaw = 31;
constexpr unsigned kHasNans = 32;
constexpr unsigned kHasResets = 64;
constexpr unsigned kResetsUnknown = 128;
// The second one, when there are numbers: the form of the sums in the low two bits, the bytes of a raw number above.
constexpr unsigned kFormMask = 3;
constexpr unsigned kWidthShift = 2;
// The byte of what is NaN.
constexpr unsigned kFirstIsNan = 1;
constexpr unsigned kLastIsNan = 2;
constexpr unsigned kNoNumbers = 4;
// How a page's resets are kept.
constexpr std::uint8_t kNoReset = 0;
constexpr std::uint8_t kDecimalReset = 1;
constexpr std::uint8_t kTermsReset = 2;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool IsNegativeZero(double v) { return v == 0 && std::signbit(v); }

/// The pages of the statistics: itself when it has only one.
std::span<const ValueStatistics> PagesOf(const ChunkStatistics& s) {
  const ValueStatistics* const whole = &s;
  return s.pages.empty() ? std::span(whole, 1) : std::span<const ValueStatistics>(s.pages);
}

/// The exponent at which all numbers are decimals, -1 when there is none.
int FindExponent(const ChunkStatistics& s) {
  int exponent = 0;
  const auto raise = [&](double v) { exponent = exponent < 0 ? -1 : ExactExponent(v, exponent); };
  raise(s.first_number);
  raise(s.last_number);
  for (const ValueStatistics& page : PagesOf(s)) {
    if (page.has_numbers()) {
      raise(page.min);
      raise(page.max);
    }
  }
  // A number that is a decimal of fewer digits is none of more when it is too large for them.
  const auto fits = [&](double v) { return MatchDecimal(v, exponent).exact(); };
  const bool all_fit = exponent >= 0 && fits(s.first_number) && fits(s.last_number) &&
                       std::ranges::all_of(PagesOf(s), [&](const ValueStatistics& page) {
                         return !page.has_numbers() || (fits(page.min) && fits(page.max));
                       });
  return all_fit ? exponent : -1;
}

/// Numbers as integers: decimals, or the bits of doubles in an order that rises with the value.
class NumberScale {
 public:
  explicit NumberScale(int exponent) : exponent_(exponent) {}
  bool decimal() const { return exponent_ >= 0; }
  std::uint64_t ToInteger(double v) const {
    return decimal() ? static_cast<std::uint64_t>(MatchDecimal(v, exponent_).decimal) : OrderedBits(v);
  }
  /// False when the integer stands for no decimal.
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

/// Bounds of a page's sum, by its extremes.
BoundedSum Bounds(const ValueStatistics& page, const NumberScale& scale) {
  if (!scale.decimal()) {
    return {&page.sum, 0, 0};
  }
  const std::int64_t n = page.count - page.nan_count;
  return {&page.sum, n * static_cast<std::int64_t>(scale.ToInteger(page.min)),
          n * static_cast<std::int64_t>(scale.ToInteger(page.max))};
}

/// The integers of a chunk in the order in which they are stored, each as its difference from one before it.
std::vector<std::uint64_t> Differences(const ChunkStatistics& s, const NumberScale& scale) {
  const std::uint64_t first = scale.ToInteger(s.first_number);
  std::vector<std::uint64_t> result = {first, scale.ToInteger(s.last_number) - first};
  std::uint64_t near = first;
  for (const ValueStatistics& page : PagesOf(s)) {
    if (page.has_numbers()) {
      const std::uint64_t min = scale.ToInteger(page.min);
      result.push_back(min - near);
      result.push_back(scale.ToInteger(page.max) - min);
      near = min;
    }
  }
  return result;
}

void PutBytes(std::string* out, std::uint64_t v, unsigned bytes) {
  out->append(reinterpret_cast<const char*>(&v), bytes);
}

/// Returns the bytes of a raw number.
unsigned EncodeNumbers(const ChunkStatistics& s, const NumberScale& scale, std::string* out) {
  const std::vector<std::uint64_t> numbers = Differences(s, scale);
  if (scale.decimal()) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const bool is_max = i >= 2 && i % 2 == 1;  // never below the minimum before it
      PutVarint(out, is_max ? numbers[i] : ZigZag(static_cast<std::int64_t>(numbers[i])));
    }
    return 0;
  }
  std::uint64_t all = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    all |= ZigZag(static_cast<std::int64_t>(numbers[i]));
  }
  const unsigned width = (static_cast<unsigned>(std::bit_width(all)) + 7) / 8;
  PutFixed64(out, numbers[0]);
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    PutBytes(out, ZigZag(static_cast<std::int64_t>(numbers[i])), width);
  }
  return width;
}

void EncodeReset(const ExactSum& resets, int exponent, std::string* out) {
  const SumTerms terms = resets.Terms();
  if (terms == SumTerms()) {
    out->push_back(static_cast<char>(kNoReset));
    return;
  }
  if (exponent >= 0 && terms.terms.size() == 1 && terms.overflow == 0 && !terms.positive_infinity &&
      !terms.negative_infinity) {
    const DecimalMatch match = MatchDecimal(terms.terms[0], exponent);
    if (match.exact()) {
      out->push_back(static_cast<char>(kDecimalReset));
      PutVarintSigned(out, match.decimal);
      return;
    }
  }
  out->push_back(static_cast<char>(kTermsReset));
  EncodeTerms(terms, out);
}

bool DecodeReset(ByteReader* reader, int exponent, ExactSum* resets) {
  std::uint8_t kind = 0;
  if (!reader->ReadFixed(&kind)) {
    return false;
  }
  if (kind == kDecimalReset) {
    std::int64_t decimal = 0;
    if (exponent < 0 || !reader->ReadVarintSigned(&decimal) || decimal > kDecimalMax || decimal < -kDecimalMax) {
      return false;
    }
    resets->Add(FromDecimal(decimal, exponent));
    return true;
  }
  SumTerms terms;
  if (kind == kTermsReset && DecodeTerms(reader, &terms)) {
    *resets = ExactSum(terms);
    return true;
  }
  return kind == kNoReset;
}

void EncodeNans(const ChunkStatistics& s, std::string* out) {
  const bool first_is_nan = s.first != s.first;
  const bool last_is_nan = s.last != s.last;
  out->push_back(static_cast<char>((first_is_nan ? kFirstIsNan : 0) | (last_is_nan ? kLastIsNan : 0) |
                                   (s.has_numbers() ? 0 : kNoNumbers)));
  if (first_is_nan) {
    PutFixed64(out, std::bit_cast<std::uint64_t>(s.first));
  }
  if (last_is_nan) {
    PutFixed64(out, std::bit_cast<std::uint64_t>(s.last));
  }
  for (const ValueStatistics& page : PagesOf(s)) {
    PutVarint(out, page.nan_count);
  }
}

/// Reads the statistics of a chunk into its pages.
class Decoder {
 public:
  Decoder(ByteReader* reader, ChunkStatistics* s) : reader_(reader), s_(s) {}

  bool Decode(std::uint32_t count) {
    for (std::uint32_t begin = 0; begin < count; begin += kPageSamples) {
      ValueStatistics& page = s_->pages.emplace_back();
      page.count = std::min<std::uint32_t>(kPageSamples, count - begin);
    }
    std::uint8_t head = 0;
    if (!reader_->ReadFixed(&head)) {
      return false;
    }
    const unsigned exponent = head & kExponentMask;
    if ((exponent > kDecimalExponentMax && exponent != kRaw) ||
        (head & (kHasResets | kResetsUnknown)) == (kHasResets | kResetsUnknown)) {
      return false;
    }
    exponent_ = exponent == kRaw ? -1 : static_cast<int>(exponent);
    s_->first = s_->last = s_->first_number = s_->last_number = kNaN;
    if ((head & kHasNans) != 0 && !ReadNans()) {
      return false;
    }
    return (no_numbers_ || (ReadNumbers() && ReadSums())) && ReadResets(head);
  }

 private:
  bool ReadNans() {
    std::uint8_t flags = 0;
    if (!reader_->ReadFixed(&flags) || flags > (kFirstIsNan | kLastIsNan | kNoNumbers)) {
      return false;
    }
    first_is_nan_ = (flags & kFirstIsNan) != 0;
    last_is_nan_ = (flags & kLastIsNan) != 0;
    no_numbers_ = (flags & kNoNumbers) != 0;
    if ((first_is_nan_ && !(reader_->ReadFixed(&s_->first) && s_->first != s_->first)) ||
        (last_is_nan_ && !(reader_->ReadFixed(&s_->last) && s_->last != s_->last))) {
      return false;
    }
    bool numbers = false;
    for (ValueStatistics& page : s_->pages) {
      std::uint64_t nans = 0;
      if (!reader_->ReadVarint(&nans) || nans > page.count) {
        return false;
      }
      page.nan_count = static_cast<std::uint32_t>(nans);
      numbers = numbers || page.has_numbers();
    }
    return numbers != no_numbers_ && (!no_numbers_ || (first_is_nan_ && last_is_nan_));
  }

  enum class Kind { kFirst, kNear, kMax };

  bool ReadNumber(Kind kind, std::uint64_t base, std::uint64_t* integer) {
    std::uint64_t difference = 0;
    if (exponent_ >= 0) {
      if (!reader_->ReadVarint(&difference)) {
        return false;
      }
      difference = kind == Kind::kMax ? difference : static_cast<std::uint64_t>(UnZigZag(difference));
    } else if (kind == Kind::kFirst) {
      if (!reader_->ReadFixed(&difference)) {
        return false;
      }
    } else {
      std::string_view bytes;
      if (!reader_->ReadBytes(width_, &bytes)) {
        return false;
      }
      std::copy_n(bytes.data(), width_, reinterpret_cast<char*>(&difference));
      difference = static_cast<std::uint64_t>(UnZigZag(difference));
    }
    *integer = base + difference;
    return true;
  }

  bool ReadNumbers() {
    std::uint8_t second = 0;
    if (!reader_->ReadFixed(&second)) {
      return false;
    }
    form_ = static_cast<SumForm>(second & kFormMask);
    width_ = second >> kWidthShift;
    if (width_ > 8 || (exponent_ >= 0 && width_ != 0)) {
      return false;
    }
    const NumberScale scale(exponent_);
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    if (!ReadNumber(Kind::kFirst, 0, &first) || !scale.ToNumber(first, &s_->first_number) ||
        !ReadNumber(Kind::kNear, first, &last) || !scale.ToNumber(last, &s_->last_number)) {
      return false;
    }
    s_->first = first_is_nan_ ? s_->first : s_->first_number;
    s_->last = last_is_nan_ ? s_->last : s_->last_number;
    std::uint64_t near = first;
    for (ValueStatistics& page : s_->pages) {
      if (!page.has_numbers()) {
        continue;
      }
      std::uint64_t max = 0;
      if (!ReadNumber(Kind::kNear, near, &near) || !scale.ToNumber(near, &page.min) ||
          !ReadNumber(Kind::kMax, near, &max) || !scale.ToNumber(max, &page.max) || page.max < page.min) {
        return false;
      }
    }
    return true;
  }

  bool ReadSums() {
    const NumberScale scale(exponent_);
    SumReader sums(form_, exponent_, reader_);
    if (!sums.Open()) {
      return false;
    }
    for (ValueStatistics& page : s_->pages) {
      if (!page.has_numbers()) {
        continue;
      }
      const BoundedSum bounds = Bounds(page, scale);
      if (!sums.Next(bounds.low, bounds.high, &page.sum)) {
        return false;
      }
      if (IsNegativeZero(page.min) && IsNegativeZero(page.max)) {
        page.sum.Reset();  // -0: there were no other numbers
      }
    }
    return true;
  }

  bool ReadResets(unsigned head) {
    for (ValueStatistics& page : s_->pages) {
      if ((head & kResetsUnknown) != 0) {
        page.resets.reset();
      } else if ((head & kHasResets) != 0 && !DecodeReset(reader_, exponent_, &*page.resets)) {
        return false;
      }
    }
    return true;
  }

  ByteReader* const reader_;
  ChunkStatistics* const s_;
  int exponent_ = -1;
  SumForm form_ = SumForm::kDecimals;
  unsigned width_ = 0;
  bool first_is_nan_ = false;
  bool last_is_nan_ = false;
  bool no_numbers_ = false;
};

}  // namespace

void EncodeStatistics(const ChunkStatistics& s, std::string* out) {
  const bool has_resets = s.resets && s.resets->Terms() != SumTerms();
  const int exponent = s.has_numbers() ? FindExponent(s) : -1;
  out->push_back(static_cast<char>((exponent < 0 ? kRaw : static_cast<unsigned>(exponent)) |
                                   (s.nan_count != 0 ? kHasNans : 0) | (has_resets ? kHasResets : 0) |
                                   (s.resets ? 0 : kResetsUnknown)));
  if (s.nan_count != 0) {
    EncodeNans(s, out);
  }
  if (s.has_numbers()) {
    const NumberScale scale(exponent);
    const std::size_t second = out->size();
    out->push_back('\0');
    const unsigned width = EncodeNumbers(s, scale, out);
    std::vector<BoundedSum> sums;
    for (const ValueStatistics& page : PagesOf(s)) {
      if (page.has_numbers()) {
        sums.push_back(Bounds(page, scale));
      }
    }
    const SumForm form = EncodeSums(sums, exponent, out);
    (*out)[second] = static_cast<char>(static_cast<unsigned>(form) | width << kWidthShift);
  }
  if (has_resets) {
    for (const ValueStatistics& page : PagesOf(s)) {
      EncodeReset(*page.resets, exponent, out);
    }
  }
}

bool DecodeStatistics(ByteReader* reader, std::uint32_t count, ChunkStatistics* s) {
  *s = ChunkStatistics();
  if (count == 0 || count > kChunkSamplesMax || !Decoder(reader, s).Decode(count)) {
    return false;
  }
  for (const ValueStatistics& page : s->pages) {
    s->Merge(page);
  }
  if (s->pages.size() == 1) {
    s->pages.clear();
  }
  return true;
}

}  // namespace tsdb::chunk
