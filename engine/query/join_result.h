// MakeJoinResult: series side by side in the rows of all their times.
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

/// kResourceExhausted: too many series to be read side by side.
Result<std::unique_ptr<QueryResult>> MakeJoinResult(std::unique_ptr<QueryPlan> plan, std::vector<SeriesId> ids,
                                                    const std::optional<PageCursor>& page, double select_seconds);

}  // namespace tsdb::engine
