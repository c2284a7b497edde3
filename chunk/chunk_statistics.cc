#include "chunk/chunk_statistics.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tsdb::chunk {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kLanes = 4;

/// True when one of the values is a zero with the sign asked for.
bool HasZero(std::span<const double> values, bool negative) {
  for (const double v : values) {
    if (v == 0 && std::signbit(v) == negative) {
      return true;
    }
  }
  return false;
}

}  // namespace

ChunkStatistics ComputeStatistics(std::span<const double> values) {
  ChunkStatistics s;
  s.count = static_cast<std::uint32_t>(values.size());
  if (values.empty()) {
    return s;
  }
  s.first = values.front();
  s.last = values.back();
  // Independent lanes, so that the comparisons need not wait for each other. A comparison with NaN is false and leaves
  // the lane alone.
  double min[kLanes] = {kInfinity, kInfinity, kInfinity, kInfinity};
  double max[kLanes] = {-kInfinity, -kInfinity, -kInfinity, -kInfinity};
  std::uint64_t nans[kLanes] = {};
  const auto take = [&](std::size_t lane, double v) {
    min[lane] = v < min[lane] ? v : min[lane];
    max[lane] = v > max[lane] ? v : max[lane];
    nans[lane] += v != v ? 1 : 0;
  };
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      take(lane, values[i + lane]);
    }
  }
  for (; i < values.size(); ++i) {
    take(0, values[i]);
  }
  s.min = kInfinity;
  s.max = -kInfinity;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    s.min = min[lane] < s.min ? min[lane] : s.min;
    s.max = max[lane] > s.max ? max[lane] : s.max;
    s.nan_count += static_cast<std::uint32_t>(nans[lane]);
  }
  if (s.nan_count == s.count) {
    s.min = s.max = std::numeric_limits<double>::quiet_NaN();
    return s;
  }
  if (s.min == 0) {
    s.min = HasZero(values, true) ? -0.0 : 0.0;
  }
  if (s.max == 0) {
    s.max = HasZero(values, false) ? 0.0 : -0.0;
  }
  return s;
}

ChunkStatistics ConstantStatistics(double value, std::uint32_t count) {
  const bool is_nan = value != value;
  const double extreme = is_nan ? std::numeric_limits<double>::quiet_NaN() : value;
  return {count, is_nan ? count : 0, extreme, extreme, value, value};
}

bool SameStatistics(const ChunkStatistics& a, const ChunkStatistics& b) {
  const auto same = [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  };
  return a.count == b.count && a.nan_count == b.nan_count && same(a.min, b.min) && same(a.max, b.max) &&
         same(a.first, b.first) && same(a.last, b.last);
}

}  // namespace tsdb::chunk
