// RowWriter: rows of a query as text, one series after the other, in one of the output formats. Streams: what it holds
// does not grow with the number of rows. A chart is written at the end, the others as the rows come.
//
//   Begin · (BeginSeries · Rows* · EndSeries)* · End
//
// Thread safety: none; one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/plot/chart.h"
#include "tsdb/query.h"
#include "tsdb/result.h"
#include "tsdb/types.h"

namespace tsdb::cli {

enum class RowFormat : std::uint8_t { kTable, kCsv, kJson, kJsonLines, kPlot };
/// "table", "csv", "json", "jsonl", "plot".
Result<RowFormat> ParseRowFormat(std::string_view text);

/// Only for kPlot.
struct PlotLayout {
  ChartStyle style;
  /// Ends of the time axis; empty (from > to): those of the rows.
  TimeRange range{kTimestampMax, kTimestampMin};
  /// Rows further apart are not connected; 0: all are.
  std::uint64_t gap_after = 0;
};

struct RowLayout {
  TimeUnit unit = TimeUnit::kMilliseconds;
  /// Names of the value columns; empty for raw samples (one column).
  std::vector<std::string> columns;
  bool color = false;
  /// The only result is a join: its columns name the series, itself it has no name.
  bool joined = false;
  PlotLayout plot;
};

class RowWriter {
 public:
  static std::unique_ptr<RowWriter> Create(RowFormat format, RowLayout layout);
  virtual ~RowWriter() = default;

  virtual void Begin(std::string* out) = 0;
  virtual void BeginSeries(const SeriesInfo& series, std::string* out) = 0;
  /// Appends one line, or one element, per row; `batch` has as many columns as the layout.
  virtual void Rows(const ColumnBatch& batch, std::string* out) = 0;
  virtual void EndSeries(std::string* out) = 0;
  virtual void End(std::string* out) = 0;
};

/// `"key":…,"labels":{…}`, the part of a JSON object that names a series.
void AppendJsonSeriesName(const SeriesInfo& series, std::string* out);

// One per file; Create() picks.
std::unique_ptr<RowWriter> MakeTableRowWriter(RowLayout layout);
std::unique_ptr<RowWriter> MakeCsvRowWriter(RowLayout layout);
/// With `lines` one object per line, else one array of objects.
std::unique_ptr<RowWriter> MakeJsonRowWriter(RowLayout layout, bool lines);
std::unique_ptr<RowWriter> MakePlotRowWriter(RowLayout layout);

}  // namespace tsdb::cli
