#include "tsdb/types.h"

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace tsdb {

namespace {

constexpr std::array<std::string_view, 4> kUnitNames = {"s", "ms", "us", "ns"};
constexpr std::array<std::string_view, 6> kPolicyNames = {"last", "block", "first", "min", "max", "sum"};
constexpr std::array<std::string_view, 3> kDurabilityNames = {"none", "interval", "always"};

template <typename Enum, std::size_t N>
std::string_view NameOf(Enum value, const std::array<std::string_view, N>& names) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : std::string_view("unknown");
}

template <typename Enum, std::size_t N>
Result<Enum> ParseName(std::string_view text, std::string_view what, const std::array<std::string_view, N>& names) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) {
      return static_cast<Enum>(i);
    }
  }
  return Status::InvalidArgument(fmt::format("'{}' is not a {}; use one of: {}", text, what, fmt::join(names, " ")));
}

}  // namespace

std::int64_t UnitsPerSecond(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds: return 1;
    case TimeUnit::kMilliseconds: return 1'000;
    case TimeUnit::kMicroseconds: return 1'000'000;
    case TimeUnit::kNanoseconds: return 1'000'000'000;
  }
  return 1;
}

std::string_view TimeUnitName(TimeUnit unit) { return NameOf(unit, kUnitNames); }
Result<TimeUnit> ParseTimeUnit(std::string_view text) { return ParseName<TimeUnit>(text, "time unit", kUnitNames); }

Result<Timestamp> ConvertTime(Timestamp time, TimeUnit from, TimeUnit to) {
  const std::int64_t from_units = UnitsPerSecond(from);
  const std::int64_t to_units = UnitsPerSecond(to);
  if (from_units > to_units) {
    const std::int64_t divisor = from_units / to_units;
    return time / divisor - (time % divisor < 0 ? 1 : 0);
  }
  Timestamp result = 0;
  if (__builtin_mul_overflow(time, to_units / from_units, &result)) {
    return Status::OutOfRange(
        fmt::format("time {} {} does not fit in {}", time, TimeUnitName(from), TimeUnitName(to)));
  }
  return result;
}

std::string_view DuplicatePolicyName(DuplicatePolicy policy) { return NameOf(policy, kPolicyNames); }
Result<DuplicatePolicy> ParseDuplicatePolicy(std::string_view text) {
  return ParseName<DuplicatePolicy>(text, "duplicate policy", kPolicyNames);
}

std::string_view DurabilityName(Durability durability) { return NameOf(durability, kDurabilityNames); }
Result<Durability> ParseDurability(std::string_view text) {
  return ParseName<Durability>(text, "durability level", kDurabilityNames);
}

}  // namespace tsdb
