// RunQuery: plans a query (selector to ids) and returns the cursor that streams its rows.
//
//   check the specification ─► pin the version ─► select ids ─► top series ─► series, groups, or a join
//
// Thread safety: the cursor belongs to one thread; it pins one version for its whole life.
#pragma once

#include <memory>

#include "engine/core.h"
#include "tsdb/query.h"
#include "tsdb/result.h"

namespace tsdb::engine {

/// See Database::Query. kInvalidArgument: what the specification asks for makes no sense, a regex that does not
/// compile, a cursor of another query; kNotFound: a series asked for by reference is not there; kResourceExhausted:
/// more series than allowed; kCancelled.
Result<std::unique_ptr<QueryResult>> RunQuery(Core& core, const QuerySpec& spec);

}  // namespace tsdb::engine
