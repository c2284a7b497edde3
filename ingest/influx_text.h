// The escapes of line protocol's names and tag values: a backslash takes the meaning from a following comma, equals
// sign or blank (in the measurement: comma or blank); before anything else it is an ordinary character.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tsdb/labels.h"
#include "tsdb/result.h"

namespace tsdb::ingest {

/// First place at or behind `from` of an unescaped character out of `stops`, or the size of `text`.
std::size_t FindUnescaped(std::string_view text, std::size_t from, std::string_view stops);
/// Undoes the escapes; `special` are the characters that can be escaped.
std::string UnescapeInflux(std::string_view text, std::string_view special);

struct InfluxSeries {
  std::string measurement;
  std::vector<Label> tags;
};
/// Splits `measurement,tag=value,...`. kInvalidArgument says what is wrong with it.
Result<InfluxSeries> ParseInfluxSeries(std::string_view text);

inline constexpr std::string_view kMeasurementSpecial = ", ";
inline constexpr std::string_view kTagSpecial = ",= ";

}  // namespace tsdb::ingest
