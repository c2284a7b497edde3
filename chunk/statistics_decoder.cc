#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "chunk/bit_fields.h"
#include "chunk/chunk_rows.h"
#include "chunk/statistics_codec.h"
#include "chunk/statistics_layout.h"

namespace tsdb::chunk {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool IsNegativeZero(double v) { return v == 0 && std::signbit(v); }

std::uint64_t Unsigned(std::uint64_t code) { return static_cast<std::uint64_t>(UnZigZag(code)); }

/// Reads the statistics of a chunk into its parts.
class Decoder {
 public:
  Decoder(std::string_view bytes, ChunkStatistics* s) : bits_(bytes), s_(s) {}

  bool Decode(std::uint32_t count) {
    std::uint64_t exponent = 0;
    std::uint64_t has_nans = 0;
    std::uint64_t resets = 0;
    std::uint64_t step = 0;
    if (!bits_.Get(kExponentBitsInStatistics, &exponent) || !bits_.Get(1, &has_nans) ||
        !bits_.Get(kResetBits, &resets) || (count > kPageSamples && !bits_.Get(kPageStepBits, &step)) ||
        (exponent > kDecimalExponentMax && exponent != kRawNumbers) || resets > kResetsUnknown) {
      return false;
    }
    exponent_ = exponent == kRawNumbers ? -1 : static_cast<int>(exponent);
    s_->page_step = std::size_t{1} << step;
    const auto part_values = static_cast<std::uint32_t>(s_->page_step * kPageSamples);
    for (std::uint32_t begin = 0; begin < count; begin += part_values) {
      s_->pages.emplace_back().count = std::min(part_values, count - begin);
    }
    s_->first = s_->last = s_->first_number = s_->last_number = kNaN;
    if (has_nans != 0 && !ReadNans()) {
      return false;
    }
    const bool numbers = std::ranges::any_of(s_->pages, &ValueStatistics::has_numbers);
    return (numbers ? ReadNumbers() && ReadSums() : first_is_nan_ && last_is_nan_) &&
           ReadResets(static_cast<unsigned>(resets)) && bits_.AtEnd();
  }

 private:
  bool ReadNan(bool* is_nan, double* value) {
    std::uint64_t flag = 0;
    std::uint64_t bits = 0;
    if (!bits_.Get(1, &flag) || (flag != 0 && !bits_.Get(64, &bits))) {
      return false;
    }
    *is_nan = flag != 0;
    *value = std::bit_cast<double>(bits);
    return flag == 0 || *value != *value;
  }

  bool ReadNans() {
    if (!ReadNan(&first_is_nan_, &s_->first) || !ReadNan(&last_is_nan_, &s_->last)) {
      return false;
    }
    std::uint64_t all = 0;
    for (ValueStatistics& part : s_->pages) {
      std::uint64_t nans = 0;
      if (!bits_.Get(NanBits(part.count), &nans) || nans > part.count) {
        return false;
      }
      part.nan_count = static_cast<std::uint32_t>(nans);
      all += nans;
    }
    return all != 0;
  }

  bool ReadNumbers() {
    const NumberScale scale(exponent_);
    std::uint64_t chained = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    if (!bits_.Get(1, &chained) || !(chained != 0 ? ReadChained(&first, &last) : ReadApart(&first, &last)) ||
        !scale.ToNumber(first, &s_->first_number) || !scale.ToNumber(last, &s_->last_number)) {
      return false;
    }
    s_->first = first_is_nan_ ? s_->first : s_->first_number;
    s_->last = last_is_nan_ ? s_->last : s_->last_number;
    return true;
  }

  bool ReadStart(std::uint64_t* integer) {
    if (exponent_ < 0) {
      return ReadTop(integer);
    }
    if (!bits_.GetSized(integer)) {
      return false;
    }
    *integer = Unsigned(*integer);
    return true;
  }
  bool ReadTop(std::uint64_t* integer) {
    std::uint64_t size = 0;
    if (!bits_.Get(kSizeBits, &size) || !bits_.Get(static_cast<unsigned>(size) + 1, integer)) {
      return false;
    }
    *integer <<= 63 - size;
    return true;
  }

  /// Extremes of a part; false when they are none.
  bool Take(std::uint64_t min, std::uint64_t max, ValueStatistics* part) {
    const NumberScale scale(exponent_);
    return scale.ToNumber(min, &part->min) && scale.ToNumber(max, &part->max) && part->min <= part->max;
  }

