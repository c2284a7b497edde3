#include <algorithm>
#include <array>
#include <bit>
#include <memory>

#include "chunk/bit_instructions.h"
#include "chunk/codec_kernels.h"
#include "chunk/decimal.h"
#include "chunk/head_chunk.h"

namespace tsdb::chunk {
namespace {

/// A sample takes less than this; the copy of the bits is padded by it, so that only the end of each sample is checked.
constexpr std::size_t kSampleBytesMax = 64;

/// A symbol without escape: flag, quotient, stop bit and low bits, and the bit of a time on the grid before it, are no
/// more than one look at the bits shows for certain.
static_assert(1 + 1 + head::kQuotientMax + head::SymbolState::kRiceBitsMax <= 57);

/// Reads a symbol without escape from `w`, 56 or more valid bits, and says how many it took; 0: it is something else,
/// and nothing has changed. Without branches on what the symbol is, which nobody can foretell.
TSDB_BOTH_WAYS unsigned TakeSymbol(std::uint64_t w, head::SymbolState* state, std::uint64_t* u) {
  const std::uint64_t flagged = state->flagged() ? 1 : 0;
  const std::uint64_t flag = flagged & w;
  const std::uint64_t keep = (flagged & ~w) - 1;  // 0 for a flagged zero, which has no low bits
  const std::uint64_t mean = state->mean;
  const unsigned k = state->rice_bits() & static_cast<unsigned>(keep);
  const auto ones = static_cast<unsigned>(std::countr_zero(~w | std::uint64_t{1} << 32));
  const std::uint64_t quotient = ones - flag;
  if (quotient >= head::kQuotientMax || state->too_wide()) [[unlikely]] {
    return 0;
  }
  const std::uint64_t rest = (quotient << k) | ((w >> (ones + 1)) & ((std::uint64_t{1} << k) - 1));
  *u = rest + flag;
  const std::uint64_t zero = *u == 0 ? 1 : 0;
  state->mean = mean + ((rest - (mean >> 4)) & keep);
  state->zeros += static_cast<std::uint32_t>(zero * (head::SymbolState::kZerosAll >> 4)) - (state->zeros >> 4);
  return ones + 1 + k;
}

/// The same, with a branch where most symbols are one bit 0.
TSDB_BOTH_WAYS unsigned TakeLikelySymbol(std::uint64_t w, head::SymbolState* state, std::uint64_t* u) {
  if (state->mostly_zero() && (w & 1) == 0) {
    *u = 0;
    state->UpdateZeros(1);
    return 1;
  }
  return TakeSymbol(w, state, u);
}

class HeadDecoder {
 public:
  /// `padded` holds `bits` bits and kSampleBytesMax bytes more.
  HeadDecoder(const char* padded, std::uint64_t bits) : data_(padded), bits_(padded), end_(bits) {}

  /// How many of `count` samples were read into `times` and `values`; less when the bits are damaged.
  std::size_t Decode(std::size_t count, Timestamp* times, double* values);

 private:
  bool First(Timestamp* time, double* value);
  bool Second(Timestamp* time, double* value);
  std::size_t UsualSamples(std::size_t index, std::size_t most, Timestamp* times, double* values);
  std::size_t XorSamples(std::size_t count, Timestamp* times, double* values);
  std::size_t UsualSamplesWithBits(std::size_t index, std::size_t most, Timestamp* times, double* values);
  std::size_t UsualSamplesAnywhere(std::size_t index, std::size_t most, Timestamp* times, double* values);
  bool AnySample(std::size_t index, Timestamp* time, double* value);
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
    const auto step = static_cast<std::uint64_t>(UnZigZag(u));
    decimal_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(decimal_) + step);
  }

  const char* data_;
  BitReader bits_;
  std::uint64_t end_;
  Timestamp time_ = 0;
  head::SymbolState time_state_ = head::kFirstState;
  head::SymbolState value_state_ = head::kFirstState;
  head::TimeForecast forecast_;
  std::int64_t decimal_ = 0;
  int exponent_ = 0;
  bool xor_mode_ = false;
  bool damaged_ = false;
  std::uint64_t last_bits_ = 0;
  unsigned xor_width_ = 0;
  unsigned xor_trailing_ = 0;
};

bool HeadDecoder::Symbol(head::SymbolState* state, std::uint64_t* u, unsigned* kind) {
  if (const unsigned taken = TakeSymbol(bits_.Peek(), state, u); taken != 0) {
    bits_.Skip(taken);
    return true;
  }
  const bool flagged = state->flagged();
  if (flagged && (bits_.Peek() & 1) == 0) {  // of a mean too wide
    bits_.Skip(1);
    *u = 0;
  } else {
    // Whatever else is no escape is damage, and comes out as one of some kind.
    bits_.Skip(head::kQuotientMax + (flagged ? 1 : 0));
    *kind = static_cast<unsigned>(bits_.Get(2));
    if (*kind != head::kWide) {
      return false;
    }
    const auto length = static_cast<unsigned>(bits_.Get(6)) + 1;
    *u = bits_.Get(length) + (flagged ? 1 : 0);
  }
  state->Update(*u, flagged);
  return true;
}

