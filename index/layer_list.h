// LayerList: layers of changes, oldest first, and what is asked of them together.
//
// Thread safety: pure functions over layers that no longer change.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/overlay_layer.h"
#include "tsdb/types.h"

namespace tsdb::index {

using LayerList = std::vector<std::shared_ptr<const OverlayLayer>>;

/// Texts of a layer (label names, or values of `name`) that begin with `prefix` and belong to a live series not masked.
void CollectTexts(const OverlayLayer& layer, const std::optional<std::string>& name, std::string_view prefix,
                  const IdSet& masked, std::vector<std::string>* texts);

/// One layer of the changes with commit > `behind` (of all when not given), in the order in which they came; null when
/// there are none.
std::shared_ptr<const OverlayLayer> Rebuild(const LayerList& layers, std::optional<CommitNumber> behind);

bool HasCommitUpTo(const LayerList& layers, CommitNumber commit);

}  // namespace tsdb::index
