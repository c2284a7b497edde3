// CSV rows: `key,time,value…` with one header line, of a join `time,value…`; times are integers in the database's unit.
#include "cli/text/escape.h"
#include "cli/text/numbers.h"
#include "cli/text/row_writer.h"
#include "tsdb/ingest.h"

namespace tsdb::cli {
namespace {

class CsvRowWriter final : public RowWriter {
 public:
  explicit CsvRowWriter(RowLayout layout) : layout_(std::move(layout)) {}

  void Begin(std::string* out) override {
    *out += layout_.joined ? "time" : "key,time";
    if (layout_.columns.empty()) {
      *out += ",value";
    }
    for (const std::string& column : layout_.columns) {
      *out += ',';
      AppendCsvField(column, out);
    }
    *out += '\n';
  }

  void BeginSeries(const SeriesInfo& series, std::string* /*out*/) override {
    prefix_.clear();
    if (!layout_.joined) {
      AppendCsvField(series.key, &prefix_);
      prefix_ += ',';
    }
  }

  void Rows(const ColumnBatch& batch, std::string* out) override {
    for (std::size_t row = 0; row < batch.times.size(); ++row) {
      *out += prefix_;
      AppendInteger(batch.times[row], out);
      for (const auto& column : batch.columns) {
        *out += ',';
        AppendDouble(column[row], out);
      }
      *out += '\n';
    }
  }

  void EndSeries(std::string* /*out*/) override {}
  void End(std::string* /*out*/) override {}

 private:
  const RowLayout layout_;
  std::string prefix_;  // the key of the current series, quoted, and a comma
};

}  // namespace

std::unique_ptr<RowWriter> MakeCsvRowWriter(RowLayout layout) {
  return std::make_unique<CsvRowWriter>(std::move(layout));
}

}  // namespace tsdb::cli
