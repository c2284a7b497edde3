// ChunkStatistics: what a chunk file's directory knows of a chunk's values without decoding them.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <span>

namespace tsdb::chunk {

/// Statistics of a chunk's values. NaN values count only in count and nan_count (first and last keep any value, bit for
/// bit). min and max are NaN (the canonical quiet one) when every value is; -0.0 counts as less than +0.0, so that they
/// do not depend on the order of the values.
struct ChunkStatistics {
  std::uint32_t count = 0;
  std::uint32_t nan_count = 0;
  double min = 0;
  double max = 0;
  double first = 0;
  double last = 0;
};
ChunkStatistics ComputeStatistics(std::span<const double> values);
/// Those of `count` times the same bits.
ChunkStatistics ConstantStatistics(double value, std::uint32_t count);

/// True when both have the same bits.
bool SameStatistics(const ChunkStatistics& a, const ChunkStatistics& b);

}  // namespace tsdb::chunk
