#include "wal/put_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/coding.h"

namespace tsdb::wal {
namespace {

// Id codes.
[[maybe_unused]] constexpr unsigned kIdSame = 0;
[[maybe_unused]] constexpr unsigned kIdNext = 1;   // previous + 1
constexpr unsigned kIdShort = 2;  // 3 bytes, zig-zag difference
constexpr unsigned kIdFull = 3;   // 8 bytes, difference modulo 2^64
// Time codes.
constexpr unsigned kTimeSame = 0;
constexpr unsigned kTimeStep = 1;   // the step that was last written out
constexpr unsigned kTimeShort = 2;  // 4 bytes, zig-zag step
constexpr unsigned kTimeFull = 3;   // 8 bytes, step modulo 2^64
// Value codes: 0 the value before; 1-7 an integer, zig-zag, in as many bytes; 8 + k the bits without their k lowest
// bytes, which are zero (k <= 6); 15 is not used.
constexpr unsigned kValueSame = 0;
constexpr unsigned kValueBits = 8;
constexpr unsigned kValueInvalid = 15;

constexpr std::array<unsigned char, 4> kIdBytes = {0, 0, 3, 8};
constexpr std::array<unsigned char, 4> kTimeBytes = {0, 0, 4, 8};
constexpr std::array<unsigned char, 16> kValueBytes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 7, 6, 5, 4, 3, 2, 0};
constexpr std::array<unsigned char, 16> kValueShift = {0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 16, 24, 32, 40, 48, 0};

constexpr std::uint64_t LowBytes(unsigned n) { return n >= 8 ? ~0ull : (1ull << (8 * n)) - 1; }
constexpr std::array<std::uint64_t, 9> kMask = {LowBytes(0), LowBytes(1), LowBytes(2), LowBytes(3), LowBytes(4),
                                                LowBytes(5), LowBytes(6), LowBytes(7), LowBytes(8)};
/// Bytes of the whole put by its control byte.
constexpr std::array<unsigned char, 256> kPutBytes = [] {
  std::array<unsigned char, 256> bytes{};
  for (unsigned c = 0; c < 256; ++c) {
    bytes[c] = static_cast<unsigned char>(1 + kIdBytes[c & 3] + kTimeBytes[(c >> 2) & 3] + kValueBytes[c >> 4]);
  }
  return bytes;
}();

constexpr double kIntegerMax = 36028797018963968.0;  // 2^55: zig-zag fits 7 bytes
constexpr std::size_t kRun = 256;

struct State {
  std::uint64_t id = 0;
  std::uint64_t time = 0;
  std::uint64_t step = 0;
  std::uint64_t bits = 0;
};

/// Chooses the shortest code of a value and what to store for it.
inline unsigned ValueCode(std::uint64_t bits, std::uint64_t* stored) {
  const auto value = std::bit_cast<double>(bits);
  const unsigned zero_bytes = std::min(6u, static_cast<unsigned>(std::countr_zero(bits)) / 8);
  unsigned code = kValueBits + zero_bytes;
  unsigned length = 8 - zero_bytes;
  *stored = bits >> (8 * zero_bytes);
  if (value > -kIntegerMax && value < kIntegerMax) {
    const auto integer = static_cast<std::int64_t>(value);
    if (std::bit_cast<std::uint64_t>(static_cast<double>(integer)) == bits) {
      const std::uint64_t zigzag = ZigZag(integer);
      const unsigned n = (static_cast<unsigned>(std::bit_width(zigzag | 1)) + 7) / 8;
      if (n <= length) {
        *stored = zigzag;
        code = n;
        length = n;
      }
    }
  }
  return code;
}

inline char* EncodeOne(const Put& put, State* state, char* p) {
  const std::uint64_t id_delta = put.id.value - state->id;
  const std::uint64_t id_zigzag = ZigZag(static_cast<std::int64_t>(id_delta));
  const unsigned id_code = id_delta <= 1 ? static_cast<unsigned>(id_delta) : id_zigzag >> 24 == 0 ? kIdShort : kIdFull;

  const std::uint64_t step = static_cast<std::uint64_t>(put.time) - state->time;
  const std::uint64_t step_zigzag = ZigZag(static_cast<std::int64_t>(step));
  unsigned time_code = kTimeSame;
  if (step != 0) {
    time_code = step == state->step ? kTimeStep : step_zigzag >> 32 == 0 ? kTimeShort : kTimeFull;
    state->step = step;
  }

  const auto bits = std::bit_cast<std::uint64_t>(put.value);
  std::uint64_t stored = 0;
  const unsigned value_code = bits == state->bits ? kValueSame : ValueCode(bits, &stored);

  *p = static_cast<char>(id_code | time_code << 2 | value_code << 4);
  ++p;
  StoreFixed(p, id_code == kIdFull ? id_delta : id_zigzag);
  p += kIdBytes[id_code];
  StoreFixed(p, time_code == kTimeFull ? step : step_zigzag);
  p += kTimeBytes[time_code];
  StoreFixed(p, stored);
  p += kValueBytes[value_code];
  state->id = put.id.value;
  state->time = static_cast<std::uint64_t>(put.time);
  state->bits = bits;
  return p;
}

/// Decodes the put at `p`, of which kPutBytesMax bytes can be read. Returns whether it is one.
inline bool DecodeOne(const char* p, State* state, Put* put) {
  const auto control = static_cast<unsigned char>(*p++);
  const unsigned id_code = control & 3u;
  const unsigned time_code = (control >> 2) & 3u;
  const unsigned value_code = control >> 4;

  const std::uint64_t id_raw = LoadFixed<std::uint64_t>(p) & kMask[kIdBytes[id_code]];
  std::uint64_t id_delta = id_code;
  id_delta = id_code == kIdShort ? static_cast<std::uint64_t>(UnZigZag(id_raw)) : id_delta;
  id_delta = id_code == kIdFull ? id_raw : id_delta;
  state->id += id_delta;
  p += kIdBytes[id_code];

  const std::uint64_t time_raw = LoadFixed<std::uint64_t>(p) & kMask[kTimeBytes[time_code]];
  std::uint64_t step = state->step;
  step = time_code == kTimeShort ? static_cast<std::uint64_t>(UnZigZag(time_raw)) : step;
  step = time_code == kTimeFull ? time_raw : step;
  state->step = step;
  state->time += time_code == kTimeSame ? 0 : step;
  p += kTimeBytes[time_code];

  const std::uint64_t value_raw = LoadFixed<std::uint64_t>(p) & kMask[kValueBytes[value_code]];
  const auto integer = std::bit_cast<std::uint64_t>(static_cast<double>(UnZigZag(value_raw)));
  std::uint64_t bits = value_raw << kValueShift[value_code];
  bits = value_code < kValueBits ? integer : bits;
  bits = value_code == kValueSame ? state->bits : bits;
  state->bits = bits;

  put->id.value = state->id;
  put->time = static_cast<Timestamp>(state->time);
  put->value = std::bit_cast<double>(bits);
  return (static_cast<unsigned>(value_code != kValueInvalid) & static_cast<unsigned>(state->id != 0) &
          static_cast<unsigned>(put->time != kNow)) != 0;
}

}  // namespace

