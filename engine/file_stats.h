// FileStats: what the chunk files of a version add up to.
//
// Thread safety: pure function.
#pragma once

#include "engine/version.h"
#include "tsdb/stats.h"

namespace tsdb::engine {

/// Sets the figures of chunk files in `stats`. Reads nothing: the files know their sums.
void AddFileStats(const Version& version, Stats* stats);

}  // namespace tsdb::engine
