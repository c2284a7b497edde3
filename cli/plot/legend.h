// The legend of a chart: a line each with its sign, its name and its figures.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/plot/chart.h"

namespace tsdb::cli {

struct LegendLayout {
  std::size_t width = 80;
  ChartStyle style;
  bool marks = false;  // lines are told apart by marks, else by colour
};

void AppendLegend(const ChartData& data, const LegendLayout& layout, std::string* out);

/// `printable` in at most `width` columns: what is too long ends in … (ASCII: ...).
std::string ShortenText(std::string_view printable, std::size_t width, bool ascii);

}  // namespace tsdb::cli
