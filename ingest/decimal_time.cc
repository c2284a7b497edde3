#include "ingest/decimal_time.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "ingest/text_util.h"
#include "tsdb/time_text.h"

namespace tsdb::ingest {
namespace {

constexpr const char* kNotATime = "not a time";
constexpr const char* kOutOfRange = "time out of range";

int Decimals(TimeUnit unit) {
  int decimals = 0;
  for (std::int64_t rate = UnitsPerSecond(unit); rate > 1; rate /= 10) {
    ++decimals;
  }
  return decimals;
}

struct Decimal {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::int64_t exponent = 0;
};

std::string_view TakeDigits(std::string_view* text) {
  std::size_t n = 0;
  while (n < text->size() && IsDigit((*text)[n])) {
    ++n;
  }
  const std::string_view digits = text->substr(0, n);
  text->remove_prefix(n);
  return digits;
}

bool SplitDecimal(std::string_view text, bool exponent_allowed, Decimal* out) {
  if (text.starts_with('-')) {
    out->negative = true;
    text.remove_prefix(1);
  }
  out->whole = TakeDigits(&text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    out->fraction = TakeDigits(&text);
  }
  if (out->whole.empty() && out->fraction.empty()) {
    return false;
  }
  if (exponent_allowed && (text.starts_with('e') || text.starts_with('E'))) {
    text.remove_prefix(1);
    if (text.starts_with('+')) {
      text.remove_prefix(1);
      if (text.starts_with('-')) {
        return false;
      }
    }
    constexpr std::int64_t kExponentMax = 100'000'000;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out->exponent);
    if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
      return false;
    }
    if (error == std::errc::result_out_of_range) {
      out->exponent = text.starts_with('-') ? -kExponentMax : kExponentMax;
    }
    out->exponent = std::clamp(out->exponent, -kExponentMax, kExponentMax);
    return true;
  }
  return text.empty();
}

}  // namespace

const char* ParseDecimalTime(std::string_view text, TimeUnit from, TimeUnit to, bool exponent_allowed, Timestamp* out) {
  Decimal decimal;
  if (!SplitDecimal(text, exponent_allowed, &decimal)) {
    return kNotATime;
  }
  // The result is floor(± digits · 10^shift); `kept` counts the digits in front of the result's point.
  const auto digit = [&](std::size_t i) {
    return i < decimal.whole.size() ? decimal.whole[i] - '0' : decimal.fraction[i - decimal.whole.size()] - '0';
  };
  const std::size_t count = decimal.whole.size() + decimal.fraction.size();
  const std::int64_t kept =
      static_cast<std::int64_t>(decimal.whole.size()) + decimal.exponent + Decimals(to) - Decimals(from);
  __extension__ using Wide = __int128;
  Wide value = 0;
  constexpr Wide kLimit = static_cast<Wide>(1) << 64;
  bool rest = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (static_cast<std::int64_t>(i) >= kept) {
      rest = rest || digit(i) != 0;
      continue;
    }
    value = value * 10 + digit(i);
    if (value > kLimit) {
      return kOutOfRange;
    }
  }
  for (std::int64_t i = static_cast<std::int64_t>(count); i < kept && value != 0; ++i) {
    value *= 10;
    if (value > kLimit) {
      return kOutOfRange;
    }
  }
  if (decimal.negative) {
    value = -value - (rest ? 1 : 0);
  }
  if (value < kTimestampMin || value > kTimestampMax) {
    return kOutOfRange;
  }
  *out = static_cast<Timestamp>(value);
  return nullptr;
}

const char* ParseTimeCell(std::string_view text, TimeUnit from, TimeUnit to, Timestamp* out) {
  const bool is_date = text.size() >= 10 && std::all_of(text.begin(), text.begin() + 4, IsDigit) && text[4] == '-' &&
                       IsDigit(text[5]);
  if (!is_date) {
    return ParseDecimalTime(text, from, to, false, out);
  }
  Result<Timestamp> time = ParseTime(text, to, 0);
  if (!time.ok()) {
    return time.status().code() == StatusCode::kOutOfRange ? kOutOfRange : "not an RFC 3339 time";
  }
  *out = *time;
  return *out == kNow ? kOutOfRange : nullptr;
}

void AppendSeconds(Timestamp time, TimeUnit unit, std::string* out) {
  const auto rate = static_cast<std::uint64_t>(UnitsPerSecond(unit));
  const std::uint64_t magnitude = time < 0 ? 0 - static_cast<std::uint64_t>(time) : static_cast<std::uint64_t>(time);
  if (time < 0) {
    *out += '-';
  }
  std::array<char, 24> text;
  auto written = std::to_chars(text.data(), text.data() + text.size(), magnitude / rate);
  out->append(text.data(), written.ptr);
  if (const std::uint64_t fraction = magnitude % rate; fraction != 0) {
    written = std::to_chars(text.data(), text.data() + text.size(), fraction + rate);  // "1" and all decimals
    char* end = written.ptr;
    while (end[-1] == '0') {
      --end;
    }
    *out += '.';
    out->append(text.data() + 1, end);
  }
}

}  // namespace tsdb::ingest
