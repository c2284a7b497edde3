// Column codecs of sealed chunks: a column of times or of values to bytes and back. Byte layout:
// docs/format/encodings.md.
//
// The encoder picks the encoding by cost; its number is kept beside the column (in the chunk file's directory) and
// never changes its meaning. The count is kept there too. Lossless for every bit pattern.
//
//   column of up to 8192 samples: page 0 (kPageSamples samples) · page 1 · … · the last page, which may be shorter
//
// Thread safety: pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tsdb/status.h"
#include "tsdb/types.h"

namespace tsdb::chunk {

/// What an encoder may spend.
enum class Effort {
  kFast,   // at a flush: decodes at memory speed
  kDense,  // at a merge and for cold data: the smallest encoding; takes some ten times as long
};

/// Samples of a page: what can be decoded without the rest of its column.
inline constexpr std::size_t kPageSamples = 1024;
struct PageRange {
  std::size_t first = 0;  // number of the first page
  std::size_t count = 0;
};
/// Number of the samples in such pages of a column of `count` samples; pages behind its end hold none.
inline constexpr std::size_t SamplesInPages(std::size_t count, PageRange pages) {
  const std::size_t begin = std::min(count, pages.first * kPageSamples);
  return std::min(count - begin, pages.count * kPageSamples);
}

enum class TimeEncoding : std::uint8_t {
  kConstantStep = 1,  // t0, step
  kDeltaBlocks = 2,   // frame-of-reference blocks of deltas, deltas of deltas, or residuals to a grid
  kTokens = 3,        // times or residuals to a grid as entropy-coded tokens
};
enum class ValueEncoding : std::uint8_t {
  kConstant = 1,      // one value, 8 bytes
  kDecimalBlocks = 2, // exact decimals d = v·10^E in frame-of-reference blocks, with exceptions
  kBits = 3,          // order-preserving integers of the raw bits in the same blocks
  kTokens = 4,        // either of these integers as entropy-coded tokens with raw bits
  kApart = 5,         // each page as a column of its own in one of the encodings above
};
std::string_view TimeEncodingName(TimeEncoding encoding);
std::string_view ValueEncodingName(ValueEncoding encoding);

/// Appends the encoded column to `out`. `times` strictly rise; 1 to kChunkSamplesMax of them.
TimeEncoding EncodeTimes(std::span<const Timestamp> times, Effort effort, std::string* out);
ValueEncoding EncodeValues(std::span<const double> values, Effort effort, std::string* out);

/// Decodes untrusted bytes into `out[0..count)`. kCorruption when they do not hold exactly that (times that do not rise
/// included); kNotSupported for an unknown encoding number. Never reads outside `data`.
Status DecodeTimes(std::uint8_t encoding, std::string_view data, std::size_t count, Timestamp* out);
Status DecodeValues(std::uint8_t encoding, std::string_view data, std::size_t count, double* out);

/// Decodes the values of some pages of a column of `count` samples into `out[0..SamplesInPages(count, pages))`. `data`
/// is the whole column; of the pages left out only what stands in the column's common header is read, so that damage
/// there may go unnoticed. Otherwise as DecodeValues. kInvalidArgument when no sample is in these pages.
Status DecodeValuePages(std::uint8_t encoding, std::string_view data, std::size_t count, PageRange pages, double* out);

}  // namespace tsdb::chunk
