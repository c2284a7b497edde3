// Series that match and, when a range is given, have samples in it. Not for their samples: that is query.
//
// Thread safety: a function without state of its own.
#pragma once

#include <cstdint>
#include <functional>

#include "tsdb/database.h"

namespace tsdb::cli {

/// Calls `visit` for each, ordered by id, until it gives false or `limit` (0: all) is reached. With a range the series
/// are found by a query for one row each, so nothing grows with their samples.
Status ForEachSeries(Database& db, const Selector& selector, const TimeRange& range, std::uint64_t limit,
                     const std::function<bool(const SeriesInfo&)>& visit);

}  // namespace tsdb::cli