bool HeadDecoder::First(Timestamp* time, double* value) {
  time_ = static_cast<Timestamp>(bits_.Get(64));
  *time = time_;
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
  return bits_.position() <= end_;
}

bool HeadDecoder::Second(Timestamp* time, double* value) {
  const auto length = static_cast<unsigned>(bits_.Get(6)) + 1;
  const std::uint64_t delta = bits_.Get(length);
  forecast_.Start(delta);
  *time = static_cast<Timestamp>(static_cast<std::uint64_t>(time_) + delta);
  const bool rising = *time > time_;
  time_ = *time;
  return rising && Value(value) && bits_.position() <= end_;
}

TSDB_BOTH_WAYS double HeadDecoder::XorValue() {
  const std::uint64_t w = bits_.Peek();
  if ((w & 1) == 0) {
    bits_.Skip(1);
  } else {
    if ((w & 2) == 0) {
      bits_.Skip(2);
    } else {
      const auto leading = static_cast<unsigned>(w >> 2 & 31);
      xor_width_ = static_cast<unsigned>(w >> 7 & 63) + 1;
      xor_width_ = std::min(xor_width_, 64 - leading);
      xor_trailing_ = 64 - leading - xor_width_;
      bits_.Skip(13);
    }
    last_bits_ ^= bits_.Get(xor_width_) << (xor_trailing_ & 63);
  }
  return std::bit_cast<double>(last_bits_);
}

/// Samples of XOR codes whose times take one bit each, while such come.
std::size_t HeadDecoder::XorSamples(std::size_t count, Timestamp* times, double* values) {
  if (!time_state_.flagged() || !forecast_.at_rest()) {
    return 0;
  }
  const std::uint64_t step = forecast_.rest_step();
  std::size_t done = 0;
  for (; done < count && (bits_.Peek() & 1) == 0; ++done) {
    const auto next = static_cast<Timestamp>(static_cast<std::uint64_t>(time_) + step);
    bits_.Skip(1);
    values[done] = XorValue();
    if (bits_.position() > end_ || next <= time_) {
      damaged_ = true;
      break;
    }
    times[done] = time_ = next;
  }
  forecast_.UpdateAtRest(static_cast<std::uint32_t>(done));
  time_state_.UpdateZeros(static_cast<std::uint32_t>(done));
  return done;
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
  if (Symbol(&value_state_, &u, &kind)) {
    Step(u);
    *value = FromDecimal(decimal_, exponent_);
  } else if (!EscapedValue(kind, value)) {
    return false;
  }
  last_bits_ = std::bit_cast<std::uint64_t>(*value);  // where XOR codes would go on from
  return true;
}

bool HeadDecoder::AnySample(std::size_t index, Timestamp* time, double* value) {
  std::uint64_t u = 0;
  if (!PlainSymbol(&time_state_, &u)) {
    return false;
  }
  const std::uint64_t delta = forecast_.Next() + static_cast<std::uint64_t>(UnZigZag(u));
  forecast_.Update(delta, static_cast<std::uint32_t>(index));
  *time = static_cast<Timestamp>(static_cast<std::uint64_t>(time_) + delta);
  const bool rising = *time > time_;
  time_ = *time;
  return rising && Value(value) && bits_.position() <= end_;
}

