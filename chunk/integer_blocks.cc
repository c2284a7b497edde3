#include "chunk/integer_blocks.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "chunk/bit_stream.h"
#include "chunk/integer_block_plan.h"

namespace tsdb::chunk {
namespace {

/// Replaces integers by differences; the first ones come out as `filler`, with the start values that make it so.
void Difference(std::span<std::uint64_t> q, int order, std::string* out) {
  if (order == 0) {
    return;
  }
  const std::size_t n = q.size();
  const auto difference = [&](std::size_t i) { return q[i] - q[i - 1]; };
  if (order == 1) {
    const std::uint64_t filler = n > 1 ? difference(1) : 0;
    const std::uint64_t start = q[0] - filler;
    std::uint64_t previous = start;
    for (std::uint64_t& v : q) {
      const std::uint64_t now = v;
      v = now - previous;
      previous = now;
    }
    PutVarintSigned(out, static_cast<std::int64_t>(start));
    return;
  }
  const std::uint64_t filler = n > 2 ? difference(2) - difference(1) : 0;
  const std::uint64_t delta = (n > 1 ? difference(1) : 0) - filler - filler;  // the difference before the first
  const std::uint64_t start = q[0] - delta - filler;
  std::uint64_t previous = start;
  std::uint64_t previous_delta = delta;
  for (std::uint64_t& v : q) {
    const std::uint64_t now = v;
    const std::uint64_t now_delta = now - previous;
    v = now_delta - previous_delta;
    previous = now;
    previous_delta = now_delta;
  }
  PutVarintSigned(out, static_cast<std::int64_t>(start));
  PutVarintSigned(out, static_cast<std::int64_t>(delta));
}

void PutPatches(std::span<const std::uint64_t> x, const BlockPlan& plan, std::string* out) {
  std::array<std::uint8_t, kBlockValues> at;
  std::array<std::uint64_t, kBlockValues> excess;
  std::size_t count = 0;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t high = static_cast<std::int64_t>(x[i]) >> plan.width;
    if (high != 0) {
      at[count] = static_cast<std::uint8_t>(i);
      excess[count] = ZigZag(high) - 1;
      all |= excess[count];
      ++count;
    }
  }
  std::size_t varint_bytes = 0;
  for (std::size_t k = 0; k < count; ++k) {
    varint_bytes += VarintBytes(excess[k]);
  }
  const unsigned width = BitLength(all);
  const bool varints = varint_bytes < PackedBytes(count, width);
  out->push_back(static_cast<char>(count - 1));
  out->push_back(static_cast<char>(varints ? kVarintPatches : width));
  const std::size_t map_bytes = PackedBytes(x.size(), 1);
  if (count <= map_bytes) {
    out->append(reinterpret_cast<const char*>(at.data()), count);
  } else {
    std::array<char, kBlockValues / 8> map{};
    for (std::size_t k = 0; k < count; ++k) {
      map[at[k] / 8] = static_cast<char>(map[at[k] / 8] | 1 << at[k] % 8);
    }
    out->append(map.data(), map_bytes);
  }
  if (varints) {
    for (std::size_t k = 0; k < count; ++k) {
      PutVarint(out, excess[k]);
    }
  } else {
    BitWriter bits(out);
    for (std::size_t k = 0; k < count; ++k) {
      bits.Put(excess[k], width);
    }
    bits.Finish();
  }
}

void PutPacked(std::span<const std::uint64_t> x, unsigned width, std::string* out) {
  const std::uint64_t mask = LowMask(width);
  if (x.size() < kBlockValues) {
    BitWriter bits(out);
    for (const std::uint64_t v : x) {
      bits.Put(v & mask, width);
    }
    bits.Finish();
    return;
  }
  if (width == 0) {
    return;
  }
  const std::size_t offset = out->size();
  out->resize(offset + kBlockValues / 8 * width);
  std::array<std::uint32_t, kBlockValues> words;
  const unsigned low_width = std::min(width, 32u);
  const auto low_mask = static_cast<std::uint32_t>(LowMask(low_width));
  for (std::size_t i = 0; i < kBlockValues; ++i) {
    words[i] = static_cast<std::uint32_t>(x[i]) & low_mask;
  }
  Kernels().pack(low_width, words.data(), out->data() + offset);
  if (width > 32) {
    for (std::size_t i = 0; i < kBlockValues; ++i) {
      words[i] = static_cast<std::uint32_t>((x[i] & mask) >> 32);
    }
    Kernels().pack(width - 32, words.data(), out->data() + offset + kBlockValues / 8 * std::size_t{32});
  }
}

/// `r` becomes scratch. Returns the base of the block.
std::uint64_t PutBlock(std::span<std::uint64_t> r, std::uint64_t previous_base, std::string* out) {
  const BlockPlan plan = PlanBlock(r);
  if (plan.width == 0 && !plan.patched && plan.base == previous_base) {
    out->push_back(static_cast<char>(kRepeatBlock));
    return plan.base;
  }
  out->push_back(static_cast<char>(plan.width | (plan.patched ? kPatchedBlock : 0)));
  PutVarintSigned(out, static_cast<std::int64_t>(plan.base - previous_base));
  for (std::uint64_t& v : r) {
    v -= plan.base;
  }
  PutPacked(r, plan.width, out);
  if (plan.patched) {
    PutPatches(r, plan, out);
  }
  return plan.base;
}

std::uint64_t Gcd(std::uint64_t a, std::uint64_t b) {
  if (a == 0 || b == 0) {
    return a | b;
  }
  const int shift = std::countr_zero(a | b);
  a >>= std::countr_zero(a);
  while (b != 0) {
    b >>= std::countr_zero(b);
    if (a > b) {
      std::swap(a, b);
    }
    b -= a;
  }
  return a << shift;
}

}  // namespace

