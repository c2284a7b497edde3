#include "chunk/token_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tsdb::chunk {
namespace {

/// 2^(k/8) in units of 2^-16.
constexpr std::array<std::uint32_t, 8> kEighths = {65536, 71468, 77936, 84990, 92682, 101070, 110218, 120194};

std::uint64_t Weight(unsigned level, unsigned precision) {
  const unsigned fraction = (level & ((1u << precision) - 1)) << (kPrecisionMax - precision);
  return std::uint64_t{kEighths[fraction]} << (level >> precision);
}

unsigned LevelMax(unsigned log, unsigned precision) { return (log + 1) << precision; }

constexpr unsigned kRiceBits = 2;  // of the field that holds a Rice parameter

}  // namespace

void TokenSet::SetGraded(const GradedTokens& graded, int first, std::size_t count) {
  size = count;
  bits_max = 0;
  for (std::size_t t = 0; t < count; ++t) {
    const int step = first + static_cast<int>(t);
    auto distance = static_cast<std::uint64_t>(step < 0 ? -step : step);
    unsigned width = 0;
    if (distance >> graded.direct != 0) {
      const std::uint64_t above = distance - (std::uint64_t{1} << graded.direct);
      width = graded.direct + static_cast<unsigned>(above >> graded.mantissa) - graded.mantissa;
      distance = ((std::uint64_t{1} << graded.mantissa) + (above & LowMask(graded.mantissa))) << width;
    }
    base[t] = step < 0 ? graded.centre - distance - LowMask(width) : graded.centre + distance;
    bits[t] = static_cast<std::uint8_t>(width);
    bits_max = std::max(bits_max, width);
  }
}

void TokenSet::SetDictionary(std::span<const std::uint64_t> integers) {
  size = integers.size();
  bits_max = 0;
  std::copy(integers.begin(), integers.end(), base.begin());
  std::fill_n(bits.begin(), size, std::uint8_t{0});
}

Levels LevelsOf(std::span<const std::uint32_t> counts, unsigned log, unsigned precision) {
  Levels levels{};
  const double most = *std::max_element(counts.begin(), counts.end());
  const auto top = static_cast<double>(LevelMax(log, precision));
  for (std::size_t t = 0; t < counts.size(); ++t) {
    if (counts[t] > 0) {
      const double below = std::log2(most / counts[t]) * static_cast<double>(1u << precision);
      levels[t] = static_cast<std::uint8_t>(std::max(1.0, std::round(top - below)));
    }
  }
  return levels;
}

bool FrequenciesOf(const Levels& levels, std::size_t size, unsigned log, unsigned precision,
                   rans::Frequencies* frequencies) {
  frequencies->fill(0);
  std::uint64_t sum = 0;
  std::uint32_t present = 0;
  std::size_t largest = 0;
  for (std::size_t t = 0; t < size; ++t) {
    if (levels[t] > 0) {
      sum += Weight(levels[t], precision);
      ++present;
      largest = levels[t] > levels[largest] ? t : largest;
    }
  }
  const std::uint32_t all = 1u << log;
  if (present == 0 || present > all) {
    return false;
  }
  // One each, the rest by weight, what rounding leaves over to the most frequent.
  std::uint32_t given = 0;
  for (std::size_t t = 0; t < size; ++t) {
    if (levels[t] > 0) {
      const auto share = static_cast<std::uint32_t>(Weight(levels[t], precision) * (all - present) / sum);
      (*frequencies)[t] = static_cast<std::uint16_t>(1 + share);
      given += 1 + share;
    }
  }
  (*frequencies)[largest] = static_cast<std::uint16_t>((*frequencies)[largest] + all - given);
  return true;
}

void PutGamma(std::uint32_t v, BitWriter* bits) {
  const unsigned length = BitLength(v);
  bits->Put(LowMask(length - 1), length);  // ones, then a zero
  bits->Put(v & LowMask(length - 1), length - 1);
}

