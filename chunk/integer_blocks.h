// Integer blocks: a sequence of 64-bit integers (arithmetic modulo 2^64) as differences of order 0, 1 or 2 in blocks of
// 256 with a base, a bit width and patches for what does not fit. The back end of both column codecs. Byte layout:
// docs/format/encodings.md, "Integer blocks".
//
// Thread safety: pure functions; a reader belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/coding.h"
#include "chunk/codec_kernels.h"

namespace tsdb::chunk {

/// The order whose blocks are likely smallest, from a sample of the sequence: 0, 1 or 2. `cost` (may be null) receives
/// the estimated bytes per 256 values.
int ChooseOrder(std::span<const std::uint64_t> integers, double* cost);

/// Appends the start values (order >= 1) and the blocks. `integers` is used as scratch.
void EncodeIntegerBlocks(std::span<std::uint64_t> integers, int order, std::string* out);

/// Greatest common divisor of the differences between neighbours; 0 when all are equal, 1 as soon as there is none.
std::uint64_t CommonDivisor(std::span<const std::uint64_t> integers);

/// Reads what EncodeIntegerBlocks wrote, block by block, from untrusted bytes.
class IntegerBlockReader {
 public:
  /// `reader` outlives this. False when the start values are not there.
  bool Open(ByteReader* reader, int order);
  /// The next `count` (1 to 256; less than 256 only in the last block) integers. False when the bytes are damaged.
  bool Next(std::size_t count, std::uint64_t* out);
  /// The next `count` integers as values. False when the bytes are damaged.
  bool NextDecimals(std::size_t count, const DecimalScale& scale, double* out);

 private:
  bool ReadHeader();
  bool ReadPacked(std::string_view* packed);
  bool FitsInWords() const;
  void UnpackWords(std::string_view packed, std::uint32_t* words) const;
  void WordsToIntegers(const std::uint32_t* words, std::uint64_t* out);
  void LanesToIntegers(std::string_view packed, std::uint64_t* out);
  bool ExactInDoubles(const DecimalScale& scale) const;
  bool ReadStream(std::size_t count, std::uint64_t* out);
  bool ReadPatches(std::size_t count);
  bool ReadPatchPositions(std::size_t count);
  void Integrate(std::size_t count, std::uint64_t* out);

  ByteReader* reader_ = nullptr;
  int order_ = 0;
  std::uint64_t value_ = 0;  // last integer, order >= 1
  std::uint64_t delta_ = 0;  // last difference, order 2
  // Of the block at hand.
  std::uint64_t base_ = 0;
  unsigned width_ = 0;
  bool patched_ = false;
  unsigned patch_bits_ = 0;  // bits of the widest patch above width_
  std::size_t patch_count_ = 0;
  std::uint8_t patch_at_[kBlockValues];
  std::uint64_t patch_[kBlockValues];  // already shifted by width_
};

}  // namespace tsdb::chunk