std::uint64_t CommonDivisor(std::span<const std::uint64_t> integers) {
  std::uint64_t divisor = 0;
  for (std::size_t i = 1; i < integers.size(); ++i) {
    const auto difference = static_cast<std::int64_t>(integers[i] - integers[i - 1]);
    const std::uint64_t size = difference < 0 ? 0 - static_cast<std::uint64_t>(difference)
                                              : static_cast<std::uint64_t>(difference);
    if (size == 0 || size == divisor || (divisor != 0 && size % divisor == 0)) {
      continue;
    }
    divisor = Gcd(divisor, size);
    if (divisor == 1) {
      break;
    }
  }
  return divisor;
}

int ChooseOrder(std::span<const std::uint64_t> integers, double* cost) {
  // One block from the middle stands for all.
  const std::size_t n = integers.size();
  const std::size_t count = std::min(n, kBlockValues + 2);
  const std::span<const std::uint64_t> q = integers.subspan((n - count) / 2, count);
  std::array<std::uint64_t, kBlockValues> r;
  int best_order = 0;
  double best = 0;
  for (int order = 0; order <= 2 && (order == 0 || count > 4); ++order) {
    if (order == 2 && best_order == 0) {
      break;  // where one difference does not help, two will not
    }
    const std::size_t sample = count > 2 ? count - 2 : count;
    const std::size_t skip = count - sample;
    for (std::size_t i = 0; i < sample; ++i) {
      const std::size_t at = i + skip;
      r[i] = order == 0   ? q[at]
             : order == 1 ? q[at] - q[at - 1]
                          : q[at] - 2 * q[at - 1] + q[at - 2];
    }
    const auto estimate = static_cast<double>(EstimateBlock(std::span(r).first(sample)));
    const double bytes = estimate * static_cast<double>(kBlockValues) / static_cast<double>(sample);
    if (order == 0 || bytes < best * 0.98) {  // a lower order decodes faster
      best = bytes;
      best_order = order;
    }
  }
  if (cost != nullptr) {
    *cost = best;
  }
  return best_order;
}

void EncodeIntegerBlocks(std::span<std::uint64_t> integers, int order, std::string* out) {
  Difference(integers, order, out);
  std::uint64_t base = 0;
  for (std::size_t i = 0; i < integers.size(); i += kBlockValues) {
    base = PutBlock(integers.subspan(i, std::min(kBlockValues, integers.size() - i)), base, out);
  }
}

}  // namespace tsdb::chunk
