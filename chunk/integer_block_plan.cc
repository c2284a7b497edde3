#include "chunk/integer_block_plan.h"

#include <algorithm>
#include <array>

#include "base/coding.h"
#include "chunk/codec_kernels.h"

namespace tsdb::chunk {
namespace {

/// How many values need how many bits, zig-zag coded around a centre.
using LengthCounts = std::array<std::uint16_t, 65>;

std::uint64_t SampleMedian(std::span<const std::uint64_t> r) {
  std::array<std::int64_t, 9> sample;
  const std::size_t count = std::min(r.size(), sample.size());
  for (std::size_t i = 0; i < count; ++i) {
    sample[i] = static_cast<std::int64_t>(r[(2 * i + 1) * r.size() / (2 * count)]);
  }
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(sample.begin(), middle, sample.begin() + static_cast<std::ptrdiff_t>(count));
  return static_cast<std::uint64_t>(*middle);
}

LengthCounts CountLengths(std::span<const std::uint64_t> r, std::uint64_t centre) {
  // Four tables in turn: equal lengths come in rows, and one table would wait for its own stores.
  std::array<LengthCounts, 4> counts{};
  std::size_t i = 0;
  for (; i + 4 <= r.size(); i += 4) {
    for (std::size_t k = 0; k < 4; ++k) {
      ++counts[k][BitLength(ZigZag(static_cast<std::int64_t>(r[i + k] - centre)))];
    }
  }
  for (; i < r.size(); ++i) {
    ++counts[0][BitLength(ZigZag(static_cast<std::int64_t>(r[i] - centre)))];
  }
  for (std::size_t length = 0; length < 65; ++length) {
    counts[0][length] = static_cast<std::uint16_t>(counts[0][length] + counts[1][length] + counts[2][length] + counts[3][length]);
  }
  return counts[0];
}

std::size_t BlockBytes(std::size_t values, unsigned width, std::size_t patches, std::size_t patch_bytes) {
  const std::size_t packed = PackedBytes(values, width);
  return patches == 0 ? packed : packed + 2 + std::min(patches, PackedBytes(values, 1)) + patch_bytes;
}

/// Bytes of the patches' values when `patches` of the longest values stand outside a window of `width` bits.
std::size_t PatchBytes(const LengthCounts& counts, unsigned width, std::size_t patches) {
  unsigned longest = 64;
  while (counts[longest] == 0) {
    --longest;
  }
  const std::size_t packed = PackedBytes(patches, longest > width ? longest - width : 1);
  std::size_t varints = 0;
  std::size_t left = patches;
  for (unsigned length = longest; left > 0 && length > width; --length) {
    const std::size_t here = std::min<std::size_t>(left, counts[length]);
    varints += here * ((length - width + 6) / 7);
    left -= here;
  }
  return std::min(packed, varints + left);
}

/// Moves a window of 2^width over the middle of the values and returns where it holds the most, and how many are out.
struct Window {
  std::uint64_t base = 0;
  std::size_t outside = 0;
};
Window BestWindow(std::span<const std::uint64_t> r, unsigned width, std::uint64_t centre, std::int64_t smallest) {
  constexpr unsigned kFine = 4;  // bins of a sixteenth of the window
  const unsigned shift = width > kFine ? width - kFine : 0;
  const std::size_t window = std::size_t{1} << (width - shift);
  const std::size_t bins = 2 * window;
  auto low = static_cast<std::int64_t>(centre - (std::uint64_t{1} << width));
  if (low > static_cast<std::int64_t>(centre) || low < smallest) {
    low = smallest;  // wrapped, or nothing there
  }
  std::array<std::uint16_t, (2u << kFine) + 1> counts{};
  for (const std::uint64_t v : r) {
    ++counts[std::min<std::uint64_t>((v - static_cast<std::uint64_t>(low)) >> shift, bins)];  // the last one: elsewhere
  }
  std::size_t inside = 0;
  for (std::size_t bin = 0; bin < window; ++bin) {
    inside += counts[bin];
  }
  std::size_t best = inside;
  std::size_t best_start = 0;
  for (std::size_t start = 1; start + window <= bins; ++start) {
    inside = inside + counts[start + window - 1] - counts[start - 1];
    if (inside > best) {
      best = inside;
      best_start = start;
    }
  }
  return {static_cast<std::uint64_t>(low) + (static_cast<std::uint64_t>(best_start) << shift), r.size() - best};
}

}  // namespace

BlockPlan PlanBlock(std::span<const std::uint64_t> r) {
  auto smallest = static_cast<std::int64_t>(r[0]);
  std::int64_t largest = smallest;
  for (const std::uint64_t v : r) {
    smallest = std::min(smallest, static_cast<std::int64_t>(v));
    largest = std::max(largest, static_cast<std::int64_t>(v));
  }
  BlockPlan plan;
  plan.base = static_cast<std::uint64_t>(smallest);
  plan.width = BitLength(static_cast<std::uint64_t>(largest) - static_cast<std::uint64_t>(smallest));
  plan.bytes = PackedBytes(r.size(), plan.width);
  if (plan.width == 0 || r.size() < 8) {
    return plan;
  }
  // First the width, with the window around a median; then the window is moved, for that width and its neighbour.
  const std::uint64_t centre = SampleMedian(r);
  const LengthCounts counts = CountLengths(r, centre);
  unsigned guess = plan.width;
  std::size_t guess_bytes = plan.bytes;
  std::size_t outside = 0;
  for (unsigned width = 64; width-- > 0;) {
    outside += counts[width + 1];
    if (outside == 0 || width >= plan.width) {
      continue;
    }
    const std::size_t bytes = BlockBytes(r.size(), width, outside, PatchBytes(counts, width, outside));
    if (bytes < guess_bytes) {
      guess_bytes = bytes;
      guess = width;
    }
  }
  for (const unsigned width : {guess, guess - 1}) {
    if (width >= plan.width || width > 62) {
      continue;
    }
    const Window window = BestWindow(r, width, centre, smallest);
    const std::size_t bytes = BlockBytes(r.size(), width, window.outside, PatchBytes(counts, width, window.outside));
    if (bytes < plan.bytes) {
      plan = {window.base, width, window.outside > 0, bytes};
    }
  }
  return plan;
}

}  // namespace tsdb::chunk
