// ExporterBase: what the exporters share: labels of a series as text can carry them, counting, and messages.
//
// Thread safety: none.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tsdb/ingest.h"

namespace tsdb::ingest {

class ExporterBase : public Exporter {
 public:
  explicit ExporterBase(TimeUnit unit) : unit_(unit) {}

  void Begin(std::string* /*out*/) override {}
  Status BeginSeries(const SeriesInfo& series, std::string* out) final;
  void Samples(std::span<const Timestamp> times, std::span<const double> values, std::string* out) final;
  void EndSeries(std::string* /*out*/) override {}
  void End(std::string* /*out*/) override {}
  const ExportSummary& summary() const final { return summary_; }

 protected:
  /// Keeps what it needs of the labels; kInvalidArgument when the format cannot carry them.
  virtual Status BeginLabels(const Labels& labels, std::string* out) = 0;
  /// Writes the samples of the series begun last; those it cannot carry go to SkipSample.
  virtual void WriteSamples(std::span<const Timestamp> times, std::span<const double> values, std::string* out) = 0;

  void SkipSample(std::string_view reason);
  TimeUnit unit() const { return unit_; }

 private:
  void Report(std::string message);

  const TimeUnit unit_;
  ExportSummary summary_;
  std::string key_;  // of the series begun last
  bool series_open_ = false;
  bool skip_reported_ = false;  // of this series
};

/// The label set a series has in text: its own, or for a series created by key its labels with the key as the metric.
/// kInvalidArgument: a series by key that has a label __name__, or nothing to name it by.
Result<Labels> ExportLabels(const SeriesInfo& series);

void AppendInteger(std::int64_t value, std::string* out);

}  // namespace tsdb::ingest
