// Numbers on their way out: exact ones for machines, rounded ones with units for people. Independent of the locale.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace tsdb::cli {

void AppendInteger(std::int64_t value, std::string* out);

/// A JSON number that reads back to the same double, or "NaN", "+Inf", "-Inf" as strings. Negative zero is
/// `-0.0`: readers that keep integers apart would lose the sign of `-0`.
void AppendJsonNumber(double value, std::string* out);

/// 1234567 -> "1,234,567".
std::string FormatCount(std::uint64_t count);
/// 1536 -> "1.5 KiB"; bytes below 1 KiB are exact.
std::string FormatBytes(std::uint64_t bytes);
/// 3210000 -> "3.21 M", 950 -> "950".
std::string FormatMagnitude(double value);
/// Seconds: "3.2 ms", "1.25 s", "12m05s".
std::string FormatSeconds(double seconds);

}  // namespace tsdb::cli
