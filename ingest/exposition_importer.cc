#include "ingest/exposition_importer.h"

#include <algorithm>
#include <utility>

#include "ingest/decimal_time.h"
#include "ingest/number.h"
#include "ingest/text_util.h"

namespace tsdb::ingest {
namespace {

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' || IsDigit(c);
}

/// Bytes of the label braces at the start of `text`, or npos when they do not close.
std::size_t BracesBytes(std::string_view text) {
  std::size_t i = 1;
  while (i < text.size() && text[i] != '}') {
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        i += text[i] == '\\';
      }
    }
    ++i;
  }
  return i < text.size() ? i + 1 : std::string_view::npos;
}

std::string_view TakeWord(std::string_view* text) {
  std::size_t n = 0;
  while (n < text->size() && !IsBlank((*text)[n])) {
    ++n;
  }
  const std::string_view word = text->substr(0, n);
  *text = TrimLeft(text->substr(n));
  return word;
}

/// Bytes of the series at the start of `text`: name, blanks, braces; npos when the braces do not close.
std::size_t SeriesBytes(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && IsNameByte(text[n])) {
    ++n;
  }
  std::size_t brace = n;
  while (brace < text.size() && IsBlank(text[brace])) {
    ++brace;
  }
  if (brace == text.size() || text[brace] != '{') {
    return n;
  }
  const std::size_t braces = BracesBytes(text.substr(brace));
  return braces == std::string_view::npos ? braces : brace + braces;
}

}  // namespace

ExpositionImporter::ExpositionImporter(const ImportOptions& options, BatchSink sink)
    : LineImporter(options, std::move(sink)),
      open_metrics_(options.format == TextFormat::kOpenMetrics),
      scale_(TimeUnit::kMilliseconds, options.database_unit) {}

std::size_t ExpositionImporter::TakeRecord(std::string_view text, bool /*at_end*/) {
  const std::size_t newline = text.find('\n');
  if (const char* reason = TakeLine(TrimRight(TrimLeft(text.substr(0, newline)))); reason != nullptr) {
    writer().RejectLine(line(), reason, fail_text_);
  }
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

const char* ExpositionImporter::TakeLine(std::string_view text) {
  if (text.empty()) {
    return nullptr;
  }
  if (end_seen_) {
    return Fail("text after '# EOF'", text);
  }
  if (text.front() == '#') {
    TakeComment(text);
    return nullptr;
  }
  return TakeSample(text);
}

void ExpositionImporter::TakeComment(std::string_view text) {
  if (!open_metrics_) {
    return;
  }
  end_seen_ = text == "# EOF";
  text.remove_prefix(1);
  text = TrimLeft(text);
  if (TakeWord(&text) == "TYPE") {
    const std::string_view family = TakeWord(&text);
    const bool has_creation_time =
        text == "counter" || text == "histogram" || text == "summary" || text == "gaugehistogram";
    created_name_ = has_creation_time ? std::string(family) + "_created" : std::string();
  }
}

bool ExpositionImporter::IsCreationTime(std::string_view series) const {
  return !created_name_.empty() && series.starts_with(created_name_) &&
         (series.size() == created_name_.size() || !IsNameByte(series[created_name_.size()]));
}

const char* ExpositionImporter::ParseTimestamp(std::string_view text, Timestamp* time) const {
  if (open_metrics_) {
    return ParseDecimalTime(text, TimeUnit::kSeconds, options().database_unit, true, time);
  }
  std::int64_t written = 0;
  if (ParseInt64(text, &written) != nullptr) {
    return "timestamp is not a whole number of milliseconds";
  }
  return scale_.Convert(written, time) ? nullptr : "timestamp out of range in the database's unit";
}

const char* ExpositionImporter::TakeSample(std::string_view text) {
  const std::size_t series_bytes = SeriesBytes(text);
  if (series_bytes == std::string_view::npos) {
    return Fail("labels without a closing '}' or quote", text);
  }
  if (series_bytes == 0 || IsDigit(text.front())) {
    return Fail("not a metric name", text);
  }
  const std::string_view series = text.substr(0, series_bytes);
  std::string_view rest = TrimLeft(text.substr(series_bytes));
  if (rest.empty()) {
    return Fail("no value", text);
  }
  const std::string_view value_text = TakeWord(&rest);
  ParsedNumber number;
  if (const char* reason = ParseValue(value_text, &number); reason != nullptr) {
    return Fail(reason, value_text);
  }
  Timestamp time = 0;
  if (!rest.empty() && !(open_metrics_ && rest.front() == '#')) {
    const std::string_view time_text = TakeWord(&rest);
    if (const char* reason = ParseTimestamp(time_text, &time); reason != nullptr) {
      return Fail(reason, time_text);
    }
  } else {
    time = writer().Now();
  }
  const bool has_exemplar = open_metrics_ && rest.starts_with('#');
  if (has_exemplar) {
    if (const char* reason = TakeExemplar(rest); reason != nullptr) {
      return reason;
    }
  } else if (!rest.empty()) {
    return Fail("unexpected text at the end of the line", rest);
  }
  if (IsCreationTime(series)) {
    writer().Ignore();
    return nullptr;
  }
  const SlotValue sample{writer().cache().FindOnly(series), number.value};
  if (writer().AddRow(line(), time, {&sample, 1})) {
    writer().CountRounded(number.rounded ? 1 : 0);
    if (has_exemplar) {
      writer().Ignore();
    }
  }
  return nullptr;
}

const char* ExpositionImporter::TakeExemplar(std::string_view text) {
  const std::string_view whole = text;
  text = TrimLeft(text.substr(1));
  const std::size_t braces = text.starts_with('{') ? BracesBytes(text) : std::string_view::npos;
  if (braces == std::string_view::npos) {
    return Fail("exemplar without labels in braces", whole);
  }
  // An exemplar has no name of its own; a stand-in lets its labels be checked like others.
  if (!ParseExpositionSeries("exemplar" + std::string(text.substr(0, braces))).ok()) {
    return Fail("exemplar with malformed labels", whole);
  }
  text = TrimLeft(text.substr(braces));
  ParsedNumber number;
  if (ParseValue(TakeWord(&text), &number) != nullptr) {
    return Fail("exemplar without a number", whole);
  }
  Timestamp time = 0;
  if (!text.empty() && ParseTimestamp(text, &time) != nullptr) {
    return Fail("exemplar with a malformed time", whole);
  }
  return nullptr;
}

Result<Labels> ExpositionImporter::BuildLabels(std::string_view prefix, std::string_view /*field*/) {
  TSDB_ASSIGN_OR_RETURN(std::vector<Label> labels, ParseExpositionSeries(prefix));
  return WithExtraLabels(std::move(labels), options().extra_labels);
}

void ExpositionImporter::AtEnd() {
  if (open_metrics_ && !end_seen_) {
    writer().RejectLine(line(), "no '# EOF' at the end: the text may be cut off");
  }
}

}  // namespace tsdb::ingest
