// Numbers as text: decimals, integers and the spellings of NaN and the infinities, the same in every locale.
//
// Grammar of a decimal: digits with at most one point (a digit on one side is enough), then an optional exponent. No
// hex, no separators, no blanks. A decimal beyond the largest double is refused; one below the smallest becomes zero
// with its sign.
//
// Spellings that keep the bits of values which are not numbers: `+Inf` and `-Inf`; `NaN` is 0x7ff8000000000001 (what
// Go and Prometheus make), `nan` is 0x7ff8000000000000 (what C, C++ and Python make), `StaleNaN` is Prometheus' stale
// marker 0x7ff0000000000002, and `NaN:<16 hex digits>` is any other NaN.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "ingest/text_util.h"

namespace tsdb::ingest {

inline constexpr std::uint64_t kPrometheusNanBits = 0x7ff8000000000001;
inline constexpr std::uint64_t kPlainNanBits = 0x7ff8000000000000;
inline constexpr std::uint64_t kStaleNanBits = 0x7ff0000000000002;

struct ParsedNumber {
  double value = 0;
  /// An integer was written that no double equals.
  bool rounded = false;
};

/// A decimal, with `-` and, when `plus_allowed`, `+` in front. Null: parsed; otherwise the reason it is refused.
const char* ParseDecimal(std::string_view text, bool plus_allowed, ParsedNumber* out);
/// A decimal or one of the spellings above, also `Infinity`, in any case of letters.
const char* ParseValue(std::string_view text, ParsedNumber* out);
/// The spellings that are not decimals; false when `text` is none of them.
bool ParseSpecialValue(std::string_view text, double* value);

/// A whole int64 with an optional `-`. Null: parsed; otherwise the reason.
const char* ParseInt64(std::string_view text, std::int64_t* out);
/// A whole uint64 without a sign.
const char* ParseUint64(std::string_view text, std::uint64_t* out);
/// True when a double equals ±`magnitude`.
constexpr bool FitsDouble(std::uint64_t magnitude) {
  return magnitude <= (1ull << 53) || (magnitude >> __builtin_ctzll(magnitude)) < (1ull << 53);
}

/// Appends `value` so that ParseValue gives the same 64 bits.
void AppendValue(double value, std::string* out);

/// What ScanSimple found.
struct SimpleNumber {
  double value = 0;
  std::uint64_t digits = 0;  // all digits as one integer, below 2^53
  bool negative = false;
  bool has_point = false;
};

inline constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Fast path: a decimal without exponent whose digits, read as an integer, stay below 2^53; then digits / 10^k with
/// k <= 22 is one exact operand divided by another, hence correctly rounded (Clinger 1990), as from_chars would give.
/// Returns the position after it, or null when the general path has to look.
inline const char* ScanSimple(const char* p, const char* end, SimpleNumber* out) {
  bool negative = false;
  if (p != end && *p == '-') {
    negative = true;
    ++p;
  }
  std::uint64_t digits = 0;
  const char* start = p;
  while (p != end && IsDigit(*p)) {
    digits = digits * 10 + static_cast<std::uint64_t>(*p - '0');
    ++p;
  }
  std::ptrdiff_t count = p - start;
  if (p == end || *p != '.') {
    if (count == 0 || count > 18 || digits >= (1ull << 53)) {
      return nullptr;
    }
    out->value = static_cast<double>(digits);
    out->has_point = false;
  } else {
    const char* fraction = ++p;
    while (p != end && IsDigit(*p)) {
      digits = digits * 10 + static_cast<std::uint64_t>(*p - '0');
      ++p;
    }
    const std::ptrdiff_t places = p - fraction;
    count += places;
    if (count == 0 || count > 18 || digits >= (1ull << 53)) {
      return nullptr;
    }
    out->value = static_cast<double>(digits) / kPowersOfTen[places];
    out->has_point = true;
  }
  if (negative) {
    out->value = -out->value;
  }
  out->digits = digits;
  out->negative = negative;
  return p;
}

}  // namespace tsdb::ingest
