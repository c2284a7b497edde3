// ChunkStatistics: what a chunk file's directory knows of the values of a chunk, and of its pages, without decoding
// them. Everything here is exact: merged over any parts it has the same bits as computed from the values.
//
//   count, countnan, min, max, sum, avg     from the statistics of any pages and chunks
//   increase                                last number - first number + resets (+ the step from one chunk to the next)
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/exact_sum.h"

namespace tsdb::chunk {

/// Of some consecutive values. NaN values count only in count and nan_count.
struct ValueStatistics {
  std::uint32_t count = 0;
  std::uint32_t nan_count = 0;
  /// NaN (the canonical quiet one) without numbers. -0.0 counts as less than +0.0, so that they do not depend on the
  /// order of the values.
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  ExactSum sum;
  /// Sum of the numbers right before a fall: a counter's value before it began anew. The fall from the number before
  /// the first one of these, in the same chunk, is one of them. Absent where so many values fall that it is no counter.
  std::optional<ExactSum> resets = ExactSum();

  bool has_numbers() const { return nan_count != count; }
  /// Takes in the statistics of the values that follow.
  void Merge(const ValueStatistics& later);
};

struct ChunkStatistics : ValueStatistics {
  /// First and last value, bit for bit, and the first and last that are no NaN (NaN when there is none).
  double first = 0;
  double last = 0;
  double first_number = 0;
  double last_number = 0;
  /// Of every `page_step` pages, in order, the last of them may be fewer; empty when that is the whole chunk.
  std::vector<ValueStatistics> pages;
  std::size_t page_step = 1;
};

/// `values` is not empty.
ChunkStatistics ComputeStatistics(std::span<const double> values);
/// Those of `count` times the same bits.
ChunkStatistics ConstantStatistics(double value, std::uint32_t count);

/// Adds the statistics of pages up to those of `step` pages each, a multiple of their page_step.
void PoolPages(std::size_t step, ChunkStatistics* statistics);

/// True when both have the same bits, pages included.
bool SameStatistics(const ChunkStatistics& a, const ChunkStatistics& b);

}  // namespace tsdb::chunk
