#include "ingest/number.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>

#include "tsdb/ingest.h"

namespace tsdb::ingest {
namespace {

constexpr const char* kNotANumber = "not a number";

/// True when `text` (without sign) is digits with at most one point, a digit somewhere, and a complete exponent if any.
bool IsDecimal(std::string_view text) {
  std::size_t i = 0;
  std::size_t digits = 0;
  bool point = false;
  for (; i < text.size(); ++i) {
    if (IsDigit(text[i])) {
      ++digits;
    } else if (text[i] == '.' && !point) {
      point = true;
    } else {
      break;
    }
  }
  if (digits == 0) {
    return false;
  }
  if (i == text.size()) {
    return true;
  }
  if (text[i] != 'e' && text[i] != 'E') {
    return false;
  }
  ++i;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) {
    ++i;
  }
  if (i == text.size()) {
    return false;
  }
  for (; i < text.size(); ++i) {
    if (!IsDigit(text[i])) {
      return false;
    }
  }
  return true;
}

/// For a decimal that does not fit: true when it is too small rather than too large, that is when the decimal exponent
/// of its first digit other than zero is negative.
bool IsUnderflow(std::string_view text) {
  constexpr std::int64_t kExponentMax = 1'000'000'000;
  std::int64_t exponent = 0;  // of the digit before the point
  bool point = false;
  bool leading = true;
  std::size_t i = 0;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.') {
      point = true;
    } else if (leading && text[i] == '0') {
      exponent -= point ? 1 : 0;
    } else if (leading) {
      leading = false;
      exponent -= point ? 1 : 0;
    } else {
      exponent += point ? 0 : 1;
    }
  }
  if (i < text.size()) {
    ++i;
    const bool negative = text[i] == '-';
    std::int64_t written = 0;
    for (i += text[i] == '-' || text[i] == '+'; i < text.size(); ++i) {
      written = std::min(kExponentMax, written * 10 + (text[i] - '0'));
    }
    exponent += negative ? -written : written;
  }
  return exponent < 0;
}

/// True when `text` is digits only (so an integer was meant) and `value` is another number.
bool IsRoundedInteger(std::string_view text, double value) {
  if (text.size() < 16) {
    return false;
  }
  for (const char c : text) {
    if (!IsDigit(c)) {
      return false;
    }
  }
  while (text.size() > 1 && text.front() == '0') {
    text.remove_prefix(1);
  }
  std::array<char, 320> exact;
  const auto [end, error] =
      std::to_chars(exact.data(), exact.data() + exact.size(), std::fabs(value), std::chars_format::fixed, 0);
  return error != std::errc() || text != std::string_view(exact.data(), static_cast<std::size_t>(end - exact.data()));
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + ('a' - 'A')) : text[i];
    if (c != lower[i]) {
      return false;
    }
  }
  return true;
}

template <typename Integer>
const char* ParseInteger(std::string_view text, Integer* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc::result_out_of_range && end == text.data() + text.size()) {
    return "integer out of range";
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    return "not an integer";
  }
  return nullptr;
}

}  // namespace

const char* ParseDecimal(std::string_view text, bool plus_allowed, ParsedNumber* out) {
  out->rounded = false;
  SimpleNumber simple;
  if (const char* end = ScanSimple(text.data(), text.data() + text.size(), &simple);
      end != nullptr && end == text.data() + text.size()) {
    out->value = simple.value;
    return nullptr;
  }
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || (plus_allowed && text.front() == '+'))) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (!IsDecimal(text)) {
    return kNotANumber;
  }
  double magnitude = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude);
  if (error == std::errc::result_out_of_range) {
    if (!IsUnderflow(text)) {
      return "number too large for a double";
    }
    magnitude = 0;
  } else if (error != std::errc() || end != text.data() + text.size()) {
    return kNotANumber;
  }
  if (std::isinf(magnitude)) {
    return "number too large for a double";
  }
  out->value = negative ? -magnitude : magnitude;
  out->rounded = IsRoundedInteger(text, magnitude);
  return nullptr;
}

bool ParseSpecialValue(std::string_view text, double* value) {
  if (text == "NaN") {
    *value = std::bit_cast<double>(kPrometheusNanBits);
    return true;
  }
  if (text == "StaleNaN") {
    *value = std::bit_cast<double>(kStaleNanBits);
    return true;
  }
  if (text.starts_with("NaN:")) {
    const std::string_view hex = text.substr(4);
    std::uint64_t bits = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
    // A value that is not a NaN has another spelling; taking it here would let text say two things.
    if (hex.size() != 16 || error != std::errc() || end != hex.data() + hex.size() ||
        (bits & ~(1ull << 63)) <= 0x7ff0000000000000) {
      return false;
    }
    *value = std::bit_cast<double>(bits);
    return true;
  }
  std::string_view name = text;
  const bool negative = !name.empty() && name.front() == '-';
  if (!name.empty() && (name.front() == '-' || name.front() == '+')) {
    name.remove_prefix(1);
  }
  if (EqualsIgnoringCase(name, "inf") || EqualsIgnoringCase(name, "infinity")) {
    *value = negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    return true;
  }
  if (EqualsIgnoringCase(text, "nan")) {
    *value = std::bit_cast<double>(kPlainNanBits);
    return true;
  }
  return false;
}

const char* ParseValue(std::string_view text, ParsedNumber* out) {
  const char* reason = ParseDecimal(text, true, out);
  if (reason != nullptr && ParseSpecialValue(text, &out->value)) {
    return nullptr;
  }
  return reason;
}

const char* ParseInt64(std::string_view text, std::int64_t* out) { return ParseInteger(text, out); }
const char* ParseUint64(std::string_view text, std::uint64_t* out) { return ParseInteger(text, out); }

void AppendValue(double value, std::string* out) {
  if (!std::isnan(value)) {
    AppendDouble(value, out);
    return;
  }
  const auto bits = std::bit_cast<std::uint64_t>(value);
  switch (bits) {
    case kPrometheusNanBits:
      *out += "NaN";
      return;
    case kPlainNanBits:
      *out += "nan";
      return;
    case kStaleNanBits:
      *out += "StaleNaN";
      return;
    default:
      break;
  }
  static constexpr char kHex[] = "0123456789abcdef";
  *out += "NaN:";
  for (int shift = 60; shift >= 0; shift -= 4) {
    *out += kHex[(bits >> shift) & 15];
  }
}

}  // namespace tsdb::ingest

namespace tsdb {

void AppendDouble(double value, std::string* out) {
  if (std::isnan(value)) {
    *out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    *out += value < 0 ? "-Inf" : "+Inf";
    return;
  }
  if (value == 0) {
    // "-0" is an integer to many JSON readers, which lose the sign.
    *out += std::signbit(value) ? "-0.0" : "0";
    return;
  }
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  out->append(text.data(), end);
}

}  // namespace tsdb
