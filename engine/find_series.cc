#include <fmt/format.h>

#include "engine/append.h"

namespace tsdb::engine {
namespace {

/// The entry once its fate is known; nullptr when its definition failed.
RegistryEntry* Decided(Core& core, RegistryEntry* entry) {
  if (entry != nullptr && entry->state.load(std::memory_order_acquire) == RegistryEntry::State::kOrdered) {
    core.definitions.WaitDecided(*entry);
  }
  return entry != nullptr && entry->state.load(std::memory_order_acquire) == RegistryEntry::State::kLive ? entry
                                                                                                         : nullptr;
}

}  // namespace

Result<RegistryEntry*> FindSeriesByLabels(Core& core, const Labels& labels) {
  if (RegistryEntry* entry = core.registry.FindByLabels(labels.Hash(), EncodeIdentity(labels))) {
    return Decided(core, entry);
  }
  const Labels* set = &labels;
  TSDB_ASSIGN_OR_RETURN(const auto found, core.index->FindByLabels({&set, 1}));
  return found[0] ? core.registry.Insert(*found[0], RegistryEntry::State::kLive) : nullptr;
}

Result<RegistryEntry*> FindSeriesByKey(Core& core, std::string_view key) {
  if (RegistryEntry* entry = core.registry.FindByKey(key)) {
    return Decided(core, entry);
  }
  // The canonical text of labels is the shown key of the series created by them.
  if (const auto labels = Labels::Parse(key); labels.ok() && labels->CanonicalKey() == key) {
    if (RegistryEntry* entry = core.registry.FindByLabels(labels->Hash(), EncodeIdentity(*labels))) {
      return Decided(core, entry);
    }
  }
  TSDB_ASSIGN_OR_RETURN(const auto found, core.index->FindByKey(key));
  return found ? core.registry.Insert(*found, RegistryEntry::State::kLive) : nullptr;
}

Result<RegistryEntry*> FindSeriesById(Core& core, SeriesId id) {
  if (RegistryEntry* entry = core.registry.FindById(id)) {
    return Decided(core, entry);
  }
  TSDB_ASSIGN_OR_RETURN(const auto found, core.index->FindByIds({&id, 1}));
  return found[0] ? core.registry.Insert(*found[0], RegistryEntry::State::kLive) : nullptr;
}

}  // namespace tsdb::engine