/// Samples whose time and value are plain symbols, up to `most`; stops before the first that is not, or is damaged. The
/// state is kept in locals, so that it stays in registers.
TSDB_BOTH_WAYS std::size_t HeadDecoder::UsualSamples(std::size_t index, std::size_t most, Timestamp* times,
                                                     double* values) {
  std::uint64_t position = bits_.position();
  head::SymbolState time_state = time_state_;
  head::SymbolState value_state = value_state_;
  head::TimeForecast forecast = forecast_;
  auto decimal = static_cast<std::uint64_t>(decimal_);
  Timestamp time = time_;
  const char* const data = data_;
  const std::uint64_t end = end_;
  const std::size_t count = std::min(most, kBlockValues);
  std::array<std::uint64_t, kBlockValues> decimals;
  std::size_t done = 0;
  bool usual = true;
  while (usual && done < count) {
    std::uint64_t u = 0;
    if (time_state.flagged() && forecast.at_rest()) {
      // While times stay on the grid they are a bit 0 each, and their states are told afterwards.
      const std::uint64_t step = forecast.rest_step();
      const std::size_t from = done;
      for (; done < count; ++done) {
        const std::uint64_t w = LoadFixed<std::uint64_t>(data + (position >> 3)) >> (position & 7);
        if ((w & 1) != 0) {
          break;
        }
        const auto next_time = static_cast<Timestamp>(static_cast<std::uint64_t>(time) + step);
        const unsigned taken = TakeLikelySymbol(w >> 1, &value_state, &u);
        const std::uint64_t next = position + 1 + taken;
        if (taken == 0 || next > end || next_time <= time) [[unlikely]] {
          damaged_ = taken != 0;
          usual = false;
          break;
        }
        position = next;
        time = next_time;
        decimal += static_cast<std::uint64_t>(UnZigZag(u));
        times[done] = time;
        decimals[done] = decimal;
      }
      forecast.UpdateAtRest(static_cast<std::uint32_t>(done - from));
      time_state.UpdateZeros(static_cast<std::uint32_t>(done - from));
      if (!usual || done == count) {
        break;
      }
    }
    head::SymbolState next_time_state = time_state;
    std::uint64_t time_symbol = 0;
    const std::uint64_t w = LoadFixed<std::uint64_t>(data + (position >> 3)) >> (position & 7);
    const unsigned time_bits = TakeLikelySymbol(w, &next_time_state, &time_symbol);
    if (time_bits == 0) [[unlikely]] {
      break;
    }
    std::uint64_t next = position + time_bits;
    const std::uint64_t delta = forecast.Next() + static_cast<std::uint64_t>(UnZigZag(time_symbol));
    const auto next_time = static_cast<Timestamp>(static_cast<std::uint64_t>(time) + delta);
    const unsigned taken =
        TakeLikelySymbol(LoadFixed<std::uint64_t>(data + (next >> 3)) >> (next & 7), &value_state, &u);
    next += taken;
    if (taken == 0 || next > end || next_time <= time) [[unlikely]] {
      damaged_ = taken != 0;
      break;
    }
    forecast.Update(delta, static_cast<std::uint32_t>(index + done));
    position = next;
    time_state = next_time_state;
    time = next_time;
    decimal += static_cast<std::uint64_t>(UnZigZag(u));
    times[done] = time;
    decimals[done] = decimal;
    ++done;
  }
  if (done > 0) {
    Kernels().to_decimals(decimals.data(), done, kPowersOfTen[static_cast<std::size_t>(exponent_)], values);
    bits_ = BitReader(data_, position);
    time_state_ = time_state;
    value_state_ = value_state;
    forecast_ = forecast;
    decimal_ = static_cast<std::int64_t>(decimal);
    time_ = time;
    last_bits_ = std::bit_cast<std::uint64_t>(values[done - 1]);
  }
  return done;
}

TSDB_BIT_INSTRUCTIONS std::size_t HeadDecoder::UsualSamplesWithBits(std::size_t index, std::size_t most,
                                                                    Timestamp* times, double* values) {
  return UsualSamples(index, most, times, values);
}
std::size_t HeadDecoder::UsualSamplesAnywhere(std::size_t index, std::size_t most, Timestamp* times, double* values) {
  return UsualSamples(index, most, times, values);
}

std::size_t HeadDecoder::Decode(std::size_t count, Timestamp* times, double* values) {
  if (!First(times, values)) {
    return 0;
  }
  if (count == 1 || !Second(times + 1, values + 1)) {
    return 1;
  }
  std::size_t i = 2;
  while (i < count) {
    if (xor_mode_) {
      i += XorSamples(count - i, times + i, values + i);
    } else {
      i += UseBitInstructions() ? UsualSamplesWithBits(i, count - i, times + i, values + i)
                                : UsualSamplesAnywhere(i, count - i, times + i, values + i);
    }
    if (i < count) {
      if (damaged_ || !AnySample(i, times + i, values + i)) {
        break;
      }
      ++i;
    }
  }
  return i;
}

}  // namespace

Status DecodeHeadChunk(const HeadChunk::Snapshot& snapshot, std::vector<Timestamp>* times,
                       std::vector<double>* values) {
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
  const std::size_t before = times->size();
  times->resize(before + snapshot.count);
  values->resize(before + snapshot.count);
  const std::size_t decoded =
      HeadDecoder(padded.get(), bits).Decode(snapshot.count, times->data() + before, values->data() + before);
  if (decoded < snapshot.count) {
    times->resize(before + decoded);
    values->resize(before + decoded);
    return Status::Corruption("head chunk: its bits do not hold " + std::to_string(snapshot.count) + " samples");
  }
  return Status::Ok();
}

}  // namespace tsdb::chunk
