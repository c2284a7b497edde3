#include "chunk/integer_block_plan.h"

#include <algorithm>
#include <array>

#include "base/coding.h"
#include "chunk/codec_kernels.h"

namespace tsdb::chunk {
namespace {

/// How many values need how many bits, zig-zag coded around a centre.
using LengthCounts = std::array<std::uint16_t, 65>;

/// Fewer values than this are not worth patches.
constexpr std::size_t kPatchableValues = 8;
/// Decoding a patch takes the time of about this many plain values' bits.
constexpr std::size_t kPatchPenaltyBits = 2;

std::uint64_t SampleMedian(std::span<const std::uint64_t> r) {
  std::array<std::int64_t, 9> sample{};
  const std::size_t count = std::min(r.size(), sample.size());
  for (std::size_t i = 0; i < count; ++i) {
    sample[i] = static_cast<std::int64_t>(r[(2 * i + 1) * r.size() / (2 * count)]);
  }
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(sample.begin(), middle, sample.begin() + static_cast<std::ptrdiff_t>(count));
  return static_cast<std::uint64_t>(*middle);
}

void CountLengths(std::span<const std::uint64_t> r, std::uint64_t centre, LengthCounts* counts) {
  // Four tables in turn: equal lengths come in rows, and one table would wait for its own stores.
  std::array<LengthCounts, 4> tables{};
  std::size_t i = 0;
  const auto length = [&](std::uint64_t v) {
    return BitLength(ZigZag(static_cast<std::int64_t>(v - centre)));
  };
  for (; i + 4 <= r.size(); i += 4) {
    for (std::size_t k = 0; k < 4; ++k) {
      ++tables[k][length(r[i + k])];
    }
  }
  for (; i < r.size(); ++i) {
    ++tables[0][length(r[i])];
  }
  for (std::size_t k = 0; k < 65; ++k) {
    (*counts)[k] = static_cast<std::uint16_t>(tables[0][k] + tables[1][k] + tables[2][k] + tables[3][k]);
  }
}

/// Sizes a layout for each width, from 64 bits down.
class WidthCosts {
 public:
  WidthCosts(std::size_t values, const LengthCounts& counts) : values_(values), counts_(counts) {
    longest_ = 64;
    while (longest_ > 0 && counts_[longest_] == 0) {
      --longest_;
    }
    width_ = longest_;
  }
  unsigned longest() const { return longest_; }
  /// Goes to the next smaller width; values longer than it are outside.
  void Narrow() {
    // Patches whose excess now begins a new byte of a varint: those of every seventh length.
    by_seven_[(width_ - 1) % 7] = static_cast<std::uint16_t>(by_seven_[(width_ - 1) % 7] + counts_[width_]);
    --width_;
    outside_ += counts_[width_ + 1];
    varint_bytes_ += by_seven_[width_ % 7];
  }
  unsigned width() const { return width_; }
  std::size_t outside() const { return outside_; }
  /// In bits, penalties included. `outside` of the window may be fewer than outside().
  std::size_t Bits(std::size_t outside) const {
    const std::size_t packed = values_ * width_;
    if (outside == 0) {
      return packed;
    }
    const std::size_t patch_bits = std::min(outside * (longest_ - width_), varint_bytes_ * 8);
    return packed + 16 + 8 * std::min(outside, PackedBytes(values_, 1)) + patch_bits + kPatchPenaltyBits * outside;
  }

