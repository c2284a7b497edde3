#include <algorithm>
#include <array>
#include <vector>

#include "base/coding.h"
#include "chunk/column_codec.h"
#include "chunk/column_layout.h"
#include "chunk/integer_block_plan.h"
#include "chunk/integer_blocks.h"
#include "chunk/integer_tokens.h"

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

/// What stands before the integers of a column that is not a constant step.
struct TimeHeader {
  unsigned mode = 0;
  std::uint64_t start = 0;
  std::uint64_t divisor = 1;
  std::uint64_t step = 0;  // of the grid

  void Put(std::string* out) const {
    out->push_back(static_cast<char>(mode | (divisor > 1 ? kTimeFlagDivisor : 0)));
    PutVarintSigned(out, static_cast<std::int64_t>(start));
    if (divisor > 1) {
      PutVarint(out, divisor);
    }
    if (mode == kModeGrid) {
      PutVarint(out, step);
    }
  }
  bool Read(ByteReader* reader) {
    std::uint8_t header = 0;
    std::int64_t first = 0;
    if (!reader->ReadFixed(&header) || header > (kModeMask | kTimeFlagDivisor) || !reader->ReadVarintSigned(&first)) {
      return false;
    }
    mode = header & kModeMask;
    start = static_cast<std::uint64_t>(first);
    return ((header & kTimeFlagDivisor) == 0 || reader->ReadVarint(&divisor)) &&
           (mode != kModeGrid || reader->ReadVarint(&step));
  }
  /// Integers to the times from number `first` on; false when these do not rise.
  bool ToTimes(std::span<std::uint64_t> q, std::size_t first, Timestamp* out) const {
    if (mode == kModeGrid) {
      for (std::size_t k = 0; k < q.size(); ++k) {
        q[k] += GridTime(step, first + k);
      }
    }
    for (std::size_t k = 0; k < q.size(); ++k) {
      out[k] = static_cast<Timestamp>(q[k] * divisor + start);
    }
    bool falls = false;
    for (std::size_t k = 1; k < q.size(); ++k) {
      falls |= out[k] <= out[k - 1];
    }
    return !falls;
  }
};

Status DecodeDeltaBlocks(std::string_view data, std::size_t count, Timestamp* out) {
  ByteReader reader(data);
  TimeHeader header;
  IntegerBlockReader blocks;
  if (!header.Read(&reader) || !blocks.Open(&reader, header.mode == kModeGrid ? 0 : static_cast<int>(header.mode))) {
    return Damaged("its header is damaged");
  }
  std::array<std::uint64_t, kBlockValues> q;
  bool rising = true;
  for (std::size_t i = 0; i < count; i += kBlockValues) {
    const std::size_t here = std::min(kBlockValues, count - i);
    if (!blocks.Next(here, q.data())) {
      return Damaged("a block is damaged");
    }
    rising = header.ToTimes(std::span(q).first(here), i, out + i) && (i == 0 || out[i] > out[i - 1]) && rising;
  }
  if (!rising) {
    return Damaged("times do not rise");
  }
  return reader.empty() ? Status::Ok() : Damaged("bytes are left over");
}

Status DecodeTimeTokens(std::string_view data, std::size_t count, Timestamp* out) {
  ByteReader reader(data);
  TimeHeader header;
  IntegerTokenReader tokens;  // some 50 KiB
  if (!header.Read(&reader) || (header.mode != 0 && header.mode != kModeGrid) || !tokens.Open(&reader, count)) {
    return Damaged("its header is damaged");
  }
  tokens.Seek({0, kPagesMax});
  std::array<std::uint64_t, kPageSamples> q;
  bool rising = true;
  for (std::size_t i = 0; i < count; i += kPageSamples) {
    if (!tokens.Next(q.data())) {
      return Damaged("a page is damaged");
    }
    const std::size_t here = std::min(kPageSamples, count - i);
    rising = header.ToTimes(std::span(q).first(here), i, out + i) && (i == 0 || out[i] > out[i - 1]) && rising;
  }
  if (!rising) {
    return Damaged("times do not rise");
  }
  return reader.empty() ? Status::Ok() : Damaged("bytes are left over");
}

void SubtractGrid(std::span<std::uint64_t> q, std::uint64_t step) {
  for (std::size_t i = 0; i < q.size(); ++i) {
    q[i] -= GridTime(step, i);
  }
}

/// As tokens of the times, or of their distances to a grid, whichever is smaller.
std::string EncodeTimeTokens(std::span<const std::uint64_t> q, TimeHeader header) {
  std::string best;
  header.mode = 0;
  header.Put(&best);
  EncodeIntegerTokens(q, &best);
  if (header.step != 0) {
    std::vector<std::uint64_t> residuals(q.begin(), q.end());
    SubtractGrid(residuals, header.step);
    std::string other;
    header.mode = kModeGrid;
    header.Put(&other);
    EncodeIntegerTokens(residuals, &other);
    if (other.size() < best.size()) {
      return other;
    }
  }
  return best;
}

}  // namespace

TimeEncoding EncodeTimes(std::span<const Timestamp> times, Effort effort, std::string* out) {
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
  const TimeHeader header = {.mode = mode, .start = start, .divisor = divisor, .step = grid};
  std::string tokens;
  if (effort == Effort::kDense) {
    tokens = EncodeTimeTokens(q, header);
  }
  const std::size_t before = out->size();
  header.Put(out);
  if (mode == kModeGrid) {
    SubtractGrid(q, grid);
  }
  EncodeIntegerBlocks(q, mode == kModeGrid ? 0 : static_cast<int>(mode), out);
  if (effort == Effort::kDense && tokens.size() < out->size() - before) {
    out->replace(before, std::string::npos, tokens);
    return TimeEncoding::kTokens;
  }
  return TimeEncoding::kDeltaBlocks;
}

Status DecodeTimes(std::uint8_t encoding, std::string_view data, std::size_t count, Timestamp* out) {
  switch (static_cast<TimeEncoding>(encoding)) {
    case TimeEncoding::kConstantStep:
      return DecodeConstantStep(data, count, out);
    case TimeEncoding::kDeltaBlocks:
      return DecodeDeltaBlocks(data, count, out);
    case TimeEncoding::kTokens:
      return DecodeTimeTokens(data, count, out);
  }
  return Status::NotSupported("time encoding " + std::to_string(encoding) + " is not known to this version");
}

}  // namespace tsdb::chunk
