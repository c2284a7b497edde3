#include <algorithm>
#include <array>
#include <vector>

#include "base/coding.h"
#include "chunk/column_codec.h"
#include "chunk/column_layout.h"
#include "chunk/integer_block_plan.h"
#include "chunk/integer_blocks.h"

namespace tsdb::chunk {
namespace {

/// Time i of a grid, from its start; `step` in units of 2^-kGridFractionBits.
std::uint64_t GridTime(std::uint64_t step, std::uint64_t i) { return (step * i) >> kGridFractionBits; }

/// Cost of one block from the middle as residuals to a grid, in bytes per 256 times.
double GridCost(std::span<const std::uint64_t> q, std::uint64_t step) {
  const std::size_t count = std::min(q.size(), kBlockValues);
  const std::size_t first = (q.size() - count) / 2;
  std::array<std::uint64_t, kBlockValues> r;
  for (std::size_t i = 0; i < count; ++i) {
    r[i] = q[first + i] - GridTime(step, first + i);
  }
  const auto bytes = static_cast<double>(EstimateBlock(std::span(r).first(count)));
  return bytes * static_cast<double>(kBlockValues) / static_cast<double>(count);
}

/// The step of a grid through the times, 0 when no grid is possible.
std::uint64_t ChooseGrid(std::span<const std::uint64_t> q, double* cost) {
  const std::uint64_t span = q.back() - q.front();
  const std::uint64_t intervals = q.size() - 1;
  if (q.size() < 8 || BitLength(span) > 63 - kGridFractionBits) {
    return 0;
  }
  const std::uint64_t drifting = (span << kGridFractionBits) / intervals;
  const std::uint64_t whole = (span + intervals / 2) / intervals << kGridFractionBits;
  if (whole == 0) {
    *cost = GridCost(q, drifting);
    return drifting;
  }
  const double drifting_cost = GridCost(q, drifting);
  const double whole_cost = GridCost(q, whole);
  *cost = std::min(drifting_cost, whole_cost);
  return whole_cost <= drifting_cost ? whole : drifting;
}

Status Damaged(const char* what) { return Status::Corruption(std::string("time column: ") + what); }

Status DecodeConstantStep(std::string_view data, std::size_t count, Timestamp* out) {
  ByteReader reader(data);
  std::int64_t first = 0;
  std::uint64_t step = 0;
  if (!reader.ReadVarintSigned(&first) || !reader.ReadVarint(&step) || !reader.empty()) {
    return Damaged("it is not a start and a step");
  }
  if (count > 1) {
    const std::uint64_t room = static_cast<std::uint64_t>(kTimestampMax) - static_cast<std::uint64_t>(first);
    if (step == 0 || step > room / (count - 1)) {
      return Damaged("times do not rise");
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<Timestamp>(static_cast<std::uint64_t>(first) + step * i);
  }
  return Status::Ok();
}

Status DecodeDeltaBlocks(std::string_view data, std::size_t count, Timestamp* out) {
  ByteReader reader(data);
  std::uint8_t header = 0;
  std::int64_t start = 0;
  std::uint64_t divisor = 1;
  std::uint64_t step = 0;
  bool ok = reader.ReadFixed(&header) && header <= (kModeMask | kTimeFlagDivisor) && reader.ReadVarintSigned(&start);
  const unsigned mode = header & kModeMask;
  ok = ok && ((header & kTimeFlagDivisor) == 0 || reader.ReadVarint(&divisor)) &&
       (mode != kModeGrid || reader.ReadVarint(&step));
  IntegerBlockReader blocks;
  if (!ok || !blocks.Open(&reader, mode == kModeGrid ? 0 : static_cast<int>(mode))) {
    return Damaged("its header is damaged");
  }
  std::array<std::uint64_t, kBlockValues> q;
  bool rising = true;
  Timestamp previous = 0;
  for (std::size_t i = 0; i < count; i += kBlockValues) {
    const std::size_t here = std::min(kBlockValues, count - i);
    if (!blocks.Next(here, q.data())) {
      return Damaged("a block is damaged");
    }
    if (mode == kModeGrid) {
      for (std::size_t k = 0; k < here; ++k) {
        q[k] += GridTime(step, i + k);
      }
    }
    for (std::size_t k = 0; k < here; ++k) {
      out[i + k] = static_cast<Timestamp>(q[k] * divisor + static_cast<std::uint64_t>(start));
    }
    rising = rising && (i == 0 || out[i] > previous);
    bool falls = false;
    for (std::size_t k = 1; k < here; ++k) {
      falls |= out[i + k] <= out[i + k - 1];
    }
    rising = rising && !falls;
    previous = out[i + here - 1];
  }
  if (!rising) {
    return Damaged("times do not rise");
  }
  return reader.empty() ? Status::Ok() : Damaged("bytes are left over");
}

}  // namespace

TimeEncoding EncodeTimes(std::span<const Timestamp> times, Effort /*effort*/, std::string* out) {
  const std::size_t n = times.size();
  std::vector<std::uint64_t> q(n);
  const auto start = static_cast<std::uint64_t>(times[0]);
  const std::uint64_t step = n > 1 ? static_cast<std::uint64_t>(times[1]) - start : 0;
  bool constant = true;
  for (std::size_t i = 0; i < n; ++i) {
    q[i] = static_cast<std::uint64_t>(times[i]) - start;
    constant = constant && q[i] == step * i;
  }
  if (constant && (n <= 1 || q.back() / (n - 1) == step)) {
    PutVarintSigned(out, times[0]);
    PutVarint(out, step);
    return TimeEncoding::kConstantStep;
  }
  const bool near = BitLength(q.back()) <= 63;  // differences read as signed numbers
  const std::uint64_t divisor = near ? std::max<std::uint64_t>(CommonDivisor(q), 1) : 1;
  if (divisor > 1) {
    for (std::uint64_t& v : q) {
      v /= divisor;
    }
  }
  double order_cost = 0;
  unsigned mode = static_cast<unsigned>(ChooseOrder(q, &order_cost));
  double grid_cost = 0;
  const std::uint64_t grid = ChooseGrid(q, &grid_cost);
  if (grid != 0 && grid_cost < order_cost) {
    mode = kModeGrid;
  }
  out->push_back(static_cast<char>(mode | (divisor > 1 ? kTimeFlagDivisor : 0)));
  PutVarintSigned(out, times[0]);
  if (divisor > 1) {
    PutVarint(out, divisor);
  }
  if (mode == kModeGrid) {
    PutVarint(out, grid);
    for (std::size_t i = 0; i < n; ++i) {
      q[i] -= GridTime(grid, i);
    }
  }
  EncodeIntegerBlocks(q, mode == kModeGrid ? 0 : static_cast<int>(mode), out);
  return TimeEncoding::kDeltaBlocks;
}

Status DecodeTimes(std::uint8_t encoding, std::string_view data, std::size_t count, Timestamp* out) {
  switch (static_cast<TimeEncoding>(encoding)) {
    case TimeEncoding::kConstantStep:
      return DecodeConstantStep(data, count, out);
    case TimeEncoding::kDeltaBlocks:
      return DecodeDeltaBlocks(data, count, out);
  }
  return Status::NotSupported("time encoding " + std::to_string(encoding) + " is not known to this version");
}

}  // namespace tsdb::chunk
