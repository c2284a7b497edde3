// Looking at a Core: lists and figures that a database opened for writing and one opened for reading give alike.
//
// Thread safety: thread-safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/core.h"
#include "tsdb/query.h"
#include "tsdb/result.h"
#include "tsdb/selector.h"
#include "tsdb/stats.h"

namespace tsdb::engine {

/// kNotFound when there is no such series.
Result<SeriesInfo> SeriesById(const Core& core, SeriesId id);
/// See Database::ListSeries.
Result<std::vector<SeriesInfo>> SeriesOf(const Core& core, const Selector& selector, std::uint64_t limit);
/// Everything but what the log and the jobs count.
void FillStats(const Core& core, Stats* stats);
/// Bytes of the files below a folder of the database ("": all); 0 when it cannot be read.
std::uint64_t BytesBelow(const Core& core, std::string_view name);

}  // namespace tsdb::engine
