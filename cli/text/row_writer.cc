#include "cli/text/row_writer.h"

namespace tsdb::cli {

Result<RowFormat> ParseRowFormat(std::string_view text) {
  if (text == "table") return RowFormat::kTable;
  if (text == "csv") return RowFormat::kCsv;
  if (text == "json") return RowFormat::kJson;
  if (text == "jsonl") return RowFormat::kJsonLines;
  if (text == "plot") return RowFormat::kPlot;
  return Status::InvalidArgument("'" + std::string(text) +
                                 "' is not an output format: use table, csv, json, jsonl or plot");
}

std::unique_ptr<RowWriter> RowWriter::Create(RowFormat format, RowLayout layout) {
  switch (format) {
    case RowFormat::kTable: return MakeTableRowWriter(std::move(layout));
    case RowFormat::kCsv: return MakeCsvRowWriter(std::move(layout));
    case RowFormat::kJson: return MakeJsonRowWriter(std::move(layout), false);
    case RowFormat::kPlot: return MakePlotRowWriter(std::move(layout));
    case RowFormat::kJsonLines: break;
  }
  return MakeJsonRowWriter(std::move(layout), true);
}

}  // namespace tsdb::cli
