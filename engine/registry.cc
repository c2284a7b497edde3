#include "engine/registry.h"

#include <functional>

#include "base/coding.h"

namespace tsdb::engine {

std::string EncodeIdentity(const Labels& labels) {
  std::string out;
  out.reserve(labels.bytes() + 2 * labels.size());
  for (const Label& label : labels.pairs()) {
    PutLengthPrefixed(&out, label.name);
    PutLengthPrefixed(&out, label.value);
  }
  return out;
}

Registry::IdentityShard& Registry::ShardOfKey(std::string_view key) const {
  return identity_shards_[std::hash<std::string_view>{}(key) % kShards];
}

RegistryEntry* Registry::FindByLabels(const LabelsHash& hash, std::string_view identity) const {
  const IdentityShard& shard = identity_shards_[hash.high % kShards];
  ReadLock lock(shard.mutex);
  const auto it = shard.by_labels.find(hash);
  if (it == shard.by_labels.end() || it->second->identity != identity) {
    return nullptr;
  }
  return it->second;
}

RegistryEntry* Registry::FindByKey(std::string_view key) const {
  const IdentityShard& shard = ShardOfKey(key);
  ReadLock lock(shard.mutex);
  const auto it = shard.by_key.find(std::string(key));
  return it == shard.by_key.end() ? nullptr : it->second;
}

RegistryEntry* Registry::FindById(SeriesId id) const {
  const IdShard& shard = ShardOfId(id);
  ReadLock lock(shard.mutex);
  const auto it = shard.by_id.find(id.value);
  if (it == shard.by_id.end() || it->second->state.load(std::memory_order_acquire) == RegistryEntry::State::kFailed) {
    return nullptr;
  }
  return it->second.get();
}

RegistryEntry* Registry::Insert(const SeriesDefinition& definition, RegistryEntry::State state) {
  RegistryEntry* entry = nullptr;
  {
    IdShard& shard = ShardOfId(definition.id);
    WriteLock lock(shard.mutex);
    auto& slot = shard.by_id[definition.id.value];
    if (slot != nullptr) {
      return slot.get();
    }
    slot = std::make_unique<RegistryEntry>();
    entry = slot.get();
    entry->id = definition.id;
    entry->created_by_key = definition.created_by_key;
    entry->settings = definition.settings;
    entry->identity = definition.created_by_key ? definition.key : EncodeIdentity(definition.labels);
    entry->hash = definition.created_by_key ? LabelsHash{} : definition.labels.Hash();
    entry->state.store(state, std::memory_order_release);
  }
  if (definition.created_by_key) {
    IdentityShard& shard = ShardOfKey(entry->identity);
    WriteLock lock(shard.mutex);
    shard.by_key[entry->identity] = entry;
  } else {
    IdentityShard& shard = identity_shards_[entry->hash.high % kShards];
    WriteLock lock(shard.mutex);
    shard.by_labels[entry->hash] = entry;
  }
  size_.fetch_add(1, std::memory_order_relaxed);
  memory_bytes_.fetch_add(sizeof(RegistryEntry) + entry->identity.capacity() + 96, std::memory_order_relaxed);
  return entry;
}

void Registry::Remove(RegistryEntry* entry) {
  if (entry->created_by_key) {
    IdentityShard& shard = ShardOfKey(entry->identity);
    WriteLock lock(shard.mutex);
    if (const auto it = shard.by_key.find(entry->identity); it != shard.by_key.end() && it->second == entry) {
      shard.by_key.erase(it);
    }
  } else {
    IdentityShard& shard = identity_shards_[entry->hash.high % kShards];
    WriteLock lock(shard.mutex);
    if (const auto it = shard.by_labels.find(entry->hash); it != shard.by_labels.end() && it->second == entry) {
      shard.by_labels.erase(it);
    }
  }
  entry->state.store(RegistryEntry::State::kFailed, std::memory_order_release);
  size_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tsdb::engine
