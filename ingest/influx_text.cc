#include "ingest/influx_text.h"

#include <algorithm>
#include <utility>

#include "ingest/text_util.h"

namespace tsdb::ingest {
namespace {

Status Bad(std::string_view reason, std::string_view text) {
  return Status::InvalidArgument(std::string(reason) + ": " + QuoteForMessage(text));
}

}  // namespace

std::size_t FindUnescaped(std::string_view text, std::size_t from, std::string_view stops) {
  for (std::size_t i = from; i < text.size(); ++i) {
    // An escape is a backslash right before the character, whatever stands before the backslash.
    if (stops.find(text[i]) != std::string_view::npos && (i == from || text[i - 1] != '\\')) {
      return i;
    }
  }
  return text.size();
}

std::string UnescapeInflux(std::string_view text, std::string_view special) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && special.find(text[i + 1]) != std::string_view::npos) {
      ++i;
    }
    out += text[i];
  }
  return out;
}

Result<InfluxSeries> ParseInfluxSeries(std::string_view text) {
  InfluxSeries series;
  std::size_t i = FindUnescaped(text, 0, ",");
  if (i == 0) {
    return Bad("no measurement in front of the tags", text);
  }
  series.measurement = UnescapeInflux(text.substr(0, i), kMeasurementSpecial);
  while (i < text.size()) {
    const std::size_t start = i + 1;
    const std::size_t equals = FindUnescaped(text, start, ",=");
    if (equals == text.size() || text[equals] == ',') {
      return Bad("tag without a value", text.substr(start, equals - start));
    }
    if (equals == start) {
      return Bad("tag without a name", text.substr(start));
    }
    const std::size_t end = FindUnescaped(text, equals + 1, ",=");
    if (end < text.size() && text[end] == '=') {
      return Bad("'=' in a tag value needs a backslash in front", text.substr(start, end + 1 - start));
    }
    if (end == equals + 1) {
      return Bad("tag without a value", text.substr(start, end - start));
    }
    Label tag{UnescapeInflux(text.substr(start, equals - start), kTagSpecial),
              UnescapeInflux(text.substr(equals + 1, end - equals - 1), kTagSpecial)};
    series.tags.push_back(std::move(tag));
    i = end;
  }
  std::sort(series.tags.begin(), series.tags.end());
  const auto repeated = std::adjacent_find(series.tags.begin(), series.tags.end(),
                                           [](const Label& a, const Label& b) { return a.name == b.name; });
  if (repeated != series.tags.end()) {
    return Bad("tag given twice", repeated->name);
  }
  return series;
}

}  // namespace tsdb::ingest
