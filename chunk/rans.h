// Entropy coding of tokens: range asymmetric numeral systems (J. Duda, 2013) with a 32-bit state that takes and gives
// 16 bits at a time, static frequency tables, and the previous token as the context that picks the table.
//
//   stream: state (4 bytes) · words of 2 bytes in the order a reader wants them · what the caller appends
//
// A stream may carry 16 bits of the caller's in the state it ends with; otherwise it ends with the state 1.
// Byte layout: docs/format/encodings.md, "Token streams".
//
// Thread safety: pure functions; tables are values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tsdb::chunk::rans {

inline constexpr std::size_t kTokensMax = 256;
inline constexpr std::size_t kContextsMax = 16;
inline constexpr unsigned kLogMin = 8;
inline constexpr unsigned kLogMax = 12;
/// Entries of all tables of a column together: contexts · 2^log.
inline constexpr std::size_t kEntriesMax = std::size_t{1} << 13;
/// Bytes of the state at the front of a stream.
inline constexpr std::size_t kStateBytes = 4;

/// Frequencies of one context: they sum up to 2^log; 0: the token does not occur.
using Frequencies = std::array<std::uint16_t, kTokensMax>;

/// Which token begins a stream's chain of contexts: the context of the first token.
inline constexpr std::size_t kFirstContext = 0;

struct Tables {
  static constexpr std::size_t kEntriesAtOnce = 8;
  unsigned log = 0;
  std::size_t contexts = 0;
  /// Slot s of context c is entry (c << log) + s: token << 24 | place in the token's range << 12 | frequency - 1.
  std::array<std::uint32_t, kEntriesMax + kEntriesAtOnce> entries;
  /// First entry of the context that follows a token.
  std::array<std::uint32_t, kTokensMax> next;

  /// Fills the entries of a context, and perhaps some of the next: contexts are set in ascending order. The frequencies
  /// sum up to 2^log.
  void SetContext(std::size_t context, const Frequencies& frequencies);
};

/// What one stream is decoded from and to.
struct Stream {
  std::string_view bytes;      // from the state on; what the caller appended included
  std::uint8_t* tokens = nullptr;
  std::size_t count = 0;
  // Results.
  std::uint32_t state = 0;     // the last one: 1, or 2^16 + the caller's 16 bits
  std::size_t used = 0;        // bytes of the state and the words
};

/// Decodes up to four streams side by side. False when one has no state. Never reads outside the bytes; whether the
/// last state and the number of bytes used are right is for the caller to check.
bool DecodeStreams(const Tables& tables, std::span<Stream> streams);

/// What an encoder needs of a context: frequency and first slot of each token.
struct EncoderTable {
  Frequencies frequency;
  Frequencies first;
};

/// Appends the state and the words of `tokens`. `contexts[t]` is the context behind token t. `last_state` is 1, or
/// 2^16 + 16 bits.
void EncodeStream(std::span<const std::uint8_t> tokens, std::span<const EncoderTable> tables,
                  std::span<const std::uint8_t, kTokensMax> contexts, unsigned log, std::uint32_t last_state,
                  std::string* out);

}  // namespace tsdb::chunk::rans
