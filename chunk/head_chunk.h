// HeadChunk: an append-only compressed chunk in memory; times strictly rise.
//
//   HeadChunk, 120 bytes: forecast of times · last decimal · sizes of the symbols · how full
//     └─► words: first time (64) · first value · then per sample: time symbol · value symbol
//         40 bytes and up, grows by a quarter
//
// Times: adaptive Rice codes of the distance to a forecast that follows the grid; one bit while they stay on it.
// Values: adaptive Rice codes of zig-zag(d - d_prev) over exact decimals d = v·10^E, a zero-flag mode, escapes {wide,
// raise E, ±ULP, raw 64}, XOR for the rest when raw values pile up. Lossless for every bit pattern and every rising
// int64 time. The codes are in chunk/head_model.h.
//
// Thread safety: none; the owner locks. Snapshot() copies what a reader needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chunk/head_model.h"
#include "tsdb/status.h"
#include "tsdb/types.h"

namespace tsdb::chunk {

class HeadChunk {
 public:
  HeadChunk() = default;
  ~HeadChunk();
  /// The source is empty afterwards.
  HeadChunk(HeadChunk&&) noexcept;
  HeadChunk& operator=(HeadChunk&&) noexcept;
  HeadChunk(const HeadChunk&) = delete;
  HeadChunk& operator=(const HeadChunk&) = delete;

  /// `time` must be greater than last_time() unless the chunk is empty (checked: a broken invariant aborts). Throws
  /// std::bad_alloc, with the chunk as before, when there is no memory to grow; Reserve() moves that to an earlier
  /// place.
  void Append(Timestamp time, double value);
  /// Makes room for `samples` more samples of any kind, so that their Append cannot fail. Throws std::bad_alloc.
  void Reserve(std::size_t samples);

  std::uint32_t count() const { return count_; }
  Timestamp first_time() const { return static_cast<Timestamp>(words_[0]); }  // of a chunk that is not empty
  Timestamp last_time() const { return last_time_; }
  double last_value() const { return std::bit_cast<double>(last_bits_); }  // bit-exact
  /// Memory of the bits (capacity), beyond sizeof(HeadChunk).
  std::size_t memory_bytes() const { return capacity() * sizeof(std::uint64_t); }
  /// Bytes the bits fill.
  std::size_t used_bytes() const { return (std::size_t{used_bits_} + 7) / 8; }
  /// Address worth prefetching before an Append (the end of the bits).
  const void* tail() const { return words_ + used_bits_ / 64; }

  /// What is needed to decode, independent of this object: count, and a copy of the bits.
  struct Snapshot {
    std::uint32_t count = 0;
    std::string bits;
  };
  Snapshot TakeSnapshot() const;

 private:
  void AppendWithBitInstructions(Timestamp time, double value);
  void AppendAnywhere(Timestamp time, double value);
  bool AppendAtRest(Timestamp time, double value);
  [[gnu::noinline]] void AppendOtherWithBitInstructions(Timestamp time, double value);
  [[gnu::noinline]] void AppendOtherAnywhere(Timestamp time, double value);
  void AppendOther(Timestamp time, double value);
  bool AppendSymbols(Timestamp time, std::uint64_t delta, double value);
  void AppendFirst(Timestamp time, double value);
  void AppendSecond(Timestamp time, std::uint64_t delta, double value);
  void AppendXor(Timestamp time, std::uint64_t delta, double value);
  void AppendWithEscapes(Timestamp time, std::uint64_t delta, double value);
  /// Words there are: one more than those a Put may begin in.
  std::size_t capacity() const { return words_ == nullptr ? 0 : full_bits_ / 64 + 1; }
  void SettleRest();
  void LookForRest();
  void PutValue(double value);
  void PutUnmatched(double value);
  bool PutAtHigherExponent(double value);
  void PutSymbol(head::SymbolState* state, std::uint64_t u);
  void PutEscape(const head::SymbolState& state, unsigned kind);
  void PutXor(std::uint64_t bits);
  void Put(std::uint64_t v, unsigned width);
  void Grow(std::size_t words);

  std::uint64_t* words_ = nullptr;
  std::uint32_t used_bits_ = 0;
  std::uint32_t full_bits_ = 0;  // used_bits_ from which a Put needs more words; bits behind used_bits_ are zero
  Timestamp last_time_ = 0;
  std::int64_t decimal_ = 0;     // last exact or nearly exact value · 10^exponent_
  std::uint64_t last_bits_ = 0;  // of the last value
  head::SymbolState value_state_ = head::kFirstState;
  head::SymbolState time_state_ = head::kFirstState;
  head::TimeForecast forecast_;
  std::uint32_t count_ = 0;
  std::uint32_t rest_from_ = 0;  // count_ up to which forecast_ and time_state_ know of times at rest
  bool at_rest_ = false;         // a time at rest takes one bit, and the value is no XOR code
  std::uint8_t exponent_ = 0;
  std::uint8_t raw_values_ = 0;  // raw escapes so far, up to 255
  std::uint8_t xor_leading_ = 0;
  std::uint8_t xor_trailing_ = 0;
  bool xor_mode_ = false;
  bool last_exact_ = false;  // last_bits_ are those of decimal_
};
static_assert(sizeof(HeadChunk) <= 120);

/// Appends the samples of a snapshot to the columns. Never reads outside `bits`; kCorruption when they do not hold
/// `count` samples (what came before the damage is appended).
Status DecodeHeadChunk(const HeadChunk::Snapshot& snapshot, std::vector<Timestamp>* times, std::vector<double>* values);

}  // namespace tsdb::chunk
