#include "index/layer_list.h"

#include <utility>

namespace tsdb::index {

void CollectTexts(const OverlayLayer& layer, const std::optional<std::string>& name, std::string_view prefix,
                  const IdSet& masked, std::vector<std::string>* texts) {
  const auto collect = [&](std::string_view text, const SlotList& slots) {
    if (text.starts_with(prefix) && layer.HasLive(slots, masked)) {
      texts->emplace_back(text);
    }
  };
  if (!name.has_value()) {
    for (const auto& [text, postings] : layer.postings().names()) {
      collect(text, postings.present);
    }
  } else if (const LabelPostings::Name* postings = layer.postings().Find(*name)) {
    for (const auto& [text, slots] : postings->values) {
      collect(text, slots);
    }
  }
}

std::shared_ptr<const OverlayLayer> Rebuild(const LayerList& layers, std::optional<CommitNumber> behind) {
  std::shared_ptr<OverlayLayer> rest;
  for (const auto& layer : layers) {
    for (std::uint32_t number = 0; number < layer->size(); ++number) {
      if (behind.has_value() && layer->slot(number).commit <= *behind) {
        continue;
      }
      if (rest == nullptr) {
        rest = std::make_shared<OverlayLayer>();
      }
      OverlayLayer::Slot slot = layer->slot(number);
      slot.superseded = false;
      rest->Apply(std::move(slot), layer->Definition(number).labels);
    }
  }
  return rest;
}

bool HasCommitUpTo(const LayerList& layers, CommitNumber commit) {
  for (const auto& layer : layers) {
    for (std::uint32_t number = 0; number < layer->size(); ++number) {
      if (layer->slot(number).commit <= commit) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace tsdb::index
