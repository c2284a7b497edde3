#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/coding.h"
#include "chunk/column_codec.h"
#include "chunk/column_layout.h"
#include "chunk/integer_blocks.h"
#include "chunk/integer_token_plan.h"
#include "chunk/integer_tokens.h"
#include "chunk/value_integers.h"

namespace tsdb::chunk {
namespace {

/// Pages apart are tried where they promise to save this share of a column.
constexpr double kSavedApartMin = 0.02;

bool IsConstant(std::span<const double> values) {
  const auto first = std::bit_cast<std::uint64_t>(values[0]);
  return std::all_of(values.begin(), values.end(),
                     [first](double v) { return std::bit_cast<std::uint64_t>(v) == first; });
}

/// Each page on its own, behind a table of their sizes.
void PutPages(std::span<std::uint64_t> integers, int order, std::string* out) {
  std::string bodies;
  for (std::size_t i = 0; i < integers.size(); i += kPageSamples) {
    const std::size_t before = bodies.size();
    EncodeIntegerBlocks(integers.subspan(i, std::min(kPageSamples, integers.size() - i)), order, &bodies);
    PutVarint(out, bodies.size() - before);
  }
  out->append(bodies);
}

ValueEncoding PutBlocks(std::span<const double> values, const ValueIntegers& column, std::string* out) {
  const int order = ChooseOrder(column.integers, nullptr);
  const bool decimal = column.exponent >= 0;
  out->push_back(static_cast<char>(static_cast<unsigned>(decimal ? column.exponent : 0) |
                                   static_cast<unsigned>(order) << kOrderShift));
  out->push_back(static_cast<char>(FlagsOf(column)));
  PutDivisor(column, out);
  std::vector<std::uint64_t> integers = column.integers;
  if (integers.size() <= kPageSamples) {
    EncodeIntegerBlocks(integers, order, out);
  } else {
    PutPages(integers, order, out);
  }
  PutCorrections(values, column, out);
  return decimal ? ValueEncoding::kDecimalBlocks : ValueEncoding::kBits;
}

ValueEncoding PutTokens(std::span<const double> values, const ValueIntegers& column, std::string* out) {
  out->push_back(static_cast<char>(column.exponent >= 0 ? static_cast<unsigned>(column.exponent) : kExponentBits));
  out->push_back(static_cast<char>(FlagsOf(column)));
  PutDivisor(column, out);
  EncodeIntegerTokens(column.integers, out);
  PutCorrections(values, column, out);
  return ValueEncoding::kTokens;
}

struct Encoded {
  ValueEncoding encoding = ValueEncoding::kConstant;
  std::string bytes;
};

/// The smaller one of what is worth trying.
Encoded Encode(std::span<const double> values, const ValueIntegers& column, Effort effort) {
  Encoded best;
  best.encoding = PutBlocks(values, column, &best.bytes);
  if (effort == Effort::kDense) {
    Encoded tokens;
    tokens.encoding = PutTokens(values, column, &tokens.bytes);
    if (tokens.bytes.size() < best.bytes.size()) {
      return tokens;
    }
  }
  return best;
}

/// What tokens would save, roughly, if each page had its own: the sizes of differences are shared out by page, and each
/// page is divided by what divides all of it. Negative when there is nothing to save.
double BitsSavedApart(const ValueIntegers& column) {
  using Histogram = std::array<std::uint32_t, 65>;
  const auto cost = [](const Histogram& sizes) {
    double bits = 0;
    std::uint32_t all = 0;
    for (const std::uint32_t n : sizes) {
      bits -= NLogN(n) - (n == 0 ? 0 : kLevelBits);
      all += n;
    }
    return bits + NLogN(all) + kTableBits;
  };
  Histogram whole{};
  double apart = 0;
  const std::span<const std::uint64_t> integers = column.integers;
  for (std::size_t begin = 0; begin < integers.size(); begin += kPageSamples) {
    const auto page = integers.subspan(begin, std::min(kPageSamples, integers.size() - begin));
    Histogram sizes{};
    for (std::size_t i = 1; i < page.size(); ++i) {
      const std::uint64_t difference = ZigZag(static_cast<std::int64_t>(page[i] - page[i - 1]));
      ++sizes[static_cast<std::size_t>(std::bit_width(difference))];
    }
    const auto divisor = static_cast<double>(std::max<std::uint64_t>(1, CommonDivisor(page)));
    apart += cost(sizes) - static_cast<double>(page.size()) * std::log2(divisor);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      whole[i] += sizes[i];
    }
  }
  return cost(whole) - apart;
}

/// Each page as a column of its own, when that is smaller than `best`.
void TryApart(std::span<const double> values, Effort effort, Encoded* best) {
  std::string table;
  std::string bodies;
  for (std::size_t begin = 0; begin < values.size(); begin += kPageSamples) {
    const std::size_t before = bodies.size();
    const auto page = values.subspan(begin, std::min(kPageSamples, values.size() - begin));
    table.push_back(static_cast<char>(EncodeValues(page, effort, &bodies)));
    PutVarint(&table, bodies.size() - before);
  }
  if (table.size() + bodies.size() < best->bytes.size()) {
    best->encoding = ValueEncoding::kApart;
    best->bytes = std::move(table) + bodies;
  }
}

}  // namespace

ValueEncoding EncodeValues(std::span<const double> values, Effort effort, std::string* out) {
  if (IsConstant(values)) {
    PutFixed64(out, std::bit_cast<std::uint64_t>(values[0]));
    return ValueEncoding::kConstant;
  }
  ValueIntegers column;
  Encoded best;
  const bool decimal = ToDecimals(values, &column);
  const bool several = effort == Effort::kDense && values.size() > kPageSamples;
  double saved_bits = 0;
  if (decimal) {
    best = Encode(values, column, effort);
    saved_bits = several ? BitsSavedApart(column) : 0;
  }
  // Many digits: the raw bits may be smaller.
  if (!decimal || best.bytes.size() >= 5 * values.size()) {
    ToBits(values, &column);
    Encoded bits = Encode(values, column, effort);
    if (!decimal || bits.bytes.size() < best.bytes.size()) {
      best = std::move(bits);
      saved_bits = several ? BitsSavedApart(column) : 0;
    }
  }
  // Pages that have little in common.
  if (saved_bits > kSavedApartMin * 8 * static_cast<double>(best.bytes.size())) {
    TryApart(values, effort, &best);
  }
  out->append(best.bytes);
  return best.encoding;
}

}  // namespace tsdb::chunk
