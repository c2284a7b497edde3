#include "cli/plot/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/plot/canvas.h"
#include "cli/plot/legend.h"
#include "cli/plot/time_axis.h"
#include "cli/plot/value_axis.h"
#include "cli/text/escape.h"

namespace tsdb::cli {
namespace {

/// The characters axes are made of.
struct Frame {
  const char* side;
  const char* side_tick;
  const char* corner;
  const char* bottom;
  const char* bottom_tick;
};
constexpr Frame kLineFrame = {"│", "┤", "└", "─", "┬"};
constexpr Frame kAsciiFrame = {"|", "+", "+", "-", "+"};

/// Where times and values are on a canvas.
class Projection {
 public:
  Projection(const TimeRange& range, const ValueAxis& axis, const Canvas& canvas)
      : range_(range), axis_(axis), across_(canvas.dots_across() - 1), down_(canvas.dots_down() - 1) {}

  std::int64_t X(Timestamp time) const {
    const long double span = static_cast<long double>(range_.to) - static_cast<long double>(range_.from);
    const long double part = static_cast<long double>(time) - static_cast<long double>(range_.from);
    return std::llround(part / span * static_cast<long double>(across_));
  }
  std::int64_t Y(long double value) const {
    return std::llround((axis_.high - value) / (axis_.high - axis_.low) * static_cast<long double>(down_));
  }
  Dot At(const Sample& sample) const { return {X(sample.time), Y(sample.value)}; }

 private:
  const TimeRange range_;
  const ValueAxis& axis_;
  const std::size_t across_;
  const std::size_t down_;
};

void DrawLine(const Line& line, const Projection& projection, std::size_t number, Canvas* canvas) {
  Dot at;
  bool connected = false;
  for (const LineBin& bin : line.bins()) {
    const bool low_first = bin.low.time <= bin.high.time;
    const Sample* const path[] = {&bin.first, low_first ? &bin.low : &bin.high, low_first ? &bin.high : &bin.low,
                                  &bin.last};
    connected = connected && !bin.gap_before;
    for (const Sample* sample : path) {
      const Dot to = projection.At(*sample);
      canvas->Draw(connected ? at : to, to, number);
      at = to;
      connected = true;
    }
  }
}

/// All lines together: times and values that the axes must cover.
struct Extent {
  bool empty = true;
  TimeRange times;
  double low = 0;
  double high = 0;
};

Extent Measure(const ChartData& data) {
  Extent extent;
  extent.times = data.range;
  for (const ChartLine& entry : data.lines) {
    if (entry.line.empty()) {
      continue;
    }
    extent.low = extent.empty ? entry.line.low() : std::min(extent.low, entry.line.low());
    extent.high = extent.empty ? entry.line.high() : std::max(extent.high, entry.line.high());
    extent.times.from = std::min(extent.times.from, entry.line.first_time());
    extent.times.to = std::max(extent.times.to, entry.line.last().time);
    extent.empty = false;
  }
  if (extent.times.from == extent.times.to) {  // a single time stands in the middle of a minute
    const std::int64_t half = 30 * UnitsPerSecond(data.unit);
    extent.times.from = std::max(extent.times.from, kTimestampMin + half) - half;
    extent.times.to = std::min(extent.times.to, kTimestampMax - half) + half;
  }
  return extent;
}

void AppendRows(const Canvas& canvas, const ValueAxis& axis, const Projection& projection, const ChartStyle& style,
                std::size_t margin, std::string* out) {
  const Frame& frame = style.ascii ? kAsciiFrame : kLineFrame;
  std::vector<const ValueTick*> ticks(canvas.rows());
  const std::size_t dots_per_row = canvas.dots_down() / canvas.rows();
  for (const ValueTick& tick : axis.ticks) {
    ticks[static_cast<std::size_t>(projection.Y(tick.value)) / dots_per_row] = &tick;
  }
  for (std::size_t row = 0; row < canvas.rows(); ++row) {
    const std::string& label = ticks[row] == nullptr ? "" : ticks[row]->label;
    out->append(margin - DisplayWidth(label), ' ');
    *out += label;
    *out += ' ';
    *out += ticks[row] == nullptr ? frame.side : frame.side_tick;
    canvas.AppendRow(row, style.color, out);
    *out += '\n';
  }
}

/// Text put down at columns of one terminal row; what would touch its neighbour is left out.
class LabelRow {
 public:
  explicit LabelRow(std::size_t width) : width_(width) {}

