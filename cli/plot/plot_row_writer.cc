// Rows as a chart: gathers the lines in bounded memory and draws them at the end.
#include <fmt/format.h>

#include "cli/plot/chart.h"
#include "cli/plot/names.h"
#include "cli/text/escape.h"
#include "cli/text/row_writer.h"

namespace tsdb::cli {
namespace {

constexpr std::size_t kLinesMax = 64;

class PlotRowWriter final : public RowWriter {
 public:
  explicit PlotRowWriter(RowLayout layout) : layout_(std::move(layout)) {
    if (layout_.columns.empty()) {
      layout_.columns.emplace_back();
    }
  }

  void Begin(std::string* /*out*/) override {}

  void BeginSeries(const SeriesInfo& series, std::string* /*out*/) override {
    drawn_ = lines_.size() + layout_.columns.size() <= std::max(kLinesMax, layout_.columns.size());
    if (!drawn_) {
      ++left_out_;
      return;
    }
    series_.push_back(series);
    begin_ = lines_.size();
    for (std::size_t i = 0; i < layout_.columns.size(); ++i) {
      lines_.emplace_back(layout_.plot.gap_after);
    }
  }

  void Rows(const ColumnBatch& batch, std::string* /*out*/) override {
    for (std::size_t column = 0; drawn_ && column < batch.columns.size(); ++column) {
      Line& line = lines_[begin_ + column];
      for (std::size_t row = 0; row < batch.times.size(); ++row) {
        line.Add(batch.times[row], batch.columns[column][row]);
      }
    }
  }

  void EndSeries(std::string* /*out*/) override {
    for (std::size_t i = begin_; drawn_ && i < lines_.size(); ++i) {
      lines_[i].Reverse();
    }
  }

  void End(std::string* out) override {
    if (series_.empty()) {
      return;
    }
    const LineNames names = NameLines(series_);
    ChartData data;
    data.title = names.title;
    data.unit = layout_.unit;
    data.range = layout_.plot.range;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::string& name = names.names[i / layout_.columns.size()];
      const std::string& column = layout_.columns[i % layout_.columns.size()];
      data.lines.push_back(
          {name + (name.empty() || column.empty() ? "" : " ") + Printable(column), std::move(lines_[i])});
    }
    AppendChart(data, layout_.plot.style, out);
    if (left_out_ != 0) {
      *out += fmt::format("not drawn: {} more series: narrow the selector\n", left_out_);
    }
  }

 private:
  RowLayout layout_;
  std::vector<SeriesInfo> series_;
  std::vector<Line> lines_;  // one per series and column
  std::size_t begin_ = 0;    // of the current series
  bool drawn_ = false;
  std::uint64_t left_out_ = 0;
};

}  // namespace

std::unique_ptr<RowWriter> MakePlotRowWriter(RowLayout layout) {
  return std::make_unique<PlotRowWriter>(std::move(layout));
}

}  // namespace tsdb::cli
