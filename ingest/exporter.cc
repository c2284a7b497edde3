// The exporters of OpenMetrics, CSV and JSON lines, and the choice of one.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "ingest/decimal_time.h"
#include "ingest/exporter_base.h"
#include "ingest/influx_exporter.h"
#include "ingest/number.h"
#include "ingest/text_util.h"
#include "tsdb/ingest.h"

namespace tsdb::ingest {
namespace {

Status CheckUtf8(const Labels& labels) {
  for (const Label& label : labels.pairs()) {
    for (const std::string& text : {label.name, label.value}) {
      if (!IsValidUtf8(text)) {
        return Status::InvalidArgument("the format carries UTF-8 only, not the label " + QuoteForMessage(text));
      }
    }
  }
  return {};
}

/// `# TYPE name unknown` before the series of a metric, and `name{a="b"} 1.5 1700000000.123`. The type is unknown: the
/// database does not keep one. A metric whose series do not come together gets the line more than once.
class OpenMetricsExporter final : public ExporterBase {
 public:
  using ExporterBase::ExporterBase;
  void End(std::string* out) override { *out += "# EOF\n"; }

 protected:
  Status BeginLabels(const Labels& labels, std::string* out) override {
    const std::string_view metric = labels.Get(kMetricLabel);
    if (metric.empty()) {
      return Status::InvalidArgument("OpenMetrics cannot carry a series without a metric name");
    }
    TSDB_RETURN_IF_ERROR(CheckUtf8(labels));
    if (metric != family_) {
      family_ = metric;
      *out += "# TYPE " + FamilyText(metric) + " unknown\n";
    }
    prefix_ = labels.CanonicalKey() + ' ';
    return {};
  }
  void WriteSamples(std::span<const Timestamp> times, std::span<const double> values, std::string* out) override {
    for (std::size_t i = 0; i < times.size(); ++i) {
      *out += prefix_;
      AppendValue(values[i], out);
      *out += ' ';
      AppendSeconds(times[i], unit(), out);
      *out += '\n';
    }
  }

 private:
  /// The name, in quotes where the format wants them.
  static std::string FamilyText(std::string_view metric) {
    const Result<Labels> labels = Labels::FromPairs({{std::string(kMetricLabel), std::string(metric)}});
    const std::string key = labels.ok() ? labels->CanonicalKey() : std::string(metric);
    return key.starts_with("{") ? key.substr(1, key.size() - 2) : key;
  }

  std::string family_;
  std::string prefix_;
};

/// `series,time,value`, the series as canonical text, times in the database's unit.
class CsvExporter final : public ExporterBase {
 public:
  using ExporterBase::ExporterBase;
  void Begin(std::string* out) override { *out += "series,time,value\n"; }

 protected:
  Status BeginLabels(const Labels& labels, std::string* /*out*/) override {
    const std::string key = labels.CanonicalKey();
    prefix_.clear();
    if (key.find_first_of(",\"\r\n") == std::string::npos) {
      prefix_ = key;
    } else {
      prefix_ += '"';
      for (const char c : key) {
        prefix_.append(c == '"' ? 2 : 1, c);
      }
      prefix_ += '"';
    }
    prefix_ += ',';
    return {};
  }
  void WriteSamples(std::span<const Timestamp> times, std::span<const double> values, std::string* out) override {
    for (std::size_t i = 0; i < times.size(); ++i) {
      *out += prefix_;
      AppendInteger(times[i], out);
      *out += ',';
      AppendValue(values[i], out);
      *out += '\n';
    }
  }

 private:
  std::string prefix_;
};

void AppendJsonString(std::string_view text, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  *out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (c == '\n') {
      *out += "\\n";
    } else if (byte < 0x20) {
      *out += "\\u00";
      *out += kHex[byte >> 4];
      *out += kHex[byte & 15];
    } else {
      *out += c;
    }
  }
  *out += '"';
}

/// `{"metric":{...},"timestamps":[...],"values":[...]}`; a long series takes several lines.
class JsonExporter final : public ExporterBase {
 public:
  using ExporterBase::ExporterBase;

 protected:
  Status BeginLabels(const Labels& labels, std::string* /*out*/) override {
    TSDB_RETURN_IF_ERROR(CheckUtf8(labels));
    prefix_ = "{\"metric\":{";
    for (const Label& label : labels.pairs()) {
      prefix_ += prefix_.back() == '{' ? "" : ",";
      AppendJsonString(label.name, &prefix_);
      prefix_ += ':';
      AppendJsonString(label.value, &prefix_);
    }
    prefix_ += "},\"timestamps\":[";
    return {};
  }
  void WriteSamples(std::span<const Timestamp> times, std::span<const double> values, std::string* out) override {
    constexpr std::size_t kLineSamplesMax = 10'000;
    while (!times.empty()) {
      const std::size_t n = std::min(times.size(), kLineSamplesMax);
      WriteLine(times.first(n), values.first(n), out);
      times = times.subspan(n);
      values = values.subspan(n);
    }
  }

 private:
  void WriteLine(std::span<const Timestamp> times, std::span<const double> values, std::string* out) const {
    *out += prefix_;
    for (std::size_t i = 0; i < times.size(); ++i) {
      *out += i == 0 ? "" : ",";
      AppendInteger(times[i], out);
    }
    *out += "],\"values\":[";
    for (std::size_t i = 0; i < values.size(); ++i) {
      *out += i == 0 ? "" : ",";
      const bool quoted = !std::isfinite(values[i]);
      *out += quoted ? "\"" : "";
      AppendValue(values[i], out);
      *out += quoted ? "\"" : "";
    }
    *out += "]}\n";
  }

  std::string prefix_;
};

}  // namespace
}  // namespace tsdb::ingest

namespace tsdb {

Result<std::unique_ptr<Exporter>> Exporter::Create(TextFormat format, TimeUnit unit) {
  switch (format) {
    case TextFormat::kInflux:
      return std::unique_ptr<Exporter>(std::make_unique<ingest::InfluxExporter>(unit));
    case TextFormat::kOpenMetrics:
      return std::unique_ptr<Exporter>(std::make_unique<ingest::OpenMetricsExporter>(unit));
    case TextFormat::kCsv:
      return std::unique_ptr<Exporter>(std::make_unique<ingest::CsvExporter>(unit));
    case TextFormat::kJsonLines:
      return std::unique_ptr<Exporter>(std::make_unique<ingest::JsonExporter>(unit));
    case TextFormat::kAuto:
    case TextFormat::kPrometheus:
      break;
  }
  return Status::InvalidArgument("no export as " + std::string(TextFormatName(format)) +
                                 ": use influx, openmetrics, csv or jsonl");
}

}  // namespace tsdb
