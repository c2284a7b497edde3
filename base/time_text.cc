#include "tsdb/time_text.h"

#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace tsdb {

namespace {

__extension__ using Int128 = __int128;

struct DurationUnit {
  std::string_view name;
  std::int64_t nanos;
  bool only_whole;  // written only when nothing remains below it: 14d is 2w, but 15d stays 15d
};
constexpr std::int64_t kSecondNanos = 1'000'000'000;
constexpr std::int64_t kDayNanos = 86'400 * kSecondNanos;
// Largest first.
constexpr std::array<DurationUnit, 9> kDurationUnits = {{{"y", 365 * kDayNanos, true},
                                                         {"w", 7 * kDayNanos, true},
                                                         {"d", kDayNanos, false},
                                                         {"h", 3'600 * kSecondNanos, false},
                                                         {"m", 60 * kSecondNanos, false},
                                                         {"s", kSecondNanos, false},
                                                         {"ms", 1'000'000, false},
                                                         {"us", 1'000, false},
                                                         {"ns", 1, false}}};

constexpr std::int64_t kYear0Seconds = -62'167'219'200;     // 0000-01-01T00:00:00Z
constexpr std::int64_t kYear10000Seconds = 253'402'300'800;  // 10000-01-01T00:00:00Z

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The whole of `text` as an integer; nothing when it is not one, out_of_range when it is one that does not fit.
std::optional<std::int64_t> ParseInteger(std::string_view text, bool* out_of_range) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
    return std::nullopt;
  }
  *out_of_range = error == std::errc::result_out_of_range;
  return value;
}

Status BadDuration(std::string_view text, std::string_view why) {
  return Status::InvalidArgument(
      fmt::format("'{}' is not a duration ({}); write 500ms 10s 5m 1h30m 7d 2w 1y or an integer", text.substr(0, 100),
                  why));
}

const DurationUnit* FindUnit(std::string_view name) {
  for (const DurationUnit& unit : kDurationUnits) {
    if (unit.name == name) {
      return &unit;
    }
  }
  return nullptr;
}

// Sum of the parts in nanoseconds, each unit smaller than the one before.
Result<Int128> SumParts(std::string_view text, std::string_view shown) {
  Int128 total = 0;
  std::int64_t last_nanos = std::numeric_limits<std::int64_t>::max();
  while (!text.empty()) {
    std::size_t digits = 0;
    while (digits < text.size() && IsDigit(text[digits])) {
      ++digits;
    }
    std::size_t end = digits;
    while (end < text.size() && text[end] >= 'a' && text[end] <= 'z') {
      ++end;
    }
    if (digits == 0) {
      return BadDuration(shown, "a number is missing");
    }
    const DurationUnit* unit = FindUnit(text.substr(digits, end - digits));
    if (unit == nullptr) {
      return BadDuration(shown, end == digits ? "a unit is missing" : "unknown unit");
    }
    if (unit->nanos >= last_nanos) {
      return BadDuration(shown, "larger units come first, each once");
    }
    last_nanos = unit->nanos;
    bool out_of_range = false;
    const auto count = ParseInteger(text.substr(0, digits), &out_of_range);
    if (!count || out_of_range) {
      return BadDuration(shown, "too large");
    }
    // At most nine parts of less than 2^63 * 2^55 each: fits in 127 bits.
    total += static_cast<Int128>(*count) * unit->nanos;
    text.remove_prefix(end);
  }
  return total;
}

Status BadTime(std::string_view text, std::string_view why) {
  return Status::InvalidArgument(
      fmt::format("'{}' is not a time ({}); write an integer, 2026-11-30T12:00:00Z, 2026-11-30, now, now-1h, - or +",
                  text.substr(0, 100), why));
}

Status TimeOutOfRange(std::string_view text, TimeUnit unit) {
  return Status::OutOfRange(fmt::format("time '{}' does not fit in {}", text.substr(0, 100), TimeUnitName(unit)));
}

// Reads the fixed-width fields of RFC 3339.
class FieldReader {
 public:
  explicit FieldReader(std::string_view text) : rest_(text) {}
  bool Number(std::size_t digits, int* value) {
    if (rest_.size() < digits) {
      return false;
    }
    *value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (!IsDigit(rest_[i])) {
        return false;
      }
      *value = *value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return true;
  }
  bool OneOf(std::string_view characters, char* which = nullptr) {
    if (rest_.empty() || characters.find(rest_.front()) == std::string_view::npos) {
      return false;
    }
    if (which != nullptr) {
      *which = rest_.front();
    }
    rest_.remove_prefix(1);
    return true;
  }
  // Digits after the point as nanoseconds; digits beyond the ninth round down.
  bool Fraction(std::int64_t* nanos) {
    std::int64_t scale = kSecondNanos;
    std::size_t digits = 0;
    for (; digits < rest_.size() && IsDigit(rest_[digits]); ++digits) {
      scale /= 10;
      *nanos += scale * (rest_[digits] - '0');
    }
    rest_.remove_prefix(digits);
    return digits > 0;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// Time of day and zone after the date. Adds to `seconds` and `nanos`; an empty return is success.
std::string_view ReadTimeOfDay(FieldReader* fields, std::int64_t* seconds, std::int64_t* nanos) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (!fields->OneOf("Tt ") || !fields->Number(2, &hour) || !fields->OneOf(":") || !fields->Number(2, &minute) ||
      !fields->OneOf(":") || !fields->Number(2, &second)) {
    return "after the date comes Thh:mm:ss";
  }
  if (hour > 23 || minute > 59 || second > 60) {
    return "no such time of day";
  }
  *seconds += hour * 3600 + minute * 60 + second;
  if (fields->OneOf(".") && !fields->Fraction(nanos)) {
    return "digits are missing after the point";
  }
  char sign = 0;
  if (fields->OneOf("Zz")) {
    return {};
  }
  int zone_hour = 0;
  int zone_minute = 0;
  if (!fields->OneOf("+-", &sign) || !fields->Number(2, &zone_hour) || !fields->OneOf(":") ||
      !fields->Number(2, &zone_minute) || zone_hour > 23 || zone_minute > 59) {
    return "the zone is missing: Z or an offset such as +02:00";
  }
  const std::int64_t offset = zone_hour * 3600 + zone_minute * 60;
  *seconds -= sign == '+' ? offset : -offset;
  return {};
}

Result<Timestamp> ParseCalendarTime(std::string_view text, TimeUnit unit) {
  FieldReader fields(text);
  int year = 0;
  int month = 0;
  int day = 0;
  if (!fields.Number(4, &year) || !fields.OneOf("-") || !fields.Number(2, &month) || !fields.OneOf("-") ||
      !fields.Number(2, &day)) {
    return BadTime(text, "a date is yyyy-mm-dd");
  }
  const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) {
    return BadTime(text, "no such day");
  }
  std::int64_t seconds = std::chrono::sys_days(date).time_since_epoch().count() * std::int64_t{86'400};
  std::int64_t nanos = 0;
  if (!fields.empty()) {
    if (const std::string_view why = ReadTimeOfDay(&fields, &seconds, &nanos); !why.empty()) {
      return BadTime(text, why);
    }
  }
  if (!fields.empty()) {
    return BadTime(text, "something follows the time");
  }
  const std::int64_t units = UnitsPerSecond(unit);
  const Int128 time = static_cast<Int128>(seconds) * units + nanos / (kSecondNanos / units);
  if (time < kTimestampMin || time > kTimestampMax) {
    return TimeOutOfRange(text, unit);
  }
  return static_cast<Timestamp>(time);
}

Result<Timestamp> ParseRelativeTime(std::string_view text, TimeUnit unit, Timestamp now) {
  const std::string_view rest = text.substr(3);
  if (rest.empty()) {
    return now;
  }
  if ((rest[0] != '+' && rest[0] != '-') || rest.size() < 2 || !IsDigit(rest[1])) {
    return BadTime(text, "after now comes + or - and a duration");
  }
  TSDB_ASSIGN_OR_RETURN(const std::int64_t duration, ParseDuration(rest.substr(1), unit));
  Timestamp time = 0;
  if ((rest[0] == '+' ? __builtin_add_overflow(now, duration, &time) : __builtin_sub_overflow(now, duration, &time)) ||
      time < kTimestampMin) {
    return TimeOutOfRange(text, unit);
  }
  return time;
}

}  // namespace

Result<std::int64_t> ParseDuration(std::string_view text, TimeUnit unit) {
  bool out_of_range = false;
  if (const auto integer = ParseInteger(text, &out_of_range)) {
    if (out_of_range) {
      return BadDuration(text, "too large");
    }
    return *integer;
  }
  const bool negative = text.starts_with('-');
  const std::string_view parts = negative ? text.substr(1) : text;
  if (parts.empty()) {
    return BadDuration(text, "it is empty");
  }
  TSDB_ASSIGN_OR_RETURN(Int128 nanos, SumParts(parts, text));
  if (negative) {
    nanos = -nanos;
  }
  const std::int64_t unit_nanos = kSecondNanos / UnitsPerSecond(unit);
  if (nanos % unit_nanos != 0) {
    return BadDuration(text, fmt::format("not a whole number of {}, the unit of the database", TimeUnitName(unit)));
  }
  const Int128 units = nanos / unit_nanos;
  if (units < std::numeric_limits<std::int64_t>::min() || units > std::numeric_limits<std::int64_t>::max()) {
    return BadDuration(text, fmt::format("too large for {}", TimeUnitName(unit)));
  }
  return static_cast<std::int64_t>(units);
}

std::string FormatDuration(std::int64_t duration, TimeUnit unit) {
  if (duration == 0) {
    return "0s";
  }
  Int128 nanos = static_cast<Int128>(duration) * (kSecondNanos / UnitsPerSecond(unit));
  std::string out;
  if (nanos < 0) {
    out.push_back('-');
    nanos = -nanos;
  }
  for (const DurationUnit& part : kDurationUnits) {
    if (nanos < part.nanos || (part.only_whole && nanos % part.nanos != 0)) {
      continue;
    }
    fmt::format_to(std::back_inserter(out), "{}{}", static_cast<std::int64_t>(nanos / part.nanos), part.name);
    nanos %= part.nanos;
  }
  return out;
}

Result<Timestamp> ParseTime(std::string_view text, TimeUnit unit, Timestamp now) {
  if (text == "-") {
    return kTimestampMin;
  }
  if (text == "+") {
    return kTimestampMax;
  }
  if (text.starts_with("now")) {
    return ParseRelativeTime(text, unit, now);
  }
  bool out_of_range = false;
  if (const auto integer = ParseInteger(text, &out_of_range)) {
    if (out_of_range || *integer < kTimestampMin) {
      return TimeOutOfRange(text, unit);
    }
    return *integer;
  }
  if (text.size() > 4 && IsDigit(text[0]) && text[4] == '-') {
    return ParseCalendarTime(text, unit);
  }
  return BadTime(text, text.empty() ? "it is empty" : "neither a number nor a date");
}

std::string FormatTime(Timestamp time, TimeUnit unit) {
  const std::int64_t units = UnitsPerSecond(unit);
  const std::int64_t fraction = time % units < 0 ? time % units + units : time % units;
  const std::int64_t seconds = time / units - (time % units < 0 ? 1 : 0);
  if (seconds < kYear0Seconds || seconds >= kYear10000Seconds) {
    return fmt::format("{}", time);
  }
  const std::int64_t day_number = seconds / 86'400 - (seconds % 86'400 < 0 ? 1 : 0);
  const std::int64_t in_day = seconds - day_number * 86'400;
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day_number))};
  std::string out = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), in_day / 3600,
                                in_day / 60 % 60, in_day % 60);
  switch (unit) {
    case TimeUnit::kSeconds: break;
    case TimeUnit::kMilliseconds: out += fmt::format(".{:03}", fraction); break;
    case TimeUnit::kMicroseconds: out += fmt::format(".{:06}", fraction); break;
    case TimeUnit::kNanoseconds: out += fmt::format(".{:09}", fraction); break;
  }
  out.push_back('Z');
  return out;
}

}  // namespace tsdb
