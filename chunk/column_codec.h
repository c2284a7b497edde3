// Column codecs of sealed chunks: a column of times or of values to bytes and back. Byte layout:
// docs/format/encodings.md.
//
// The encoder picks the encoding by cost; its number is kept beside the column (in the chunk file's directory) and
// never changes its meaning. The count is kept there too. Lossless for every bit pattern.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tsdb/status.h"
#include "tsdb/types.h"

namespace tsdb::chunk {

enum class TimeEncoding : std::uint8_t {
  kConstantStep = 1,  // t0, step
  kDeltaBlocks = 2,   // frame-of-reference blocks of deltas, deltas of deltas, or residuals to a grid
};
enum class ValueEncoding : std::uint8_t {
  kConstant = 1,      // one value, 8 bytes
  kDecimalBlocks = 2, // exact decimals d = v·10^E in frame-of-reference blocks, with exceptions
  kBits = 3,          // order-preserving integers of the raw bits in the same blocks
};
std::string_view TimeEncodingName(TimeEncoding encoding);
std::string_view ValueEncodingName(ValueEncoding encoding);

/// Appends the encoded column to `out`. `times` strictly rise; 1 to kChunkSamplesMax of them.
TimeEncoding EncodeTimes(std::span<const Timestamp> times, std::string* out);
ValueEncoding EncodeValues(std::span<const double> values, std::string* out);

/// Decodes untrusted bytes into `out[0..count)`. kCorruption when they do not hold exactly that (times that do not rise
/// included); kNotSupported for an unknown encoding number. Never reads outside `data`.
Status DecodeTimes(std::uint8_t encoding, std::string_view data, std::size_t count, Timestamp* out);
Status DecodeValues(std::uint8_t encoding, std::string_view data, std::size_t count, double* out);

}  // namespace tsdb::chunk
