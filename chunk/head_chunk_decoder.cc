#include <algorithm>
#include <bit>
#include <memory>

#include "chunk/decimal.h"
#include "chunk/head_chunk.h"

namespace tsdb::chunk {
namespace {

/// A sample takes at most this many bits; the copy of the bits is padded by it, so that only the end of each sample is
/// checked.
constexpr std::size_t kSampleBytesMax = 64;

/// Bits a Peek has for certain, less flag, quotient and stop bit of a symbol.
constexpr unsigned kLowBitsAtOnce = 57 - 1 - head::kQuotientMax;

class HeadDecoder {
 public:
  HeadDecoder(const char* padded, std::uint64_t bits) : bits_(padded), end_(bits) {}

  bool Decode(std::uint32_t count, std::vector<Timestamp>* times, std::vector<double>* values);

 private:
  bool First(std::uint32_t count, Timestamp* time, double* value);
  bool Value(double* value);
  bool EscapedValue(unsigned kind, double* value);
  double XorValue();
  /// The next symbol; false at an escape other than a wide symbol, whose kind is then in `kind`.
  bool Symbol(head::SymbolState* state, std::uint64_t* u, unsigned* kind);
  /// A symbol where no other escape is allowed.
  bool PlainSymbol(head::SymbolState* state, std::uint64_t* u) {
    unsigned kind = 0;
    return Symbol(state, u, &kind);
  }
  void Step(std::uint64_t u) {
    decimal_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(decimal_) + static_cast<std::uint64_t>(UnZigZag(u)));
  }

