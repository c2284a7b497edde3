// The front end of the value encoders: a column of doubles as integers. Exact decimals v·10^E where that fits, else the
// ordered bits; a common divisor removed; near misses as corrections, the rest as exceptions.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tsdb::chunk {

struct ValueIntegers {
  /// -1: ordered bits.
  int exponent = -1;
  std::uint64_t divisor = 1;
  std::uint64_t offset = 0;  // with a divisor above 1
  std::vector<std::uint64_t> integers;
  std::vector<std::uint64_t> ulps;  // empty when all are 0
  std::vector<std::uint32_t> exceptions;
};

/// As decimals; false when more than a quarter of the values are exceptions.
bool ToDecimals(std::span<const double> values, ValueIntegers* result);
/// As ordered bits; always possible.
void ToBits(std::span<const double> values, ValueIntegers* result);

/// The byte of flags: kFlagDivisor and so on.
unsigned FlagsOf(const ValueIntegers& column);
void PutDivisor(const ValueIntegers& column, std::string* out);
/// Corrections and exceptions, as far as there are any.
void PutCorrections(std::span<const double> values, const ValueIntegers& column, std::string* out);

}  // namespace tsdb::chunk
