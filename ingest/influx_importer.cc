#include "ingest/influx_importer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ingest/influx_text.h"
#include "ingest/number.h"
#include "ingest/text_util.h"

namespace tsdb::ingest {
namespace {

/// A line whose strings hold newlines is followed no further than this; line protocol limits a string to 64 KiB.
constexpr std::size_t kOpenStringBytesMax = 64 * 1024;

enum class Scan { kEnd, kMore, kBroken };

/// From inside a string at `*position`, finds the newline that ends the line (or the end of the text under `at_end`).
/// kBroken: what follows a string is not line protocol, or the line is too long.
Scan FindLineEnd(std::string_view text, bool at_end, std::size_t* position) {
  bool in_string = true;
  std::size_t i = *position;
  for (; i < text.size() && i < kOpenStringBytesMax; ++i) {
    const char c = text[i];
    if (c == '\\') {
      ++i;
    } else if (in_string && c == '"') {
      in_string = false;
      if (i + 1 < text.size() && std::string_view(", \r\n").find(text[i + 1]) == std::string_view::npos) {
        return Scan::kBroken;
      }
    } else if (!in_string && c == '"') {
      if (text[i - 1] != '=') {
        return Scan::kBroken;
      }
      in_string = true;
    } else if (!in_string && c == '\n') {
      *position = i;
      return Scan::kEnd;
    }
  }
  if (i >= kOpenStringBytesMax) {
    return Scan::kBroken;
  }
  if (!at_end) {
    return Scan::kMore;
  }
  *position = text.size();
  return in_string ? Scan::kBroken : Scan::kEnd;
}

const char* FindBlank(const char* p, const char* end) {
  const char* start = p;
  while (p != end) {
    p = static_cast<const char*>(std::memchr(p, ' ', static_cast<std::size_t>(end - p)));
    if (p == nullptr) {
      return end;
    }
    if (p == start || p[-1] != '\\') {
      return p;
    }
    ++p;
  }
  return end;
}

bool EndsValue(const char* p, const char* end) { return p == end || *p == ',' || *p == ' '; }

std::string_view Between(const char* p, const char* end) { return {p, static_cast<std::size_t>(end - p)}; }

bool ParseBool(std::string_view text, double* value) {
  if (text == "t" || text == "T" || text == "true" || text == "True" || text == "TRUE") {
    *value = 1;
    return true;
  }
  if (text == "f" || text == "F" || text == "false" || text == "False" || text == "FALSE") {
    *value = 0;
    return true;
  }
  return false;
}

}  // namespace

InfluxImporter::InfluxImporter(const ImportOptions& options, BatchSink sink)
    : LineImporter(options, std::move(sink)),
      scale_(options.has_unit ? options.unit : TimeUnit::kNanoseconds, options.database_unit) {}

InfluxImporter::Outcome InfluxImporter::Fail(std::string_view reason, std::string_view text) {
  fail_reason_ = reason;
  fail_text_ = text;
  return Outcome::kFailed;
}

std::size_t InfluxImporter::TakeRecord(std::string_view text, bool at_end) {
  const std::size_t newline = text.find('\n');
  const std::size_t line_end = std::min(newline, text.size());
  switch (TakeLine(text.substr(0, line_end))) {
    case Outcome::kTaken:
      break;
    case Outcome::kFailed:
      writer().RejectLine(line(), fail_reason_, fail_text_);
      break;
    case Outcome::kOpenString:
      return TakeOpenString(text, at_end);
  }
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

std::size_t InfluxImporter::TakeOpenString(std::string_view text, bool at_end) {
  auto position = static_cast<std::size_t>(open_string_ - text.data());
  const std::string_view opened = text.substr(position - 1);
  const Scan scan = FindLineEnd(text, at_end, &position);
  if (scan == Scan::kMore) {
    return 0;
  }
  if (scan == Scan::kEnd && TakeLine(text.substr(0, position)) == Outcome::kTaken) {
    return std::min(position + 1, text.size());
  }
  // One open quote must not take the following lines along: only the line it stands on is refused.
  const std::size_t newline = text.find('\n');
  writer().RejectLine(line(), "string without a closing quote", opened.substr(0, opened.find('\n')));
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

InfluxImporter::Outcome InfluxImporter::TakeLine(std::string_view line_text) {
  line_text = TrimRight(TrimLeft(line_text));
  if (line_text.empty() || line_text.front() == '#') {
    return Outcome::kTaken;
  }
  const char* p = line_text.data();
  const char* const end = p + line_text.size();
  const char* blank = FindBlank(p, end);
  if (blank == end) {
    return Fail("no fields: expected 'measurement,tag=value field=1 time'", line_text);
  }
  const std::uint32_t prefix = writer().cache().FindPrefix(Between(p, blank));
  p = blank;
  while (p != end && IsBlank(*p)) {
    ++p;
  }
  row_.clear();
  string_keys_.clear();
  rounded_ = 0;
  if (const Outcome fields = TakeFields(&p, end, prefix); fields != Outcome::kTaken) {
    return fields;
  }
  while (p != end && IsBlank(*p)) {
    ++p;
  }
  Timestamp time = 0;
  if (p == end) {
    time = writer().Now();
  } else if (TakeTime(Between(p, end), &time) == Outcome::kFailed) {
    return Outcome::kFailed;
  }
  if (!row_.empty() && writer().AddRow(line(), time, row_)) {
    writer().CountRounded(rounded_);
  }
  for (const std::string_view key : string_keys_) {
    writer().RejectSample(line(), "string fields are not stored", key);
  }
  return Outcome::kTaken;
}

InfluxImporter::Outcome InfluxImporter::TakeFields(const char** position, const char* end, std::uint32_t prefix) {
  SeriesCache& cache = writer().cache();
  const char* p = *position;
  std::uint32_t expected = cache.first_slot(prefix);
  while (true) {
    std::uint32_t number = expected;
    std::string_view key;
    if (expected != SeriesCache::kNone) {
      const SeriesCache::Slot& slot = cache.slot(expected);
      const std::size_t size = slot.field_size;
      if (static_cast<std::size_t>(end - p) > size && p[size] == '=' && std::memcmp(p, slot.field, size) == 0) {
        key = {p, size};
      }
    }
    if (key.empty()) {
      const std::string_view rest = Between(p, end);
      const std::size_t stop = FindUnescaped(rest, 0, ",= ");
      key = rest.substr(0, stop);
      if (stop == rest.size() || rest[stop] != '=') {
        return Fail("field without '=' and a value", key);
      }
      if (key.empty()) {
        return Fail("field without a name", rest);
      }
      number = cache.FindField(prefix, key);
    }
    expected = cache.slot(number).next;
    p += key.size() + 1;
    if (const Outcome value = TakeValue(&p, end, number, key); value != Outcome::kTaken) {
      return value;
    }
    if (p == end || *p == ' ') {
      *position = p;
      return Outcome::kTaken;
    }
    ++p;  // the comma
  }
}

InfluxImporter::Outcome InfluxImporter::TakeValue(const char** position, const char* end, std::uint32_t slot,
                                                  std::string_view key) {
  const char* p = *position;
  SimpleNumber number;
  if (const char* after = ScanSimple(p, end, &number); after != nullptr) {
    if (EndsValue(after, end)) {
      row_.push_back({slot, number.value});
      *position = after;
      return Outcome::kTaken;
    }
    if (*after == 'i' && !number.has_point && EndsValue(after + 1, end)) {
      // -0i is the integer zero, which has no sign.
      row_.push_back({slot, number.digits == 0 ? 0.0 : number.value});
      *position = after + 1;
      return Outcome::kTaken;
    }
  }
  if (p != end && *p == '"') {
    return TakeString(position, end, key);
  }
  return TakeToken(position, end, slot);
}

InfluxImporter::Outcome InfluxImporter::TakeToken(const char** position, const char* end, std::uint32_t slot) {
  const char* p = *position;
  const char* after = p;
  while (!EndsValue(after, end)) {
    ++after;
  }
  const std::string_view token = Between(p, after);
  *position = after;
  if (token.empty()) {
    return Fail("field without a value");
  }
  double value = 0;
  const char* reason = nullptr;
  if (token.back() == 'i') {
    std::int64_t integer = 0;
    reason = ParseInt64(token.substr(0, token.size() - 1), &integer);
    value = static_cast<double>(integer);
    const std::uint64_t magnitude = integer < 0 ? 0 - static_cast<std::uint64_t>(integer)
                                                : static_cast<std::uint64_t>(integer);
    rounded_ += reason == nullptr && !FitsDouble(magnitude);
  } else if (token.back() == 'u') {
    std::uint64_t integer = 0;
    reason = ParseUint64(token.substr(0, token.size() - 1), &integer);
    value = static_cast<double>(integer);
    rounded_ += reason == nullptr && !FitsDouble(integer);
  } else if (!ParseBool(token, &value)) {
    ParsedNumber number;
    reason = ParseDecimal(token, false, &number);
    value = number.value;
    rounded_ += reason == nullptr && number.rounded;
  }
  if (reason != nullptr) {
    return Fail(reason, token);
  }
  row_.push_back({slot, value});
  return Outcome::kTaken;
}

InfluxImporter::Outcome InfluxImporter::TakeString(const char** position, const char* end, std::string_view key) {
  const char* const start = *position;
  const char* p = start + 1;
  while (p != end && *p != '"') {
    p += *p == '\\' && p + 1 != end ? 2 : 1;
  }
  if (p == end) {
    open_string_ = start + 1;
    return Outcome::kOpenString;
  }
  ++p;
  if (!EndsValue(p, end)) {
    return Fail("text after the closing quote of a string", Between(start, end));
  }
  string_keys_.push_back(key);
  *position = p;
  return Outcome::kTaken;
}

InfluxImporter::Outcome InfluxImporter::TakeTime(std::string_view text, Timestamp* time) {
  if (text.find_first_of(" \t") != std::string_view::npos) {
    return Fail("more than one word after the fields", text);
  }
  std::int64_t written = 0;
  if (const char* reason = ParseInt64(text, &written); reason != nullptr) {
    return Fail(reason == std::string_view("not an integer") ? "timestamp is not an integer" : "timestamp out of range",
                text);
  }
  if (!scale_.Convert(written, time)) {
    return Fail("timestamp out of range in the database's unit", text);
  }
  return Outcome::kTaken;
}

Result<Labels> InfluxImporter::BuildLabels(std::string_view prefix, std::string_view field) {
  TSDB_ASSIGN_OR_RETURN(InfluxSeries series, ParseInfluxSeries(prefix));
  const bool named = std::any_of(series.tags.begin(), series.tags.end(),
                                 [](const Label& tag) { return tag.name == kMetricLabel; });
  if (named) {
    // Our own export writes names so that cannot be split into measurement and field.
    if (field != "value") {
      return Status::InvalidArgument("a line with the tag __name__ has the one field 'value', found " +
                                     QuoteForMessage(field));
    }
  } else {
    series.tags.push_back({std::string(kMetricLabel), series.measurement + "_" + UnescapeInflux(field, kTagSpecial)});
  }
  return WithExtraLabels(std::move(series.tags), options().extra_labels);
}

}  // namespace tsdb::ingest