void EncodePuts(std::span<const Put> puts, std::string* out) {
  std::array<char, kRun * kPutBytesMax + 8> buffer;  // 8: room for the last store
  State state;
  while (!puts.empty()) {
    const auto run = puts.first(std::min(puts.size(), kRun));
    char* p = buffer.data();
    for (const Put& put : run) {
      p = EncodeOne(put, &state, p);
    }
    out->append(buffer.data(), static_cast<std::size_t>(p - buffer.data()));
    puts = puts.subspan(run.size());
  }
}

Status DecodePuts(std::string_view bytes, std::uint64_t count, RecordVisitor& visitor, bool* damaged) {
  *damaged = true;
  if (count > bytes.size()) {
    return {};
  }
  std::array<Put, kRun> run;
  std::array<char, 2 * kPutBytesMax> tail{};  // the last bytes, with room to read on behind them
  State state;
  const char* p = bytes.data();
  const char* end = p + bytes.size();
  bool in_tail = false;
  for (std::uint64_t left = count; left > 0;) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(left, kRun));
    unsigned valid = 1;
    for (std::size_t i = 0; i < n; ++i) {
      if (static_cast<std::size_t>(end - p) < kPutBytesMax && !in_tail) {
        const auto rest = static_cast<std::size_t>(end - p);
        std::memcpy(tail.data(), p, rest);
        p = tail.data();
        end = p + rest;
        in_tail = true;
      }
      if (p == end) {
        return {};
      }
      const std::size_t length = kPutBytes[static_cast<unsigned char>(*p)];
      if (length > static_cast<std::size_t>(end - p)) {
        return {};
      }
      valid &= static_cast<unsigned>(DecodeOne(p, &state, &run[i]));
      p += length;
    }
    if (valid == 0) {
      return {};
    }
    if (Status status = visitor.OnPuts(std::span<const Put>(run).first(n)); !status.ok()) {
      *damaged = false;
      return status;
    }
    left -= n;
  }
  *damaged = p != end;
  return {};
}

}  // namespace tsdb::wal
