// ScanValues: extremes, NaNs and falls of some values in one pass; AVX2 where the machine has it, otherwise (and in
// tests) plain C++ that gives the same.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace tsdb::chunk {

struct ValueScan {
  /// Of the numbers; +Inf and -Inf when there is none. A zero may have either sign: see SettleZeros.
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  std::uint64_t nans = 0;
  /// Values that are less than the one right before them.
  std::uint64_t falls = 0;
};

ValueScan ScanValues(std::span<const double> values);
ValueScan ScanValuesScalar(std::span<const double> values);

/// Gives extremes that are zero the sign they have when -0.0 counts as less than +0.0.
void SettleZeros(std::span<const double> values, ValueScan* scan);

}  // namespace tsdb::chunk