  BitReader bits_;
  std::uint64_t end_;
  head::SymbolState time_state_ = head::kFirstState;
  head::SymbolState value_state_ = head::kFirstState;
  head::TimeForecast forecast_;
  std::int64_t decimal_ = 0;
  int exponent_ = 0;
  bool xor_mode_ = false;
  std::uint64_t last_bits_ = 0;
  unsigned xor_width_ = 0;
  unsigned xor_trailing_ = 0;
};

bool HeadDecoder::Symbol(head::SymbolState* state, std::uint64_t* u, unsigned* kind) {
  std::uint64_t w = bits_.Peek();
  const bool flagged = state->flagged();
  const unsigned flag = flagged ? 1 : 0;
  if (flagged && (w & 1) == 0) {
    bits_.Skip(1);
    *u = 0;
    state->Update(0, true);
    return true;
  }
  w >>= flag;
  const auto ones = static_cast<unsigned>(std::countr_zero(~w | (1u << head::kQuotientMax)));
  const unsigned k = state->rice_bits();
  if (ones < head::kQuotientMax) [[likely]] {
    bits_.Skip(flag + ones + 1);
    std::uint64_t low = 0;
    if (k <= kLowBitsAtOnce) [[likely]] {
      low = (w >> (ones + 1)) & LowMask(k);
      bits_.Skip(k);
    } else {
      low = bits_.Get(k);
    }
    *u = ((std::uint64_t{ones} << k) | low) + flag;
  } else {
    bits_.Skip(flag + head::kQuotientMax);
    *kind = static_cast<unsigned>(bits_.Get(2));
    if (*kind != head::kWide) {
      return false;
    }
    const auto length = static_cast<unsigned>(bits_.Get(6)) + 1;
    *u = bits_.Get(length) + flag;
  }
  state->Update(*u, flagged);
  return true;
}

bool HeadDecoder::First(std::uint32_t count, Timestamp* time, double* value) {
  *time = static_cast<Timestamp>(bits_.Get(64));
  const auto exponent = static_cast<unsigned>(bits_.Get(5));
  if (exponent == head::kRawFirstValue) {
    last_bits_ = bits_.Get(64);
  } else {
    const auto length = static_cast<unsigned>(bits_.Get(6));
    if (exponent > static_cast<unsigned>(kDecimalExponentMax)) {
      return false;
    }
    exponent_ = static_cast<int>(exponent);
    decimal_ = UnZigZag(bits_.Get(length));
    last_bits_ = std::bit_cast<std::uint64_t>(FromDecimal(decimal_, exponent_));
  }
  *value = std::bit_cast<double>(last_bits_);
  return count > 0 && bits_.position() <= end_;
}

double HeadDecoder::XorValue() {
  if (bits_.Get(1) != 0) {
    if (bits_.Get(1) != 0) {
      const auto leading = static_cast<unsigned>(bits_.Get(5));
      xor_width_ = static_cast<unsigned>(bits_.Get(6)) + 1;
      xor_width_ = std::min(xor_width_, 64 - leading);
      xor_trailing_ = 64 - leading - xor_width_;
    }
    last_bits_ ^= bits_.Get(xor_width_) << (xor_trailing_ & 63);
  }
  return std::bit_cast<double>(last_bits_);
}

bool HeadDecoder::EscapedValue(unsigned kind, double* value) {
  std::uint64_t u = 0;
  if (kind == head::kExponent) {
    const auto exponent = static_cast<int>(bits_.Get(5));
    if (exponent <= exponent_ || exponent > kDecimalExponentMax) {
      return false;
    }
    head::RaiseExponent(exponent - exponent_, &decimal_, &value_state_);
    exponent_ = exponent;
    if (!PlainSymbol(&value_state_, &u)) {
      return false;
    }
    Step(u);
    *value = FromDecimal(decimal_, exponent_);
  } else if (kind == head::kUlps) {
    const std::int64_t ulps = static_cast<std::int64_t>(bits_.Get(4)) + head::kUlpsMin;
    if (!PlainSymbol(&value_state_, &u)) {
      return false;
    }
    Step(u);
    const auto near = std::bit_cast<std::uint64_t>(FromDecimal(decimal_, exponent_));
    *value = std::bit_cast<double>(near + static_cast<std::uint64_t>(ulps));
  } else if (bits_.Get(1) == 0) {
    *value = std::bit_cast<double>(bits_.Get(64));
  } else {
    xor_mode_ = true;
    *value = XorValue();
  }
  return true;
}

bool HeadDecoder::Value(double* value) {
  if (xor_mode_) {
    *value = XorValue();
    return true;
  }
  std::uint64_t u = 0;
  unsigned kind = 0;
  if (Symbol(&value_state_, &u, &kind)) [[likely]] {
    Step(u);
    *value = FromDecimal(decimal_, exponent_);
  } else if (!EscapedValue(kind, value)) {
    return false;
  }
  // Where XOR codes would go on from.
  last_bits_ = std::bit_cast<std::uint64_t>(*value);
  return true;
}

bool HeadDecoder::Decode(std::uint32_t count, std::vector<Timestamp>* times, std::vector<double>* values) {
  Timestamp time = 0;
  double value = 0;
  if (!First(count, &time, &value)) {
    return false;
  }
  times->push_back(time);
  values->push_back(value);
  if (count == 1) {
    return true;
  }
  const auto length = static_cast<unsigned>(bits_.Get(6)) + 1;
  std::uint64_t delta = bits_.Get(length);
  forecast_.Start(delta);
  for (std::uint32_t i = 1;; ++i) {
    const auto next = static_cast<Timestamp>(static_cast<std::uint64_t>(time) + delta);
    if (!Value(&value) || bits_.position() > end_ || next <= time) {
      return false;
    }
    time = next;
    times->push_back(time);
    values->push_back(value);
    if (i + 1 == count) {
      return true;
    }
    std::uint64_t u = 0;
    if (!PlainSymbol(&time_state_, &u)) {
      return false;
    }
    delta = forecast_.Next() + static_cast<std::uint64_t>(UnZigZag(u));
    forecast_.Update(delta, i + 1);
  }
}

}  // namespace

Status DecodeHeadChunk(const HeadChunk::Snapshot& snapshot, std::vector<Timestamp>* times, std::vector<double>* values) {
  if (snapshot.count == 0) {
    return snapshot.bits.empty() ? Status::Ok() : Status::Corruption("head chunk: bits without samples");
  }
  // A sample takes two bits at least: a count beyond that must not make us reserve memory.
  const std::uint64_t bits = std::uint64_t{snapshot.bits.size()} * 8;
  if (snapshot.count > bits / 2) {
    return Status::Corruption("head chunk: " + std::to_string(snapshot.count) + " samples do not fit in " +
                              std::to_string(snapshot.bits.size()) + " bytes");
  }
  const std::unique_ptr<char[]> padded(new char[snapshot.bits.size() + kSampleBytesMax]);
  std::memcpy(padded.get(), snapshot.bits.data(), snapshot.bits.size());
  std::memset(padded.get() + snapshot.bits.size(), 0, kSampleBytesMax);
  times->reserve(times->size() + snapshot.count);
  values->reserve(values->size() + snapshot.count);
  if (!HeadDecoder(padded.get(), bits).Decode(snapshot.count, times, values)) {
    return Status::Corruption("head chunk: its bits do not hold " + std::to_string(snapshot.count) + " samples");
  }
  return Status::Ok();
}

}  // namespace tsdb::chunk
