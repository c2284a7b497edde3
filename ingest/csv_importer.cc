#include "ingest/csv_importer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "ingest/decimal_time.h"
#include "ingest/number.h"
#include "ingest/text_util.h"

namespace tsdb::ingest {
namespace {

std::string_view Trimmed(std::string_view cell) { return TrimRight(TrimLeft(cell)); }

bool NoColumnsNamed(const CsvOptions& csv) {
  return csv.time_column.empty() && csv.value_columns.empty() && csv.label_columns.empty();
}

void AppendWithLength(std::string_view cell, std::string* out) {
  const auto size = static_cast<std::uint32_t>(cell.size());
  char bytes[sizeof(size)];
  std::memcpy(bytes, &size, sizeof(size));
  out->append(bytes, sizeof(size));
  out->append(cell);
}

std::string_view TakeWithLength(std::string_view* text) {
  std::uint32_t size = 0;
  std::memcpy(&size, text->data(), sizeof(size));
  const std::string_view cell = text->substr(sizeof(size), size);
  text->remove_prefix(sizeof(size) + size);
  return cell;
}

}  // namespace

Status CsvImporter::Check(const ImportOptions& options) {
  const CsvOptions& csv = options.csv;
  if (!csv.no_header) {
    return {};
  }
  if (csv.time_column.empty() || csv.value_columns.empty()) {
    return Status::InvalidArgument("CSV without a header needs the numbers of its time and value columns");
  }
  const bool named = !options.metric.empty() || std::find(csv.label_columns.begin(), csv.label_columns.end(),
                                                          kMetricLabel) != csv.label_columns.end();
  if (!named) {
    return Status::InvalidArgument("CSV without a header needs a metric name");
  }
  std::vector<std::string> wanted = csv.value_columns;
  wanted.insert(wanted.end(), csv.label_columns.begin(), csv.label_columns.end());
  wanted.push_back(csv.time_column);
  for (const std::string& column : wanted) {
    std::uint64_t number = 0;
    if (ParseUint64(column, &number) != nullptr || number == 0 || number > 100'000) {
      return Status::InvalidArgument("CSV without a header names its columns by number from 1, not " +
                                     QuoteForMessage(column));
    }
  }
  return {};
}

CsvImporter::CsvImporter(const ImportOptions& options, BatchSink sink)
    : LineImporter(options, std::move(sink)), unit_(options.has_unit ? options.unit : options.database_unit) {}

std::size_t CsvImporter::TakeRecord(std::string_view text, bool at_end) {
  switch (record_.Parse(text, at_end)) {
    case CsvRecord::Outcome::kMore:
      return 0;
    case CsvRecord::Outcome::kMalformed: {
      const std::size_t newline = text.find('\n');
      const std::string_view first_line = text.substr(0, newline);
      writer().RejectLine(line(), record_.error(), TrimRight(first_line));
      return newline == std::string_view::npos ? text.size() : newline + 1;
    }
    case CsvRecord::Outcome::kWhole:
      break;
  }
  const bool blank = record_.cells().size() == 1 && Trimmed(record_.cells().front()).empty();
  if (blank) {
    return record_.bytes();
  }
  bool is_header = false;
  if (!columns_known_) {
    if (Status found = FindColumns(); !found.ok()) {
      writer().End(found.WithContext(options().source + ":" + std::to_string(line())));
      return record_.bytes();
    }
    columns_known_ = true;
    is_header = !options().csv.no_header;
  }
  if (!is_header) {
    TakeRow();
  }
  return record_.bytes();
}

std::string CsvImporter::ShownHeader() const {
  std::string names;
  for (const std::string_view cell : record_.cells()) {
    names += (names.empty() ? "" : ", ") + QuoteForMessage(Trimmed(cell));
    if (names.size() > 200) {
      return names + ", …";
    }
  }
  return names;
}

Result<CsvImporter::Column> CsvImporter::FindColumn(const std::string& wanted) const {
  const std::vector<std::string_view>& cells = record_.cells();
  if (options().csv.no_header) {
    std::uint64_t number = 0;
    if (ParseUint64(wanted, &number) != nullptr || number == 0 || number > cells.size()) {
      return Status::InvalidArgument("no column " + wanted + ": the first line has " + std::to_string(cells.size()));
    }
    return Column{static_cast<std::size_t>(number - 1), wanted};
  }
  const auto is_wanted = [&](std::string_view cell) { return Trimmed(cell) == wanted; };
  const auto found = std::find_if(cells.begin(), cells.end(), is_wanted);
  if (found == cells.end()) {
    return Status::InvalidArgument("no column " + QuoteForMessage(wanted) + ": the header has " + ShownHeader());
  }
  if (std::find_if(found + 1, cells.end(), is_wanted) != cells.end()) {
    return Status::InvalidArgument("column " + QuoteForMessage(wanted) + " stands twice in the header");
  }
  return Column{static_cast<std::size_t>(found - cells.begin()), wanted};
}

Status CsvImporter::FindColumns() {
  column_count_ = record_.cells().size();
  CsvOptions csv = options().csv;
  const auto has = [&](const char* name) { return FindColumn(name).ok(); };
  if (NoColumnsNamed(csv)) {
    has_series_column_ = column_count_ == 3 && has("series") && has("time") && has("value");
    if (has_series_column_) {
      csv.label_columns = {"series"};
    } else if (column_count_ != 2 || !has("value") || !(has("time") || has("timestamp"))) {
      // Guessing would merge series that differ in a column nobody named.
      return Status::InvalidArgument("name the time, value and label columns (--csv-time, --csv-value, --csv-labels): "
                                     "the header has " + ShownHeader());
    }
  }
  if (csv.time_column.empty()) {
    csv.time_column = has("time") || !has("timestamp") ? "time" : "timestamp";
  }
  if (csv.value_columns.empty()) {
    csv.value_columns = {"value"};
  }
  TSDB_ASSIGN_OR_RETURN(time_, FindColumn(csv.time_column));
  for (const std::string& name : csv.value_columns) {
    TSDB_ASSIGN_OR_RETURN(Column column, FindColumn(name));
    values_.push_back(std::move(column));
  }
  for (const std::string& name : csv.label_columns) {
    TSDB_ASSIGN_OR_RETURN(Column column, FindColumn(name));
    labels_.push_back(std::move(column));
  }
  return {};
}

void CsvImporter::TakeRow() {
  const std::vector<std::string_view>& cells = record_.cells();
  if (cells.size() != column_count_) {
    writer().RejectLine(line(), "expected " + std::to_string(column_count_) + " cells, found " +
                                    std::to_string(cells.size()));
    return;
  }
  prefix_.clear();
  for (const Column& column : labels_) {
    AppendWithLength(cells[column.index], &prefix_);
  }
  const std::uint32_t prefix = writer().cache().FindPrefix(prefix_);
  row_.clear();
  std::uint64_t rounded = 0;
  for (std::uint32_t i = 0; i < values_.size(); ++i) {
    const std::string_view cell = Trimmed(cells[values_[i].index]);
    if (cell.empty()) {
      continue;
    }
    ParsedNumber number;
    if (const char* reason = ParseValue(cell, &number); reason != nullptr) {
      writer().RejectLine(line(), reason, cell);
      return;
    }
    rounded += number.rounded ? 1 : 0;
    char index[sizeof(i)];
    std::memcpy(index, &i, sizeof(i));
    row_.push_back({writer().cache().FindField(prefix, {index, sizeof(index)}), number.value});
  }
  if (row_.empty()) {
    return;
  }
  const std::string_view time_cell = Trimmed(cells[time_.index]);
  Timestamp time = 0;
  if (time_cell.empty()) {
    writer().RejectLine(line(), "no time");
    return;
  }
  if (const char* reason = ParseTimeCell(time_cell, unit_, options().database_unit, &time); reason != nullptr) {
    writer().RejectLine(line(), reason, time_cell);
    return;
  }
  if (writer().AddRow(line(), time, row_)) {
    writer().CountRounded(rounded);
  }
}

Result<Labels> CsvImporter::BuildLabels(std::string_view prefix, std::string_view field) {
  if (has_series_column_) {
    TSDB_ASSIGN_OR_RETURN(const Labels labels, Labels::Parse(TakeWithLength(&prefix)));
    if (labels.empty()) {
      return Status::InvalidArgument("no labels in the column \"series\"");
    }
    return WithExtraLabels(labels.pairs(), options().extra_labels);
  }
  std::vector<Label> labels;
  std::string metric = options().metric;
  for (const Column& column : labels_) {
    const std::string_view cell = TakeWithLength(&prefix);
    if (column.name == kMetricLabel) {
      metric = cell.empty() ? metric : std::string(cell);
    } else {
      labels.push_back({column.name, std::string(cell)});
    }
  }
  std::uint32_t i = 0;
  std::memcpy(&i, field.data(), sizeof(i));
  const std::string& column = values_[i].name;
  if (metric.empty()) {
    metric = column;
  } else if (values_.size() > 1) {
    metric += "_" + column;
  }
  labels.push_back({std::string(kMetricLabel), std::move(metric)});
  return WithExtraLabels(std::move(labels), options().extra_labels);
}

}  // namespace tsdb::ingest
