// Importer of CSV (RFC 4180), with columns named by CsvOptions or by the header our own export writes.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/csv_record.h"
#include "ingest/line_importer.h"

namespace tsdb::ingest {

class CsvImporter final : public LineImporter {
 public:
  /// kInvalidArgument: options that do not go together.
  static Status Check(const ImportOptions& options);
  CsvImporter(const ImportOptions& options, BatchSink sink);

 protected:
  std::size_t TakeRecord(std::string_view text, bool at_end) override;
  Result<Labels> BuildLabels(std::string_view prefix, std::string_view field) override;

 private:
  struct Column {
    std::size_t index = 0;
    std::string name;
  };

  /// From the header, or from the first line when there is none.
  Status FindColumns();
  Result<Column> FindColumn(const std::string& wanted) const;
  std::string ShownHeader() const;
  void TakeRow();

  TimeUnit unit_;
  CsvRecord record_;
  bool columns_known_ = false;
  std::size_t column_count_ = 0;
  Column time_;
  std::vector<Column> values_;
  std::vector<Column> labels_;
  bool has_series_column_ = false;  // labels_[0] holds canonical text of a whole label set
  std::string prefix_;              // scratch: the label cells, each with its length in front
  std::vector<SlotValue> row_;
};

}  // namespace tsdb::ingest
