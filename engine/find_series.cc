#include <utility>

#include <fmt/format.h>

#include "engine/append.h"

namespace tsdb::engine {
namespace {

/// The entry once its fate is known; nullptr when its definition failed.
RegistryEntryPtr Decided(Core& core, RegistryEntryPtr entry) {
  if (entry != nullptr && entry->state.load(std::memory_order_acquire) == RegistryEntry::State::kOrdered) {
    core.definitions.WaitDecided(*entry);
  }
  const bool live =
      entry != nullptr && entry->state.load(std::memory_order_acquire) == RegistryEntry::State::kLive;
  return live ? std::move(entry) : nullptr;
}

}  // namespace

Result<RegistryEntryPtr> FindSeriesByLabels(Core& core, const Labels& labels) {
  if (RegistryEntryPtr entry = core.registry.FindByLabels(labels.Hash(), EncodeIdentity(labels))) {
    return Decided(core, std::move(entry));
  }
  const Labels* set = &labels;
  TSDB_ASSIGN_OR_RETURN(const auto found, core.index->FindByLabels({&set, 1}));
  return found[0] ? core.registry.Insert(*found[0], RegistryEntry::State::kLive) : nullptr;
}

Result<RegistryEntryPtr> FindSeriesByKey(Core& core, std::string_view key) {
  if (RegistryEntryPtr entry = core.registry.FindByKey(key)) {
    return Decided(core, std::move(entry));
  }
  // The canonical text of labels is the shown key of the series created by them.
  if (const auto labels = Labels::Parse(key); labels.ok() && labels->CanonicalKey() == key) {
    if (RegistryEntryPtr entry = core.registry.FindByLabels(labels->Hash(), EncodeIdentity(*labels))) {
      return Decided(core, std::move(entry));
    }
  }
  TSDB_ASSIGN_OR_RETURN(const auto found, core.index->FindByKey(key));
  return found ? core.registry.Insert(*found, RegistryEntry::State::kLive) : nullptr;
}

Result<RegistryEntryPtr> FindSeriesById(Core& core, SeriesId id) {
  if (RegistryEntryPtr entry = core.registry.FindById(id)) {
    return Decided(core, std::move(entry));
  }
  TSDB_ASSIGN_OR_RETURN(const auto found, core.index->FindByIds({&id, 1}));
  return found[0] ? core.registry.Insert(*found[0], RegistryEntry::State::kLive) : nullptr;
}

}  // namespace tsdb::engine
