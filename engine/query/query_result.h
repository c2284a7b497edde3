// RunQuery: plans a query (selector to ids) and returns the cursor that streams its rows.
//
// Thread safety: the cursor belongs to one thread; it pins one version for its whole life.
#pragma once

#include <memory>

#include "engine/core.h"
#include "tsdb/query.h"
#include "tsdb/result.h"

namespace tsdb::engine {

/// See Database::Query. kInvalidArgument: a width below 0, a regex that does not compile; kResourceExhausted: more
/// series than series_max.
Result<std::unique_ptr<QueryResult>> RunQuery(Core& core, const QuerySpec& spec);

}  // namespace tsdb::engine
