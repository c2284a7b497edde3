// Usage of chunk files by series, out of their directories.
//
// Thread safety: any thread; works on the version pinned when it begins.
#pragma once

#include <vector>

#include "engine/core.h"
#include "tsdb/result.h"
#include "tsdb/selector.h"
#include "tsdb/usage.h"

namespace tsdb::engine {

/// The selected series that have chunks in files, most bytes first.
Result<std::vector<SeriesUsage>> MeasureUsage(Core& core, const Selector& selector);

}  // namespace tsdb::engine