void PutLevels(const Levels& levels, std::size_t size, unsigned log, unsigned precision, BitWriter* bits) {
  // Runs of tokens that occur and of tokens that do not, in turn.
  bool present = true;
  for (std::size_t t = 0; t < size; present = !present) {
    std::size_t run = 0;
    while (t + run < size && (levels[t + run] > 0) == present) {
      ++run;
    }
    PutGamma(static_cast<std::uint32_t>(run + (t == 0 && present ? 1 : 0)), bits);
    t += run;
  }
  std::array<std::uint32_t, rans::kTokensMax> symbols;
  std::size_t count = 0;
  unsigned previous = LevelMax(log, precision);
  for (std::size_t t = 0; t < size; ++t) {
    if (levels[t] > 0) {
      symbols[count++] = static_cast<std::uint32_t>(ZigZag(std::int64_t{levels[t]} - std::int64_t{previous}));
      previous = levels[t];
    }
  }
  unsigned best = 0;
  std::size_t best_cost = ~std::size_t{0};
  for (unsigned k = 0; k < 1u << kRiceBits; ++k) {
    std::size_t cost = count * k;
    for (std::size_t i = 0; i < count; ++i) {
      cost += symbols[i] >> k;
    }
    if (cost < best_cost) {
      best_cost = cost;
      best = k;
    }
  }
  bits->Put(best, kRiceBits);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::uint32_t ones = symbols[i] >> best; ones > 0; --ones) {
      bits->Put(1, 1);
    }
    bits->Put(0, 1);
    bits->Put(symbols[i] & LowMask(best), best);
  }
}

std::uint64_t HeaderBits::Peek() const {
  const std::size_t byte = position_ / 8;
  std::uint64_t v = 0;
  if (byte + sizeof(v) <= bytes_.size()) {
    v = LoadFixed<std::uint64_t>(bytes_.data() + byte);
  } else if (byte < bytes_.size()) {
    std::memcpy(&v, bytes_.data() + byte, bytes_.size() - byte);
  }
  return v >> (position_ % 8);
}

std::uint32_t HeaderBits::Get(unsigned width) {
  if (width > bytes_.size() * 8 - position_) {
    ok_ = false;
    return 0;
  }
  const std::uint64_t v = Peek() & LowMask(width);
  position_ += width;
  return static_cast<std::uint32_t>(v);
}

std::uint32_t HeaderBits::GetGamma() {
  const unsigned below = GetUnary(16);
  return ok_ ? 1u << below | Get(below) : 1;
}

std::uint32_t HeaderBits::GetUnary(std::uint32_t most) {
  std::uint32_t ones = 0;
  for (;;) {
    const auto run = static_cast<std::uint32_t>(std::min(std::countr_one(Peek()), 32));
    ones += run;
    if (ones > most || bytes_.size() * 8 - position_ <= run) {
      ok_ = false;
      return 0;
    }
    position_ += run;
    if (run < 32) {
      ++position_;  // the zero
      return ones;
    }
  }
}

bool ReadLevels(HeaderBits* bits, std::size_t size, unsigned log, unsigned precision, Levels* levels) {
  levels->fill(0);
  bool present = true;
  for (std::size_t t = 0; t < size; present = !present) {
    const std::uint32_t run = bits->GetGamma() - (t == 0 && present ? 1 : 0);
    if (!bits->ok() || run > size - t) {
      return bits->Fail();
    }
    std::fill_n(levels->begin() + static_cast<std::ptrdiff_t>(t), run, static_cast<std::uint8_t>(present ? 1 : 0));
    t += run;
  }
  const unsigned k = bits->Get(kRiceBits);
  const std::int64_t top = LevelMax(log, precision);
  std::int64_t level = top;
  for (std::size_t t = 0; t < size; ++t) {
    if ((*levels)[t] > 0) {
      const std::uint32_t ones = bits->GetUnary(2 * static_cast<std::uint32_t>(top));
      level += UnZigZag(std::uint64_t{ones} << k | bits->Get(k));
      if (!bits->ok() || level < 1 || level > top) {
        return bits->Fail();
      }
      (*levels)[t] = static_cast<std::uint8_t>(level);
    }
  }
  return bits->ok();
}

}  // namespace tsdb::chunk
