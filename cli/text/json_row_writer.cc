// JSON rows: one object per series, `{"key":…,"labels":{…},"samples":[[t,v],…]}`; aggregated rows add
// `"columns":[…]` before the samples and have one value per column.
#include "cli/text/escape.h"
#include "cli/text/numbers.h"
#include "cli/text/row_writer.h"

namespace tsdb::cli {
namespace {

class JsonRowWriter final : public RowWriter {
 public:
  JsonRowWriter(RowLayout layout, bool lines) : layout_(std::move(layout)), lines_(lines) {}

  void Begin(std::string* out) override {
    if (!lines_) {
      *out += '[';
    }
  }

  void BeginSeries(const SeriesInfo& series, std::string* out) override {
    if (!lines_) {
      *out += first_series_ ? "\n" : ",\n";
    }
    first_series_ = false;
    first_row_ = true;
    *out += '{';
    AppendJsonSeriesName(series, out);
    if (!layout_.columns.empty()) {
      *out += ",\"columns\":[";
      for (std::size_t i = 0; i < layout_.columns.size(); ++i) {
        *out += i == 0 ? "" : ",";
        AppendJsonString(layout_.columns[i], out);
      }
      *out += ']';
    }
    *out += ",\"samples\":[";
  }

  void Rows(const ColumnBatch& batch, std::string* out) override {
    for (std::size_t row = 0; row < batch.times.size(); ++row) {
      *out += first_row_ ? "[" : ",[";
      first_row_ = false;
      AppendInteger(batch.times[row], out);
      for (const auto& column : batch.columns) {
        *out += ',';
        AppendJsonNumber(column[row], out);
      }
      *out += ']';
    }
  }

  void EndSeries(std::string* out) override { *out += lines_ ? "]}\n" : "]}"; }

  void End(std::string* out) override {
    if (!lines_) {
      *out += first_series_ ? "]\n" : "\n]\n";
    }
  }

 private:
  const RowLayout layout_;
  const bool lines_;
  bool first_series_ = true;
  bool first_row_ = true;
};

}  // namespace

void AppendJsonSeriesName(const SeriesInfo& series, std::string* out) {
  *out += "\"key\":";
  AppendJsonString(series.key, out);
  *out += ",\"labels\":{";
  bool first = true;
  for (const Label& label : series.labels.pairs()) {
    *out += first ? "" : ",";
    first = false;
    AppendJsonString(label.name, out);
    *out += ':';
    AppendJsonString(label.value, out);
  }
  *out += '}';
}

std::unique_ptr<RowWriter> MakeJsonRowWriter(RowLayout layout, bool lines) {
  return std::make_unique<JsonRowWriter>(std::move(layout), lines);
}

}  // namespace tsdb::cli
