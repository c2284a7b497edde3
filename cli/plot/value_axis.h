// ValueAxis: from which value to which a chart goes, where its marks are, and what they are called.
//
// Steps are 1, 2 or 5 times a power of ten; the axis begins and ends on one. Large and small values get the prefix of
// the largest (`1.5M`, `200m`), those beyond the prefixes an exponent. When values differ only behind their eighth
// digit, marks show the distance from `base`.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tsdb::cli {

struct ValueTick {
  long double value = 0;
  std::string label;
};

struct ValueAxis {
  // Wider than double, so that the distance of any two doubles is a number.
  long double low = 0;
  long double high = 0;
  std::vector<ValueTick> ticks;  // rising; the first is `low`, the last is `high`
  /// What labels count from; empty: zero.
  std::string base;
};

/// `low` <= `high`, both finite; at most `ticks_max` marks, but three are always allowed. With `ascii` µ is written u.
ValueAxis MakeValueAxis(double low, double high, std::size_t ticks_max, bool ascii);

/// A value for people, four digits: "12", "1.235M", "0.5", "32e+39".
std::string FormatFigure(double value, bool ascii);

}  // namespace tsdb::cli
