// Append: one batch on its way into the log and the head.
//
//   resolve labels ─► group samples by stripe ─► find their HeadSeries        no order lock
//        │                                            │
//        │  (policies, increments, `now`: fetch what files hold, judge.h)
//        ▼                                            ▼
//   order: lock definitions (when there are new series) and the stripes touched, ascending;
//          check that nothing moved since; judge; number and queue the record             short, no I/O
//        ▼
//   write: group commit (wal/log.h)
//        ▼
//   apply: drain the stripes touched and the definitions, in commit order; answer
//
// Thread safety: an operation belongs to one thread; many run at the same time.
#pragma once

#include <span>
#include <vector>

#include "engine/core.h"
#include "engine/judge.h"
#include "tsdb/result.h"
#include "tsdb/write_batch.h"

namespace tsdb::engine {

/// Most bytes of one batch's record.
inline constexpr std::size_t kRecordBytesMax = 64u << 20;

/// Appends a batch; see Database::Append.
Result<AppendResult> AppendBatch(Core& core, const WriteBatch& batch, const WriteOptions& options);

/// Creates one series (definition.id is given here) and waits for the database's durability. Returns the id of an
/// existing series with these labels when the series is identified by labels.
Result<SeriesId> CreateOneSeries(Core& core, SeriesDefinition definition);

/// Live series in memory or in the index; nullptr when there is none. Waits for a definition that is on its way.
Result<RegistryEntryPtr> FindSeriesByLabels(Core& core, const Labels& labels);
Result<RegistryEntryPtr> FindSeriesByKey(Core& core, std::string_view key);
Result<RegistryEntryPtr> FindSeriesById(Core& core, SeriesId id);

}  // namespace tsdb::engine
