// Bytes of exact sums in the statistics of a chunk file: several sums, of the pages of one chunk, in the smallest form
// that holds all of them. Byte layout: docs/format/chunk-file.md, "Sums".
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/coding.h"
#include "base/exact_sum.h"

namespace tsdb::chunk {

/// Forms, by number.
enum class SumForm : std::uint8_t {
  kDecimals = 0,   // exactly D / 10^E
  kResiduals = 1,  // D / 10^E and a multiple of a power of two
  kMultiples = 2,  // multiples of a power of two
  kTerms = 3,      // terms, overflow and infinities
};

/// A sum, and between which decimals (of the exponent at hand) it lies: those of the least and the greatest value times
/// their number.
struct BoundedSum {
  const ExactSum* sum = nullptr;
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// Appends the sums; `exponent` -1 when the values are no decimals (bounds are then not looked at). Returns the form,
/// which is kept elsewhere.
SumForm EncodeSums(std::span<const BoundedSum> sums, int exponent, std::string* out);

/// Reads the sums one after another.
class SumReader {
 public:
  SumReader(SumForm form, int exponent, ByteReader* reader) : form_(form), exponent_(exponent), reader_(reader) {}
  /// What all sums share. False when the bytes are none, as below.
  bool Open();
  bool Next(std::int64_t low, std::int64_t high, ExactSum* sum);

 private:
  const SumForm form_;
  const int exponent_;
  ByteReader* const reader_;
  int unit_ = 0;        // exponent of the power of two
  unsigned width_ = 0;  // bytes of a multiple
};

/// The general form of one sum.
void EncodeTerms(const SumTerms& terms, std::string* out);
bool DecodeTerms(ByteReader* reader, SumTerms* terms);

}  // namespace tsdb::chunk
