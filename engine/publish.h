// Publish: the one way in which a job's files become part of the database, flush and merge alike.
//
//   edit ─► added files opened ─► edit appended and synced (the commit point) ─► new version swapped in
//        ─► removed files unlinked, once no version holds them
//
// A manifest whose last append failed may or may not hold the edit. Its added files stay until a later edit is durable,
// which settles that they are not live; then they are removed.
//
// Thread safety: any thread; takes manifest_mutex.
#pragma once

#include <functional>

#include "chunk/manifest.h"
#include "engine/core.h"
#include "tsdb/status.h"

namespace tsdb::engine {

/// Opens a chunk file of the manifest and checks that it is of this database.
Result<ChunkFilePtr> OpenChunkFile(const Core& core, std::uint64_t number);

/// Makes `edit` durable, completed by the tombstones that nothing needs any more, and swaps in a version with the files
/// it adds and without those it removes; `change` (may be
/// empty) changes what else is to be changed in the same step, and must not fail. On error nothing has happened that is
/// seen; what becomes of the added files is no longer the caller's.
Status CommitEdit(Core& core, chunk::ManifestEdit edit, const std::function<void(Version*)>& change)
    TSDB_EXCLUDES(core.manifest_mutex);

/// Unlinks files that were removed by an edit and are not read any more; with `all` also those still read (their open
/// handles stay good).
void RemoveRetired(Core& core, bool all) TSDB_EXCLUDES(core.manifest_mutex);

}  // namespace tsdb::engine
