// Rows for people: each series under its key, times as RFC 3339, values aligned at their right end. Widths are taken
// batch by batch and only grow, so that a long series streams.
#include <algorithm>

#include "cli/text/escape.h"
#include "cli/text/row_writer.h"
#include "tsdb/ingest.h"
#include "tsdb/time_text.h"

namespace tsdb::cli {
namespace {

class TableRowWriter final : public RowWriter {
 public:
  explicit TableRowWriter(RowLayout layout) : layout_(std::move(layout)) {
    for (const std::string& column : layout_.columns) {
      titles_.push_back(Printable(column));
    }
    if (titles_.empty()) {
      titles_.emplace_back("value");
    }
  }

  void Begin(std::string* /*out*/) override {}

  void BeginSeries(const SeriesInfo& series, std::string* out) override {
    if (!first_series_) {
      *out += '\n';
    }
    first_series_ = false;
    titles_shown_ = false;
    if (!layout_.joined) {
      *out += layout_.color ? "\x1b[1m" : "";
      AppendPrintable(series.key.empty() ? "all series" : series.key, out);
      *out += layout_.color ? "\x1b[0m\n" : "\n";
    }
    time_width_ = 0;
    widths_.assign(titles_.size(), 0);
  }

  void Rows(const ColumnBatch& batch, std::string* out) override {
    const std::size_t rows = batch.times.size();
    const std::size_t columns = batch.columns.size();
    times_.resize(rows);
    cells_.resize(rows * columns);
    for (std::size_t row = 0; row < rows; ++row) {
      times_[row] = FormatTime(batch.times[row], layout_.unit);
      time_width_ = std::max(time_width_, times_[row].size());
      for (std::size_t column = 0; column < columns; ++column) {
        std::string& cell = cells_[row * columns + column];
        cell.clear();
        AppendDouble(batch.columns[column][row], &cell);
        widths_[column] = std::max(widths_[column], std::max(cell.size(), DisplayWidth(titles_[column])));
      }
    }
    if (!titles_shown_) {
      titles_shown_ = true;
      AppendLine("time", titles_.data(), columns, out);
    }
    for (std::size_t row = 0; row < rows; ++row) {
      AppendLine(times_[row], &cells_[row * columns], columns, out);
    }
  }

  void EndSeries(std::string* /*out*/) override {}
  void End(std::string* /*out*/) override {}

 private:
  void AppendLine(std::string_view time, const std::string* cells, std::size_t columns, std::string* out) const {
    *out += "  ";
    *out += time;
    out->append(time_width_ - std::min(time_width_, time.size()), ' ');
    for (std::size_t column = 0; column < columns; ++column) {
      out->append(2 + widths_[column] - DisplayWidth(cells[column]), ' ');
      *out += cells[column];
    }
    *out += '\n';
  }

  const RowLayout layout_;
  std::vector<std::string> titles_;
  bool first_series_ = true;
  bool titles_shown_ = false;
  std::size_t time_width_ = 0;
  std::vector<std::size_t> widths_;
  // Kept between batches for their memory.
  std::vector<std::string> times_;
  std::vector<std::string> cells_;
};

}  // namespace

std::unique_ptr<RowWriter> MakeTableRowWriter(RowLayout layout) {
  return std::make_unique<TableRowWriter>(std::move(layout));
}

}  // namespace tsdb::cli
