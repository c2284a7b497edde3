#include <algorithm>
#include <bit>

#include "base/coding.h"
#include "chunk/column_codec.h"
#include "chunk/column_layout.h"
#include "chunk/integer_blocks.h"
#include "chunk/integer_tokens.h"
#include "chunk/value_integers.h"

namespace tsdb::chunk {
namespace {

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

}  // namespace

ValueEncoding EncodeValues(std::span<const double> values, Effort effort, std::string* out) {
  if (IsConstant(values)) {
    PutFixed64(out, std::bit_cast<std::uint64_t>(values[0]));
    return ValueEncoding::kConstant;
  }
  ValueIntegers column;
  Encoded best;
  const bool decimal = ToDecimals(values, &column);
  if (decimal) {
    best = Encode(values, column, effort);
  }
  // Many digits: the raw bits may be smaller.
  if (!decimal || best.bytes.size() >= 5 * values.size()) {
    ToBits(values, &column);
    Encoded bits = Encode(values, column, effort);
    if (!decimal || bits.bytes.size() < best.bytes.size()) {
      best = std::move(bits);
    }
  }
  out->append(best.bytes);
  return best.encoding;
}

}  // namespace tsdb::chunk