  void Put(std::size_t column, const std::string& label) {
    const std::size_t size = label.size();  // labels of times are ASCII
    const std::size_t at = column + size > width_ ? width_ - std::min(width_, size) : column;
    if (size > width_ || (!text_.empty() && at < text_.size() + 2)) {
      return;
    }
    text_.resize(at, ' ');
    text_ += label;
  }
  const std::string& text() const { return text_; }

 private:
  const std::size_t width_;
  std::string text_;
};

void AppendTimeAxis(const std::vector<TimeTick>& ticks, const Canvas& canvas, const Projection& projection,
                    const ChartStyle& style, std::size_t margin, std::string* out) {
  const Frame& frame = style.ascii ? kAsciiFrame : kLineFrame;
  const std::size_t left = margin + 2;  // where the canvas begins
  std::vector<bool> marked(canvas.columns(), false);
  LabelRow labels(left + canvas.columns());
  LabelRow below(left + canvas.columns());
  for (const TimeTick& tick : ticks) {
    const std::size_t column =
        static_cast<std::size_t>(projection.X(tick.time)) / (canvas.dots_across() / canvas.columns());
    marked[column] = true;
    labels.Put(left + column, tick.label);
    if (!tick.below.empty()) {
      below.Put(left + column, tick.below);
    }
  }
  if (!below.text().empty()) {
    below.Put(left + canvas.columns() - 3, "UTC");
  }
  out->append(margin + 1, ' ');
  *out += frame.corner;
  for (const bool mark : marked) {
    *out += mark ? frame.bottom_tick : frame.bottom;
  }
  *out += '\n';
  for (const std::string& row : {labels.text(), below.text()}) {
    if (!row.empty()) {
      *out += row + "\n";
    }
  }
}

std::size_t LabelWidth(const ValueAxis& axis) {
  std::size_t width = 0;
  for (const ValueTick& tick : axis.ticks) {
    width = std::max(width, DisplayWidth(tick.label));
  }
  return width;
}

}  // namespace

void AppendChart(const ChartData& data, const ChartStyle& style, std::string* out) {
  const Extent extent = Measure(data);
  const std::size_t width = std::max(style.width, kChartWidthMin);
  const std::size_t rows = std::max(style.height, kChartHeightMin);
  if (!data.title.empty()) {
    *out += style.color ? "\x1b[1m" : "";
    *out += ShortenText(data.title, width, style.ascii);
    *out += style.color ? "\x1b[0m\n" : "\n";
  }
  if (extent.empty) {
    *out += "nothing to draw: no value is a finite number\n";
    return;
  }
  const ValueAxis axis = MakeValueAxis(extent.low, extent.high, rows / 3, style.ascii);
  const std::size_t margin = LabelWidth(axis);
  const Glyphs glyphs = style.ascii || (!style.color && data.lines.size() > 1) ? Glyphs::kMarks : Glyphs::kBraille;
  Canvas canvas(width - std::min(width - 10, margin + 2), rows, glyphs);
  const Projection projection(extent.times, axis, canvas);
  for (std::size_t i = 0; i < data.lines.size(); ++i) {
    DrawLine(data.lines[i].line, projection, i, &canvas);
  }
  if (!axis.base.empty()) {
    *out += "values from " + axis.base + "\n";
  }
  AppendRows(canvas, axis, projection, style, margin, out);
  AppendTimeAxis(MakeTimeTicks(extent.times, data.unit, canvas.columns()), canvas, projection, style, margin, out);
  AppendLegend(data, {.width = width, .style = style, .marks = glyphs == Glyphs::kMarks}, out);
}

}  // namespace tsdb::cli
