// AreaBelow: the area under the straight lines that join samples; for time-weighted averages.
//
// Thread safety: pure function.
#pragma once

#include <cstddef>

#include "tsdb/types.h"

namespace tsdb::engine {

/// Σ (v[i] + v[i+1]) / 2 · (t[i+1] - t[i]) over `count` >= 1 samples whose times rise.
double AreaBelow(const Timestamp* times, const double* values, std::size_t count);

}  // namespace tsdb::engine
