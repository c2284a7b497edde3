#include "cli/text/numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "tsdb/ingest.h"

namespace tsdb::cli {

void AppendInteger(std::int64_t value, std::string* out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  out->append(digits, end.ptr);
}

void AppendJsonNumber(double value, std::string* out) {
  if (!std::isfinite(value)) {
    *out += '"';
    AppendDouble(value, out);
    *out += '"';
  } else {
    AppendDouble(value, out);
  }
}

std::string FormatCount(std::uint64_t count) {
  const std::string digits = fmt::format("{}", count);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) {
      out += ',';
    }
    out += digits[i];
  }
  return out;
}

std::string FormatBytes(std::uint64_t bytes) {
  if (bytes < 1024) {
    return fmt::format("{} B", bytes);
  }
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double scaled = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (scaled >= 1023.95 && unit + 1 < std::size(kUnits)) {
    scaled /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", scaled, kUnits[unit]);
}

std::string FormatMagnitude(double value) {
  static constexpr const char* kUnits[] = {"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g}{}", value, kUnits[unit]);
}

std::string FormatSeconds(double seconds) {
  if (seconds < 1) {
    return fmt::format("{:.3g} ms", seconds * 1000);
  }
  if (seconds < 100) {
    return fmt::format("{:.3g} s", seconds);
  }
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole < 3600) {
    return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  }
  return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
}

}  // namespace tsdb::cli
