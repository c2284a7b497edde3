// CheckSpec: whether a query's specification makes sense; every error says what to change.
//
// Thread safety: pure function.
#pragma once

#include "tsdb/query.h"
#include "tsdb/status.h"

namespace tsdb::engine {

/// kInvalidArgument. Buckets and cursor are checked where they are understood.
Status CheckSpec(const QuerySpec& spec);

}  // namespace tsdb::engine
