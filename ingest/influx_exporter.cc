#include "ingest/influx_exporter.h"

#include <cmath>

#include "ingest/influx_text.h"
#include "ingest/text_util.h"

namespace tsdb::ingest {
namespace {

void AppendEscaped(std::string_view text, std::string_view special, std::string* out) {
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) {
      *out += '\\';
    }
    *out += c;
  }
}

/// Null, or why `text` cannot stand as a name or tag value.
const char* WhyNotCarried(std::string_view text) {
  if (text.find('\n') != std::string_view::npos) {
    return "line protocol cannot carry a line end in";
  }
  if (text.ends_with('\\')) {
    return "line protocol cannot carry a backslash at the end of";
  }
  return nullptr;
}

bool CanBeMeasurement(std::string_view text) {
  return !text.empty() && WhyNotCarried(text) == nullptr && !IsBlank(text.front()) && text.front() != '#' &&
         !text.starts_with("\xef\xbb\xbf");
}

Status NotCarried(const char* reason, std::string_view what, std::string_view text) {
  return Status::InvalidArgument(std::string(reason) + " " + std::string(what) + " " + QuoteForMessage(text));
}

}  // namespace

Status InfluxExporter::BeginLabels(const Labels& labels, std::string* /*out*/) {
  const std::string_view metric = labels.Get(kMetricLabel);
  if (metric.empty()) {
    return Status::InvalidArgument("line protocol cannot carry a series without a metric name");
  }
  const std::size_t split = metric.rfind('_');
  const std::string_view measurement = metric.substr(0, split == std::string_view::npos ? 0 : split);
  const std::string_view field = split == std::string_view::npos ? std::string_view() : metric.substr(split + 1);
  const bool splits = CanBeMeasurement(measurement) && !field.empty() && WhyNotCarried(field) == nullptr;
  prefix_.clear();
  if (splits) {
    AppendEscaped(measurement, kMeasurementSpecial, &prefix_);
  } else if (const char* reason = WhyNotCarried(metric); reason != nullptr) {
    return NotCarried(reason, "the metric", metric);
  } else {
    AppendEscaped(CanBeMeasurement(metric) ? metric : "metric", kMeasurementSpecial, &prefix_);
  }
  for (const Label& label : labels.pairs()) {
    if (label.name == kMetricLabel && splits) {
      continue;
    }
    if (const char* reason = WhyNotCarried(label.name); reason != nullptr) {
      return NotCarried(reason, "the label name", label.name);
    }
    if (const char* reason = WhyNotCarried(label.value); reason != nullptr) {
      return NotCarried(reason, "the label " + label.name + "=", label.value);
    }
    prefix_ += ',';
    AppendEscaped(label.name, kTagSpecial, &prefix_);
    prefix_ += '=';
    AppendEscaped(label.value, kTagSpecial, &prefix_);
  }
  prefix_ += ' ';
  AppendEscaped(splits ? field : "value", kTagSpecial, &prefix_);
  prefix_ += '=';
  return {};
}

void InfluxExporter::WriteSamples(std::span<const Timestamp> times, std::span<const double> values, std::string* out) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    Timestamp nanoseconds = 0;
    if (!std::isfinite(values[i])) {
      SkipSample("line protocol has no NaN and no infinity");
      continue;
    }
    if (!scale_.Convert(times[i], &nanoseconds)) {
      SkipSample("time outside the years 1677 to 2262, which nanoseconds reach");
      continue;
    }
    *out += prefix_;
    AppendDouble(values[i], out);
    *out += ' ';
    AppendInteger(nanoseconds, out);
    *out += '\n';
  }
}

}  // namespace tsdb::ingest
