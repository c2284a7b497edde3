#include "chunk/head_chunk.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "chunk/bit_instructions.h"
#include "chunk/decimal.h"

namespace tsdb::chunk {
namespace {

/// Bits a sample takes at most: a wide time (1 + 15 + 2 + 6 + 64), a raised exponent (1 + 15 + 2 + 5) and a wide value.
constexpr std::size_t kSampleBitsMax = 256;
/// The first sample takes a time, an exponent and a raw value.
constexpr std::size_t kFirstSampleBitsMax = 64 + 5 + 64;
/// A first value with more digits may be noise; a second one raises the exponent.
constexpr int kFirstExponentMax = 9;
/// What a digit costs for the rest of the chunk is weighed against raw values so far; see PutAtHigherExponent.
constexpr double kRawBits = 82;
constexpr double kBitsPerDigit = 3.33;

/// What came minus what was expected, zig-zag coded.
inline std::uint64_t Symbol(std::uint64_t came, std::uint64_t expected) {
  return ZigZag(static_cast<std::int64_t>(came - expected));
}

inline std::uint64_t DecimalSymbol(std::int64_t decimal, std::int64_t last) {
  return Symbol(static_cast<std::uint64_t>(decimal), static_cast<std::uint64_t>(last));
}

/// A decimal with a correction is worth its bits.
bool IsNear(const DecimalMatch& match) {
  return match.in_range && match.decimal != 0 && std::abs(match.decimal) < head::kNearDecimalMax &&
         match.ulps >= head::kUlpsMin && match.ulps <= head::kUlpsMax;
}

}  // namespace

HeadChunk::~HeadChunk() { std::free(words_); }

HeadChunk::HeadChunk(HeadChunk&& other) noexcept { *this = std::move(other); }

HeadChunk& HeadChunk::operator=(HeadChunk&& other) noexcept {
  if (this != &other) {
    std::free(words_);
    words_ = std::exchange(other.words_, nullptr);
    used_bits_ = std::exchange(other.used_bits_, 0);
    full_bits_ = std::exchange(other.full_bits_, 0);
    last_time_ = other.last_time_;
    decimal_ = other.decimal_;
    last_bits_ = other.last_bits_;
    value_state_ = std::exchange(other.value_state_, head::kFirstState);
    time_state_ = std::exchange(other.time_state_, head::kFirstState);
    forecast_ = std::exchange(other.forecast_, {});
    count_ = std::exchange(other.count_, 0);
    rest_from_ = std::exchange(other.rest_from_, 0);
    at_rest_ = std::exchange(other.at_rest_, false);
    exponent_ = std::exchange(other.exponent_, 0);
    raw_values_ = std::exchange(other.raw_values_, 0);
    xor_leading_ = std::exchange(other.xor_leading_, 0);
    xor_trailing_ = std::exchange(other.xor_trailing_, 0);
    xor_mode_ = std::exchange(other.xor_mode_, false);
    last_exact_ = std::exchange(other.last_exact_, false);
  }
  return *this;
}

inline void HeadChunk::Put(std::uint64_t v, unsigned width) {
  // The word behind is written too, with nothing when the bits end before it.
  std::uint64_t* word = words_ + used_bits_ / 64;
  const unsigned shift = used_bits_ % 64;
  word[0] |= v << shift;
  word[1] = (v >> 1) >> (63 - shift);
  used_bits_ += width;
}

void HeadChunk::Append(Timestamp time, double value) {
  if (UseBitInstructions()) [[likely]] {
    AppendWithBitInstructions(time, value);
  } else {
    AppendAnywhere(time, value);
  }
}

TSDB_BIT_INSTRUCTIONS void HeadChunk::AppendWithBitInstructions(Timestamp time, double value) {
  if (!AppendAtRest(time, value)) [[unlikely]] {
    AppendOtherWithBitInstructions(time, value);
  }
}
void HeadChunk::AppendAnywhere(Timestamp time, double value) {
  if (!AppendAtRest(time, value)) [[unlikely]] {
    AppendOtherAnywhere(time, value);
  }
}
TSDB_BIT_INSTRUCTIONS void HeadChunk::AppendOtherWithBitInstructions(Timestamp time, double value) {
  AppendOther(time, value);
}
void HeadChunk::AppendOtherAnywhere(Timestamp time, double value) { AppendOther(time, value); }

/// The usual sample: one bit of time and a short value, put at once. False, with nothing changed, for any other, and
/// when there is no room.
TSDB_BOTH_WAYS bool HeadChunk::AppendAtRest(Timestamp time, double value) {
  const std::uint64_t delta = static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(last_time_);
  if (!at_rest_ || delta != forecast_.rest_step() || time <= last_time_ || used_bits_ >= full_bits_) [[unlikely]] {
    return false;
  }
  const auto bits = std::bit_cast<std::uint64_t>(value);
  if (value_state_.mostly_zero() && bits == last_bits_ && last_exact_) {
    used_bits_ += 2;  // both zero
    value_state_.UpdateZeros(1);
    last_time_ = time;
    ++count_;
    return true;
  }
  const DecimalMatch match = MatchDecimal(value, exponent_);
  head::Code code;
  if (!match.exact() || !head::MakeCode(&value_state_, DecimalSymbol(match.decimal, decimal_), &code)) [[unlikely]] {
    return false;
  }
  Put(code.bits << 1, code.width + 1);
  decimal_ = match.decimal;
  last_time_ = time;
  last_bits_ = bits;
  last_exact_ = true;
  ++count_;
  return true;
}

TSDB_BOTH_WAYS void HeadChunk::AppendOther(Timestamp time, double value) {
  // Room first: a failure to grow leaves the chunk as it was. The usual sample needs two words, the worst five.
  if (used_bits_ >= full_bits_) [[unlikely]] {
    Grow(used_bits_ / 64 + 2);
  }
  const std::uint64_t delta = static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(last_time_);
  if (count_ == 0) [[unlikely]] {
    AppendFirst(time, value);
    return;
  }
  if (time <= last_time_) [[unlikely]] {
    std::abort();
  }
  if (count_ == 1) [[unlikely]] {
    AppendSecond(time, delta, value);
    return;
  }
  if (xor_mode_) {
    AppendXor(time, delta, value);
    return;
  }
  SettleRest();
  if (!AppendSymbols(time, delta, value)) {
    AppendWithEscapes(time, delta, value);
  }
  LookForRest();
}

/// Tells forecast and state of the times at rest that they have not been told of.
inline void HeadChunk::SettleRest() {
  if (at_rest_) {
    forecast_.UpdateAtRest(count_ - rest_from_);
    time_state_.UpdateZeros(count_ - rest_from_);
    rest_from_ = count_;
  }
}

inline void HeadChunk::LookForRest() {
  at_rest_ = time_state_.flagged() && forecast_.at_rest() && !xor_mode_;
  rest_from_ = count_;
}

TSDB_BOTH_WAYS bool HeadChunk::AppendSymbols(Timestamp time, std::uint64_t delta, double value) {
  // On copies: nothing has changed when an escape is needed, or there is no memory.
  head::SymbolState time_state = time_state_;
  head::SymbolState value_state = value_state_;
  head::Code time_code;
  head::Code value_code = {0, 1};
  const auto value_bits = std::bit_cast<std::uint64_t>(value);
  std::int64_t decimal = decimal_;
  if (value_state.mostly_zero() && value_bits == last_bits_ && last_exact_) {
    value_state.UpdateZeros(1);
  } else {
    const DecimalMatch match = MatchDecimal(value, exponent_);
    if (!match.exact() ||
        !head::MakeCode(&value_state, DecimalSymbol(match.decimal, decimal_), &value_code)) {
      return false;
    }
    decimal = match.decimal;
  }
  if (!head::MakeCode(&time_state, Symbol(delta, forecast_.Next()), &time_code)) {
    return false;
  }
  const std::uint32_t bits = used_bits_ + time_code.width + value_code.width;
  if (bits >= full_bits_) [[unlikely]] {
    Grow(bits / 64 + 2);
  }
  Put(time_code.bits, time_code.width);
  Put(value_code.bits, value_code.width);
  forecast_.Update(delta, count_);
  time_state_ = time_state;
  value_state_ = value_state;
  decimal_ = decimal;
  last_time_ = time;
  last_bits_ = value_bits;
  last_exact_ = true;
  ++count_;
  return true;
}

void HeadChunk::AppendXor(Timestamp time, std::uint64_t delta, double value) {
  Reserve(1);
  if (delta == forecast_.rest_step() && forecast_.at_rest() && time_state_.flagged()) {
    Put(0, 1);
    forecast_.UpdateAtRest(1);
    time_state_.UpdateZeros(1);
  } else {
    PutSymbol(&time_state_, Symbol(delta, forecast_.Next()));
    forecast_.Update(delta, count_);
  }
  PutXor(std::bit_cast<std::uint64_t>(value));
  last_bits_ = std::bit_cast<std::uint64_t>(value);
  last_time_ = time;
  ++count_;
}

void HeadChunk::AppendWithEscapes(Timestamp time, std::uint64_t delta, double value) {
  Reserve(1);
  PutSymbol(&time_state_, Symbol(delta, forecast_.Next()));
  forecast_.Update(delta, count_);
  PutValue(value);
  last_time_ = time;
  ++count_;
}

void HeadChunk::AppendSecond(Timestamp time, std::uint64_t delta, double value) {
  Reserve(1);
  Put(BitLength(delta) - 1, 6);
  Put(delta, BitLength(delta));
  forecast_.Start(delta);
  PutValue(value);
  last_time_ = time;
  ++count_;
}

void HeadChunk::Reserve(std::size_t samples) {
  const std::size_t bits = (count_ == 0 ? kFirstSampleBitsMax : 0) + samples * kSampleBitsMax;
  const std::size_t words = (used_bits_ + bits) / 64 + 2;
  if (words > capacity()) {
    Grow(words);
  }
}

void HeadChunk::AppendFirst(Timestamp time, double value) {
  Reserve(0);
  Put(static_cast<std::uint64_t>(time), 64);
  const int exponent = ExactExponent(value);
  last_bits_ = std::bit_cast<std::uint64_t>(value);
  if (exponent >= 0 && exponent <= kFirstExponentMax) {
    exponent_ = static_cast<std::uint8_t>(exponent);
    decimal_ = MatchDecimal(value, exponent).decimal;
    const std::uint64_t u = ZigZag(decimal_);
    Put(exponent_, 5);
    Put(BitLength(u), 6);  // at most 53
    Put(u, BitLength(u));
  } else {
    exponent_ = 0;
    decimal_ = 0;
    Put(head::kRawFirstValue, 5);
    Put(last_bits_, 64);
  }
  last_time_ = time;
  count_ = 1;
}

void HeadChunk::PutSymbol(head::SymbolState* state, std::uint64_t u) {
  head::Code code;
  if (head::MakeCode(state, u, &code)) {
    Put(code.bits, code.width);
    return;
  }
  const bool flagged = state->flagged();
  if (flagged && u == 0) {
    Put(0, 1);
    state->Update(u, flagged);
    return;
  }
  PutEscape(*state, head::kWide);
  const std::uint64_t rest = u - (flagged ? 1 : 0);
  const unsigned length = BitLength(rest | 1);
  Put(length - 1, 6);
  Put(rest, length);
  state->Update(u, flagged);
}

void HeadChunk::PutEscape(const head::SymbolState& state, unsigned kind) {
  const unsigned flag = state.flagged() ? 1 : 0;
  const std::uint64_t code = head::kEscapePrefix | std::uint64_t{kind} << head::kQuotientMax;
  Put(code << flag | flag, head::kQuotientMax + 2 + flag);
}

void HeadChunk::PutValue(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  last_exact_ = false;
  if (xor_mode_) {
    PutXor(bits);
  } else if (const DecimalMatch match = MatchDecimal(value, exponent_); match.exact()) {
    last_exact_ = true;
    PutSymbol(&value_state_, DecimalSymbol(match.decimal, decimal_));
    decimal_ = match.decimal;
  } else if (IsNear(match)) {
    PutEscape(value_state_, head::kUlps);
    Put(static_cast<std::uint64_t>(match.ulps - head::kUlpsMin), 4);
    PutSymbol(&value_state_, DecimalSymbol(match.decimal, decimal_));
    decimal_ = match.decimal;
  } else if (!PutAtHigherExponent(value)) {
    PutUnmatched(value);
  }
  last_bits_ = bits;
}

bool HeadChunk::PutAtHigherExponent(double value) {
  const int exponent = ExactExponent(value, exponent_ + 1);
  if (exponent < 0) {
    return false;
  }
  // Every later sample pays for the digits: worth it once as much has been paid for raw values.
  const int digits = exponent - exponent_;
  const double raws = static_cast<double>(raw_values_) + 1;
  if (2 * kRawBits * raws < kBitsPerDigit * digits * static_cast<double>(count_)) {
    return false;
  }
  const double scaled = static_cast<double>(decimal_) * kPowersOfTen[static_cast<std::size_t>(digits)];
  if (std::fabs(scaled) >= static_cast<double>(kDecimalMax)) {
    return false;
  }
  PutEscape(value_state_, head::kExponent);
  Put(static_cast<std::uint64_t>(exponent), 5);
  head::RaiseExponent(digits, &decimal_, &value_state_);
  exponent_ = static_cast<std::uint8_t>(exponent);
  const std::int64_t decimal = MatchDecimal(value, exponent).decimal;
  PutSymbol(&value_state_, DecimalSymbol(decimal, decimal_));
  decimal_ = decimal;
  return true;
}

void HeadChunk::PutUnmatched(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  PutEscape(value_state_, head::kRaw);
  raw_values_ = static_cast<std::uint8_t>(std::min(raw_values_ + 1, 255));
  if (raw_values_ >= 4 && std::uint32_t{raw_values_} * 4 > count_) {
    Put(1, 1);
    xor_mode_ = true;
    xor_leading_ = 64;  // no window yet
    PutXor(bits);
  } else {
    Put(0, 1);
    Put(bits, 64);
  }
}

void HeadChunk::PutXor(std::uint64_t bits) {
  const std::uint64_t x = bits ^ last_bits_;
  if (x == 0) {
    Put(0, 1);
    return;
  }
  const auto leading = std::min(31u, static_cast<unsigned>(std::countl_zero(x)));
  const auto trailing = static_cast<unsigned>(std::countr_zero(x));
  if (xor_leading_ != 64 && leading >= xor_leading_ && trailing >= xor_trailing_) {
    Put(1, 2);
    Put(x >> xor_trailing_, 64u - xor_leading_ - xor_trailing_);
    return;
  }
  xor_leading_ = static_cast<std::uint8_t>(leading);
  xor_trailing_ = static_cast<std::uint8_t>(trailing);
  const unsigned width = 64 - leading - trailing;
  Put(3 | leading << 2 | (width - 1) << 7, 13);
  Put(x >> trailing, width);
}

void HeadChunk::Grow(std::size_t words) {
  // By a quarter, to sizes of 16·n + 8 bytes, which malloc rounds least.
  const std::size_t before = capacity();
  std::size_t capacity = std::max<std::size_t>(words, before + before / 4);
  capacity |= 1;
  void* grown = std::realloc(words_, capacity * sizeof(std::uint64_t));
  if (grown == nullptr) {
    throw std::bad_alloc();
  }
  words_ = static_cast<std::uint64_t*>(grown);
  std::memset(words_ + before, 0, (capacity - before) * sizeof(std::uint64_t));
  full_bits_ = static_cast<std::uint32_t>((capacity - 1) * 64);
}

HeadChunk::Snapshot HeadChunk::TakeSnapshot() const {
  Snapshot snapshot;
  snapshot.count = count_;
  snapshot.bits.assign(reinterpret_cast<const char*>(words_), used_bytes());
  return snapshot;
}

}  // namespace tsdb::chunk