  bool ReadApart(std::uint64_t* first, std::uint64_t* last) {
    std::uint64_t max = 0;
    std::uint64_t min = 0;
    std::uint64_t by_top = 0;
    std::uint64_t width = 0;
    if (!ReadStart(&max) || (exponent_ < 0 && !bits_.Get(1, &by_top)) ||
        !(by_top != 0 ? ReadTop(&min) : bits_.GetSized(&min)) || !bits_.Get(kWidthBits, &width) || width > 64) {
      return false;
    }
    min = by_top != 0 ? min : max - min;
    const auto bits = static_cast<unsigned>(width);
    for (std::uint64_t* number : {first, last}) {
      std::uint64_t edge = 0;
      if (!bits_.Get(1, &edge) || !bits_.Get(edge != 0 ? 1 : bits, number)) {
        return false;
      }
      *number = edge == 0 ? max - *number : *number != 0 ? max : min;
    }
    if (s_->pages.size() == 1) {
      return Take(min, max, &s_->pages.front());
    }
    return std::ranges::all_of(s_->pages, [&](ValueStatistics& part) {
      std::uint64_t least = min;
      std::uint64_t greatest = max;
      return !part.has_numbers() || (ReadDistance(max, bits, &least) && ReadDistance(max, bits, &greatest) &&
                                     Take(least, greatest, &part));
    });
  }
  /// Leaves the number as it is where it is the chunk's extreme.
  bool ReadDistance(std::uint64_t max, unsigned width, std::uint64_t* number) {
    std::uint64_t edge = 0;
    std::uint64_t distance = 0;
    if (!bits_.Get(1, &edge) || (edge == 0 && !bits_.Get(width, &distance))) {
      return false;
    }
    *number = edge == 0 ? max - distance : *number;
    return true;
  }

  bool ReadChained(std::uint64_t* first, std::uint64_t* last) {
    std::uint64_t step_width = 0;
    std::uint64_t range_width = 0;
    if (!ReadStart(first) || !bits_.Get(kWidthBits, &step_width) || !bits_.Get(kWidthBits, &range_width) ||
        step_width > 64 || range_width > 64) {
      return false;
    }
    std::uint64_t before = *first;
    std::uint64_t step = 0;
    for (ValueStatistics& part : s_->pages) {
      std::uint64_t range = 0;
      if (!part.has_numbers()) {
        continue;
      }
      if (!bits_.Get(static_cast<unsigned>(step_width), &step) ||
          !bits_.Get(static_cast<unsigned>(range_width), &range)) {
        return false;
      }
      const std::uint64_t min = before + Unsigned(step);
      before = min + range;
      if (!Take(min, before, &part)) {
        return false;
      }
    }
    if (!bits_.Get(static_cast<unsigned>(step_width), &step)) {
      return false;
    }
    *last = before + Unsigned(step);
    return true;
  }

  bool ReadSums() {
    const NumberScale scale(exponent_);
    SumReader sums(exponent_, &bits_);
    if (!sums.Open()) {
      return false;
    }
    for (ValueStatistics& part : s_->pages) {
      if (!part.has_numbers()) {
        continue;
      }
      if (!sums.Next(NumbersOf(part, scale), &part.sum)) {
        return false;
      }
      if (IsNegativeZero(part.min) && IsNegativeZero(part.max)) {
        part.sum.Reset();  // -0: there were no other numbers
      }
    }
    return true;
  }

  bool ReadResets(unsigned resets) {
    for (ValueStatistics& part : s_->pages) {
      if (resets == kResetsUnknown) {
        part.resets.reset();
      } else if (resets == kResetsFollow && !ReadReset(&*part.resets)) {
        return false;
      }
    }
    return true;
  }

  bool ReadReset(ExactSum* resets) {
    std::uint64_t kind = 0;
    if (!bits_.Get(kResetBits, &kind)) {
      return false;
    }
    if (kind == kDecimalReset) {
      std::uint64_t code = 0;
      if (exponent_ < 0 || !bits_.GetSized(&code) || UnZigZag(code) > kDecimalMax || UnZigZag(code) < -kDecimalMax) {
        return false;
      }
      resets->Add(FromDecimal(UnZigZag(code), exponent_));
      return true;
    }
    SumTerms terms;
    if (kind == kTermsReset && DecodeTerms(&bits_, &terms)) {
      *resets = ExactSum(terms);
      return true;
    }
    return kind == kNoReset;
  }

  CheckedBits bits_;
  ChunkStatistics* const s_;
  int exponent_ = -1;
  bool first_is_nan_ = false;
  bool last_is_nan_ = false;
};

}  // namespace

bool DecodeStatistics(std::string_view bytes, std::uint32_t count, ChunkStatistics* s) {
  *s = ChunkStatistics();
  if (count == 0 || count > kChunkSamplesMax || !Decoder(bytes, s).Decode(count)) {
    return false;
  }
  for (const ValueStatistics& part : s->pages) {
    s->Merge(part);
  }
  if (s->pages.size() == 1) {
    s->pages.clear();
  }
  return true;
}

}  // namespace tsdb::chunk
