// The index over a store: layers of changes in memory over what is stored. Made by the openers of series_index.h.
//
// Thread safety: as SeriesIndex.
#pragma once

#include <memory>

#include "index/rocks_store.h"
#include "index/series_index.h"
#include "index/stored_view.h"

namespace tsdb::index {

/// `stored` is the view of `store` at this moment.
std::unique_ptr<SeriesIndex> MakeRocksIndex(const IndexOptions& options, std::unique_ptr<RocksStore> store,
                                            std::unique_ptr<StoredView> stored);

}  // namespace tsdb::index
