#include "ingest/exporter_base.h"

#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "ingest/sample_writer.h"
#include "ingest/text_util.h"

namespace tsdb::ingest {

Result<Labels> ExportLabels(const SeriesInfo& series) {
  if (!series.created_by_key) {
    if (series.labels.empty()) {
      return Status::InvalidArgument("a series without labels has no name in text");
    }
    return series.labels;
  }
  if (!series.labels.Get(kMetricLabel).empty()) {
    return Status::InvalidArgument(
        "a series created by key cannot have the label __name__ in text, which holds its key");
  }
  if (series.key.empty()) {
    return Status::InvalidArgument("an empty key cannot name a metric");
  }
  std::vector<Label> labels = series.labels.pairs();
  labels.push_back({std::string(kMetricLabel), series.key});
  return Labels::FromPairs(std::move(labels));
}

void AppendInteger(std::int64_t value, std::string* out) {
  std::array<char, 24> text;
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
  out->append(text.data(), written.ptr);
}

Status ExporterBase::BeginSeries(const SeriesInfo& series, std::string* out) {
  key_ = QuoteForMessage(series.key);
  skip_reported_ = false;
  series_open_ = false;
  Result<Labels> labels = ExportLabels(series);
  Status status = labels.ok() ? BeginLabels(*labels, out) : labels.status();
  if (!status.ok()) {
    ++summary_.skipped_series;
    status = status.WithContext(key_);
    Report(std::string(status.message()));
    return status;
  }
  ++summary_.series;
  series_open_ = true;
  return {};
}

void ExporterBase::Samples(std::span<const Timestamp> times, std::span<const double> values, std::string* out) {
  if (!series_open_ || times.empty()) {
    return;
  }
  const std::uint64_t skipped_before = summary_.skipped_samples;
  WriteSamples(times, values, out);
  summary_.samples += times.size() - (summary_.skipped_samples - skipped_before);
}

void ExporterBase::SkipSample(std::string_view reason) {
  ++summary_.skipped_samples;
  if (!skip_reported_) {
    skip_reported_ = true;
    Report(key_ + ": " + std::string(reason));
  }
}

void ExporterBase::Report(std::string message) {
  if (summary_.errors.size() < SampleWriter::kErrorsShownMax) {
    summary_.errors.push_back(std::move(message));
  }
}

}  // namespace tsdb::ingest
