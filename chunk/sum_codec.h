// Bits of exact sums in the statistics of a chunk file: several sums, of the pages of one chunk, in the smallest form
// that holds all of them. Layout: docs/format/chunk-file.md, "Sums".
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "base/exact_sum.h"
#include "chunk/bit_fields.h"

namespace tsdb::chunk {

/// Forms, by number.
enum class SumForm : std::uint8_t {
  kDecimals = 0,   // exactly D / 10^E
  kResiduals = 1,  // D / 10^E and a multiple of a power of two
  kMultiples = 2,  // so many times the least number, and a multiple of a power of two
  kTerms = 3,      // terms, overflow and infinities
};

/// What is known of the numbers of a page beside their sum.
struct SummedNumbers {
  std::uint32_t count = 0;  // at least 1
  double min = 0;
  double max = 0;
  /// The same as decimals, where they are: d(min) and d(max) - d(min).
  std::int64_t decimal_min = 0;
  std::uint64_t decimal_range = 0;
};

struct PageSum {
  const ExactSum* sum = nullptr;
  SummedNumbers numbers;
};

/// Appends the form and the sums; `exponent` -1 when the values are no decimals.
void EncodeSums(std::span<const PageSum> sums, int exponent, BitFields* out);

/// Reads the sums one after another.
class SumReader {
 public:
  SumReader(int exponent, CheckedBits* bits) : exponent_(exponent), bits_(bits) {}
  /// Form, and what all sums share. False when the bits are none, as below.
  bool Open();
  bool Next(const SummedNumbers& numbers, ExactSum* sum);

 private:
  bool NextDecimal(const SummedNumbers& numbers, ExactSum* sum);
  bool NextMultiple(const SummedNumbers& numbers, ExactSum* sum);

  const int exponent_;
  CheckedBits* const bits_;
  SumForm form_ = SumForm::kDecimals;
  int unit_ = 0;        // exponent of the power of two of residuals
  unsigned width_ = 0;  // bits of a residual
};

/// The general form of one sum.
void EncodeTerms(const SumTerms& terms, BitFields* out);
bool DecodeTerms(CheckedBits* bits, SumTerms* terms);

}  // namespace tsdb::chunk
