// Exporter of line protocol: one line a sample, times in nanoseconds (the format's default, so that no unit has to be
// named to read it back).
//
// A metric `cpu_usage_idle` becomes measurement `cpu_usage`, field `idle`: Importer joins the two again. A name that
// cannot be split so that the parts join to it travels in the tag `__name__`, with the field `value`.
//
// Thread safety: none.
#pragma once

#include <string>

#include "ingest/exporter_base.h"
#include "ingest/time_scale.h"

namespace tsdb::ingest {

class InfluxExporter final : public ExporterBase {
 public:
  explicit InfluxExporter(TimeUnit unit) : ExporterBase(unit), scale_(unit, TimeUnit::kNanoseconds) {}

 protected:
  Status BeginLabels(const Labels& labels, std::string* out) override;
  void WriteSamples(std::span<const Timestamp> times, std::span<const double> values, std::string* out) override;

 private:
  TimeScale scale_;
  std::string prefix_;  // measurement, tags, field and '='
};

}  // namespace tsdb::ingest
