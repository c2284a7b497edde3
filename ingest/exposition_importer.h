// Importer of the two exposition formats: Prometheus text (times in milliseconds) and OpenMetrics (times in seconds, an
// end mark, exemplars).
//
// Thread safety: none.
#pragma once

#include <string>
#include <string_view>

#include "ingest/line_importer.h"
#include "ingest/time_scale.h"

namespace tsdb::ingest {

class ExpositionImporter final : public LineImporter {
 public:
  /// `options.format` is kPrometheus or kOpenMetrics.
  ExpositionImporter(const ImportOptions& options, BatchSink sink);

 protected:
  std::size_t TakeRecord(std::string_view text, bool at_end) override;
  Result<Labels> BuildLabels(std::string_view prefix, std::string_view field) override;
  void AtEnd() override;

 private:
  /// Null, or why the line is refused; fail_text_ is what was wrong.
  const char* TakeLine(std::string_view text);
  void TakeComment(std::string_view text);
  const char* TakeSample(std::string_view text);
  const char* TakeExemplar(std::string_view text);
  const char* ParseTimestamp(std::string_view text, Timestamp* time) const;
  const char* Fail(const char* reason, std::string_view text) {
    fail_text_ = text;
    return reason;
  }
  /// True for `<family>_created` of a family whose type has a creation time.
  bool IsCreationTime(std::string_view series) const;

  const bool open_metrics_;
  TimeScale scale_;
  std::string created_name_;  // of the current family, empty when it has none
  bool end_seen_ = false;
  std::string_view fail_text_;
};

/// Metric name and labels as `name{a="b"}` or `{"name",a="b"}`. kInvalidArgument says what is wrong.
Result<std::vector<Label>> ParseExpositionSeries(std::string_view text);

}  // namespace tsdb::ingest
