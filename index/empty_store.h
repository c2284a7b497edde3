// The store that holds nothing and takes nothing in: what an index of the overlay alone lies on.
//
// Thread safety: thread-safe.
#pragma once

#include <memory>

#include "index/rocks_store.h"

namespace tsdb::index {

/// TableSets and Ingest of it fail with kReadOnly.
std::unique_ptr<RocksStore> NewEmptyStore();

}  // namespace tsdb::index
