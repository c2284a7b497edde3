// The merge of overlay layers into the stored index: from changes to the sorted entries of one TableSet.
//
// Entries of series that were not stored before are written without reading anything. Only what a stored series or a
// block of ids that already has members is concerned with is read first, in batches.
//
// Thread safety: pure function over immutable inputs.
#pragma once

#include <memory>
#include <vector>

#include "index/layer_list.h"
#include "index/overlay_layer.h"
#include "index/rocks_store.h"
#include "index/stored_view.h"

namespace tsdb::index {


struct MergeResult {
  IndexMeta meta;
  IdSet ids;
};

/// Writes what the changes in `layers` (oldest first) with commit <= `meta.applied_commit` make of `stored`, and the
/// header, to `tables`. `meta.series` is filled in.
Result<MergeResult> MergeLayers(const StoredView& stored, const LayerList& layers, IndexMeta meta,
                                RocksStore::TableSet* tables);

}  // namespace tsdb::index