 private:
  std::size_t values_;
  const LengthCounts& counts_;
  unsigned longest_ = 64;
  unsigned width_ = 64;
  std::size_t outside_ = 0;
  std::size_t varint_bytes_ = 0;
  std::array<std::uint16_t, 7> by_seven_{};
};

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
  std::array<std::array<std::uint16_t, (2u << kFine) + 1>, 2> tables{};
  const auto bin = [&](std::uint64_t v) {  // the last one: elsewhere
    return std::min<std::uint64_t>((v - static_cast<std::uint64_t>(low)) >> shift, bins);
  };
  std::size_t i = 0;
  for (; i + 2 <= r.size(); i += 2) {
    ++tables[0][bin(r[i])];
    ++tables[1][bin(r[i + 1])];
  }
  if (i < r.size()) {
    ++tables[0][bin(r[i])];
  }
  const auto count = [&](std::size_t k) { return std::size_t{tables[0][k]} + tables[1][k]; };
  std::size_t inside = 0;
  for (std::size_t k = 0; k < window; ++k) {
    inside += count(k);
  }
  std::size_t best = inside;
  std::size_t best_start = 0;
  for (std::size_t start = 1; start + window <= bins; ++start) {
    inside = inside + count(start + window - 1) - count(start - 1);
    if (inside > best) {
      best = inside;
      best_start = start;
    }
  }
  return {static_cast<std::uint64_t>(low) + (static_cast<std::uint64_t>(best_start) << shift), r.size() - best};
}

struct Extent {
  std::int64_t smallest = 0;
  unsigned width = 0;
};
Extent FindExtent(std::span<const std::uint64_t> r) {
  auto smallest = static_cast<std::int64_t>(r[0]);
  std::int64_t largest = smallest;
  for (const std::uint64_t v : r) {
    smallest = std::min(smallest, static_cast<std::int64_t>(v));
    largest = std::max(largest, static_cast<std::int64_t>(v));
  }
  return {smallest, BitLength(static_cast<std::uint64_t>(largest) - static_cast<std::uint64_t>(smallest))};
}

/// The width below `plain` that costs least with its window around the centre; `plain` when none does.
unsigned GuessWidth(std::size_t values, unsigned plain, const LengthCounts& counts, std::size_t* bits) {
  unsigned guess = plain;
  *bits = values * plain;
  WidthCosts costs(values, counts);
  while (costs.width() > 0) {
    costs.Narrow();
    if (costs.width() >= plain) {
      continue;
    }
    const std::size_t now = costs.Bits(costs.outside());
    if (now < *bits) {
      *bits = now;
      guess = costs.width();
    }
    if (values * costs.width() + *bits / 2 < 8 * costs.outside()) {
      break;  // so many are outside that narrower ones cannot win
    }
  }
  return guess;
}

}  // namespace

std::size_t EstimateBlock(std::span<const std::uint64_t> r) {
  const Extent extent = FindExtent(r);
  std::size_t bits = r.size() * extent.width;
  if (extent.width > 0 && r.size() >= kPatchableValues) {
    LengthCounts counts;
    CountLengths(r, SampleMedian(r), &counts);
    GuessWidth(r.size(), extent.width, counts, &bits);
  }
  return (bits + 7) / 8;
}

BlockPlan PlanBlock(std::span<const std::uint64_t> r) {
  const Extent extent = FindExtent(r);
  BlockPlan plan = {static_cast<std::uint64_t>(extent.smallest), extent.width, false};
  if (extent.width == 0 || r.size() < kPatchableValues) {
    return plan;
  }
  // First the width, with the window around a median; then the window is moved, for that width and the next smaller.
  const std::uint64_t centre = SampleMedian(r);
  LengthCounts counts;
  CountLengths(r, centre, &counts);
  std::size_t guess_bits = 0;
  const unsigned guess = GuessWidth(r.size(), extent.width, counts, &guess_bits);
  std::size_t best = r.size() * extent.width;
  WidthCosts costs(r.size(), counts);
  while (costs.width() + 1 > guess && costs.width() > 0) {
    costs.Narrow();
    if (costs.width() > guess || costs.width() >= extent.width || costs.width() > 62) {
      continue;
    }
    const Window window = BestWindow(r, costs.width(), centre, extent.smallest);
    const std::size_t bits = costs.Bits(window.outside);
    if (bits < best) {
      best = bits;
      plan = {window.base, costs.width(), window.outside > 0};
    }
  }
  return plan;
}

}  // namespace tsdb::chunk
