// Flush: moves a generation into files.
//
//   cut (all stripes held, no I/O): C = last number given; a new generation opens
//   ─► everything ≤ C synced and applied
//   ─► compaction::Flush: sealed generation → chunk files + catalogue file
//   ─► manifest edit appended and synced: the only commit point
//   ─► version without the generation, with the files ─► index persisted ─► log segments unlinked
//
// A flush that fails leaves the sealed generation in the version; the next flush begins with it.
//
// Thread safety: Flush takes flush_mutex; any thread may call it.
#pragma once

#include "engine/core.h"
#include "tsdb/status.h"

namespace tsdb::engine {

/// Moves everything committed before the call into files and returns when they are durable.
Status Flush(Core& core) TSDB_EXCLUDES(core.flush_mutex);

/// The same for recovery, which has no log yet: everything up to `replayed` was applied and is synced.
Status FlushReplayed(Core& core, CommitNumber replayed) TSDB_EXCLUDES(core.flush_mutex);

}  // namespace tsdb::engine
