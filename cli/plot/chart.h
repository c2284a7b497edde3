// Chart: lines, axes and a legend, as text for a terminal.
//
//   cpu{host="a"}                          title
//   100 ┤ ⡠⠔⠒⠢⡀
//       │⠔⠁    ⠈                           canvas
//     0 ┤
//       └┬────────┬───────
//        12:00    12:10
//        2026-11-30     UTC
//   ━ avg  min 2  max 98  last 40          legend
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/plot/line.h"
#include "tsdb/types.h"

namespace tsdb::cli {

/// What a terminal can show.
struct ChartStyle {
  std::size_t width = 80;    // columns in all; at least kChartWidthMin are used
  std::size_t height = 16;   // rows of the canvas; at least kChartHeightMin are used
  bool color = false;
  bool ascii = false;        // nothing outside ASCII
};
inline constexpr std::size_t kChartWidthMin = 24;
inline constexpr std::size_t kChartHeightMin = 3;

struct ChartLine {
  std::string name;  // printable (text/escape.h); empty: the title says it all
  Line line;
};

struct ChartData {
  std::string title;  // printable
  std::vector<ChartLine> lines;
  TimeUnit unit = TimeUnit::kMilliseconds;
  /// Ends of the time axis; widened to what the lines hold. Empty (from > to): just that.
  TimeRange range{kTimestampMax, kTimestampMin};
};

/// Appends the chart; only a note when no line has a value that can be drawn.
void AppendChart(const ChartData& data, const ChartStyle& style, std::string* out);

}  // namespace tsdb::cli
