// Integer tokens: a sequence of 64-bit integers (arithmetic modulo 2^64) as differences of order 0, 1 or 2, coded as
// entropy-coded tokens with raw bits behind them. The back end of the dense column encodings. Byte layout:
// docs/format/encodings.md, "Integer tokens".
//
//   header · tokens and their frequencies by context · per page: start values · sizes of the streams · streams
//
// A page has one stream of tokens, or two or four in a column of a single page, which are decoded side by side. Streams
// of several pages are decoded side by side too. Each page can be decoded without the others.
//
// Thread safety: pure functions; a reader belongs to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/coding.h"
#include "chunk/column_codec.h"
#include "chunk/rans.h"
#include "chunk/token_model.h"

namespace tsdb::chunk {

/// First byte: order in bits 0..1, a dictionary in bit 2, precision of the levels in bits 3..4, log of the frequencies'
/// sum minus rans::kLogMin in bits 5..7.
inline constexpr unsigned kTokenOrderMask = 3;
inline constexpr unsigned kTokenDictionary = 4;
inline constexpr unsigned kTokenPrecisionShift = 3;
inline constexpr unsigned kTokenLogShift = 5;
/// Second byte: number of contexts minus 1 in bits 0..3, log of the streams per page in bits 4..5.
inline constexpr unsigned kTokenContextsMask = 15;
inline constexpr unsigned kTokenSplitShift = 4;
inline constexpr unsigned kTokenSplitMax = 2;

/// First sample and number of samples of a stream within a page of `samples`.
struct StreamPlace {
  std::size_t first = 0;
  std::size_t count = 0;
};
inline StreamPlace PlaceOfStream(std::size_t samples, unsigned split, std::size_t stream) {
  const std::size_t share = (samples + (std::size_t{1} << split) - 1) >> split;
  const std::size_t first = std::min(samples, stream * share);
  return {first, std::min(share, samples - first)};
}

/// Appends 1 to 8192 integers.
void EncodeIntegerTokens(std::span<const std::uint64_t> integers, std::string* out);

/// Reads what EncodeIntegerTokens wrote from untrusted bytes.
class IntegerTokenReader {
 public:
  /// Reads all but the streams of `count` integers, and leaves `reader` behind the streams. The bytes of `reader`
  /// outlive this. False when they are damaged.
  bool Open(ByteReader* reader, std::size_t count);

  /// Names the pages that Next gives, one by one.
  void Seek(PageRange pages);
  /// The integers of the next page. False when its streams are damaged.
  bool Next(std::uint64_t* out);

 private:
  static constexpr std::size_t kLanes = 4;
  struct Page {
    std::uint64_t start = 0;
    std::uint64_t delta = 0;
    std::array<std::string_view, std::size_t{1} << kTokenSplitMax> streams;
  };

  bool ReadModel(ByteReader* reader);
  bool ReadTokenSet(ByteReader* reader, bool dictionary);
  bool ReadFrequencies(ByteReader* reader, std::size_t contexts, unsigned precision);
  bool ReadPages(ByteReader* reader);
  std::size_t SamplesOf(std::size_t page) const { return std::min(kPageSamples, count_ - page * kPageSamples); }
  bool DecodeTokens();
  template <int kOrder>
  bool NextOf(std::uint64_t* out);

  std::size_t count_ = 0;
  int order_ = 0;
  unsigned split_ = 0;
  TokenSet set_;
  rans::Tables tables_;
  std::array<Page, 8> pages_;
  std::size_t next_page_ = 0;
  std::size_t end_page_ = 0;
  std::size_t tokens_from_ = 0;  // pages whose tokens are decoded
  std::size_t tokens_to_ = 0;
  std::array<rans::Stream, kLanes> streams_;
  std::array<std::uint8_t, kLanes * kPageSamples> tokens_;
};

}  // namespace tsdb::chunk
