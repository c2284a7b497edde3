// Series changes: series end, come back, get another name, other labels or settings.
//
//   drop            a record of ids; the definitions go from index and registry, the ids into drop_table.h
//   all others      a record with the whole new definition (`define`), which replaces the old one
//
// One at a time (life_mutex): each finds the definitions as the one before left them. Appends, queries and flushes go
// on meanwhile.
//
// Thread safety: any thread.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "engine/core.h"
#include "tsdb/result.h"
#include "tsdb/series_life.h"

namespace tsdb::engine {

/// See Database::Drop. Ids that are dropped already count for nothing.
Result<DropReport> DropSeries(Core& core, const IdSet& ids, const DropOptions& options, wal::DropReason reason)
    TSDB_EXCLUDES(core.life_mutex);
Result<SeriesRef> UndropSeries(Core& core, SeriesId id, std::string_view key) TSDB_EXCLUDES(core.life_mutex);
Result<std::vector<tsdb::DroppedSeries>> ListDroppedSeries(Core& core);
Status RenameSeries(Core& core, SeriesId id, std::string_view key) TSDB_EXCLUDES(core.life_mutex);
Status AlterSeries(Core& core, SeriesId id, const SeriesChange& change) TSDB_EXCLUDES(core.life_mutex);

/// kInvalidArgument for settings that make no sense.
Status CheckSettings(const SeriesSettings& settings);

}  // namespace tsdb::engine
