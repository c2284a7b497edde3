#include "cli/plot/legend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/plot/canvas.h"
#include "cli/plot/value_axis.h"
#include "cli/text/escape.h"
#include "cli/text/numbers.h"

namespace tsdb::cli {
namespace {

/// min, max, last, samples.
using Figures = std::array<std::string, 4>;
constexpr std::array<std::string_view, 4> kTitles = {"min", "max", "last", "samples"};

Figures FiguresOf(const Line& line, bool ascii) {
  if (line.empty()) {
    return {"-", "-", "-", FormatCount(line.samples())};
  }
  return {FormatFigure(line.low(), ascii), FormatFigure(line.high(), ascii), FormatFigure(line.last().value, ascii),
          FormatCount(line.samples())};
}

std::string Sign(std::size_t number, const LegendLayout& layout) {
  const std::string sign = layout.marks ? std::string(1, LineMark(number)) : std::string("━");
  return layout.style.color ? LineColor(number) + sign + kColorEnd : sign;
}

void AppendInfinities(const ChartData& data, std::string* out) {
  std::uint64_t count = 0;
  for (const ChartLine& entry : data.lines) {
    count += entry.line.infinities();
  }
  if (count != 0) {
    *out += fmt::format("not drawn: {} infinite value{}\n", FormatCount(count), count == 1 ? "" : "s");
  }
}

}  // namespace

std::string ShortenText(std::string_view printable, std::size_t width, bool ascii) {
  if (DisplayWidth(printable) <= width) {
    return std::string(printable);
  }
  const std::string_view end = ascii ? "..." : "…";
  const std::size_t room = width - std::min(width, DisplayWidth(end));
  std::string text;
  for (std::size_t offset = 0, columns = 0; columns < room; ++columns) {
    const std::size_t length = std::max<std::size_t>(1, Utf8SequenceLength(printable, offset));
    text += printable.substr(offset, length);
    offset += length;
  }
  return text.append(end);
}

void AppendLegend(const ChartData& data, const LegendLayout& layout, std::string* out) {
  std::vector<Figures> figures;
  std::array<std::size_t, 4> widths{};
  std::size_t name_width = 0;
  for (const ChartLine& entry : data.lines) {
    figures.push_back(FiguresOf(entry.line, layout.style.ascii));
    name_width = std::max(name_width, DisplayWidth(entry.name));
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(figures.back()[i]));
    }
  }
  std::size_t figures_width = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    figures_width += 3 + kTitles[i].size() + widths[i];  // "  min 12"
  }
  constexpr std::size_t kNameMin = 12;
  const std::size_t room = layout.width - std::min(layout.width, 2 + figures_width);
  name_width = std::min(name_width, std::max(kNameMin, room));
  for (std::size_t number = 0; number < data.lines.size(); ++number) {
    const std::string name = ShortenText(data.lines[number].name, name_width, layout.style.ascii);
    *out += Sign(number, layout);
    if (name_width != 0) {
      *out += ' ' + name;
      out->append(name_width - DisplayWidth(name), ' ');
    }
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string& figure = figures[number][i];
      out->append("  ").append(kTitles[i]).append(1 + widths[i] - DisplayWidth(figure), ' ').append(figure);
    }
    *out += '\n';
  }
  AppendInfinities(data, out);
}

}  // namespace tsdb::cli
