// Names of the lines of a chart: what all series have in common goes into the title, what tells them apart into the
// legend.
//
//   cpu{host="a",mode="user"} and cpu{host="a",mode="idle"}   →   title cpu{host="a"}; lines mode="user", mode="idle"
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "tsdb/query.h"

namespace tsdb::cli {

struct LineNames {
  std::string title;
  std::vector<std::string> names;  // one per series; empty when the title says it all
};

/// All texts are printable.
LineNames NameLines(const std::vector<SeriesInfo>& series);

}  // namespace tsdb::cli
