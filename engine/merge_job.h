// Merging: runs the merges of compaction/ on the live files, one at a time, beside flushes, readers and writers.
//
//   live files ─► compaction/picker.h ─► compaction/output_plan.h ─► compaction/merge.h ─► publish.h
//
// A file in which a merge found damage is left alone from then on, with everything that must not be merged across it;
// the rest is merged as usual.
//
// Thread safety: any thread; takes merge_mutex for as long as a merge runs.
#pragma once

#include "engine/core.h"
#include "tsdb/jobs.h"
#include "tsdb/result.h"

namespace tsdb::engine {

/// True when the files may have become due for a merge, or retention for a look: it has one every minute.
bool MergingIsDue(Core& core);

/// Enforces retention, then runs merges, one after another, until none is due, merging is paused or the database is
/// closed. What failed is to be tried again later.
Status MergeInBackground(Core& core) TSDB_EXCLUDES(core.merge_mutex);

/// Runs the merge that is due when the database closes, if it is a small one: programs that open the database only
/// briefly leave no heap of small files. A failure is told to the log; the next opening tries again.
void MergeBeforeClose(Core& core) TSDB_EXCLUDES(core.merge_mutex);

/// Flushes and merges everything committed before the call into its final form. kCorruption when damaged files were
/// left out, after all others were merged; errors of Flush and compaction::Merge.
Result<CompactReport> Compact(Core& core, const CompactOptions& options) TSDB_EXCLUDES(core.merge_mutex);

/// Ends the merge that runs at its next chunk.
void CancelMerge(Core& core);

}  // namespace tsdb::engine
