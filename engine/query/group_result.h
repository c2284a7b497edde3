// MakeGroupResult: series reduced to groups, one result per set of values of the labels grouped by.
//
// Thread safety: as QueryResult.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/query/page_cursor.h"
#include "engine/query/query_plan.h"
#include "tsdb/query.h"
#include "tsdb/result.h"

namespace tsdb::engine {

Result<std::unique_ptr<QueryResult>> MakeGroupResult(std::unique_ptr<QueryPlan> plan, std::vector<SeriesId> ids,
                                                     const std::optional<PageCursor>& page, double select_seconds);

}  // namespace tsdb::engine
