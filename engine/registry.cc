#include "engine/registry.h"

#include <functional>
#include <new>
#include <utility>
#include <vector>

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

std::uint64_t Registry::BytesOf(const RegistryEntry& entry) {
  // The entry with its counts, and a node in each of two maps.
  return sizeof(RegistryEntry) + 32 + entry.identity.capacity() + 2 * 64;
}

void Registry::Touch(RegistryEntry& entry) const {
  const std::uint64_t age = age_.load(std::memory_order_relaxed);
  if (entry.used.load(std::memory_order_relaxed) != age) {
    entry.used.store(age, std::memory_order_relaxed);
  }
}

RegistryEntryPtr Registry::FindByLabels(const LabelsHash& hash, std::string_view identity) const {
  const IdentityShard& shard = identity_shards_[hash.high % kShards];
  ReadLock lock(shard.mutex);
  const auto it = shard.by_labels.find(hash);
  if (it == shard.by_labels.end() || it->second->identity != identity) {
    return nullptr;
  }
  Touch(*it->second);
  return it->second;
}

RegistryEntryPtr Registry::FindByKey(std::string_view key) const {
  const IdentityShard& shard = ShardOfKey(key);
  ReadLock lock(shard.mutex);
  const auto it = shard.by_key.find(key);
  if (it == shard.by_key.end()) {
    return nullptr;
  }
  Touch(*it->second);
  return it->second;
}

RegistryEntryPtr Registry::FindById(SeriesId id) const {
  const IdShard& shard = ShardOfId(id);
  ReadLock lock(shard.mutex);
  const auto it = shard.by_id.find(id.value);
  if (it == shard.by_id.end()) {
    return nullptr;
  }
  Touch(*it->second);
  return it->second;
}

RegistryEntryPtr Registry::MakeEntry(const SeriesDefinition& definition, RegistryEntry::State state) const {
  auto entry = std::make_shared<RegistryEntry>();
  entry->id = definition.id;
  entry->created_by_key = definition.created_by_key;
  entry->settings = definition.settings;
  entry->identity = definition.created_by_key ? definition.key : EncodeIdentity(definition.labels);
  entry->hash = definition.created_by_key ? LabelsHash{} : definition.labels.Hash();
  entry->state.store(state, std::memory_order_release);
  Touch(*entry);
  return entry;
}

RegistryEntryPtr Registry::Insert(const SeriesDefinition& definition, RegistryEntry::State state) {
  RegistryEntryPtr entry = MakeEntry(definition, state);
  IdShard& id_shard = ShardOfId(definition.id);
  {
    WriteLock lock(id_shard.mutex);
    const auto [it, inserted] = id_shard.by_id.try_emplace(definition.id.value, entry);
    if (!inserted) {
      return it->second;
    }
  }
  try {
    AddIdentity(entry);
  } catch (const std::bad_alloc&) {
    WriteLock lock(id_shard.mutex);
    id_shard.by_id.erase(definition.id.value);
    throw;
  }
  size_.fetch_add(1, std::memory_order_relaxed);
  memory_bytes_.fetch_add(BytesOf(*entry), std::memory_order_relaxed);
  return entry;
}

// Replaces what had the name; throws std::bad_alloc with the maps as before.
void Registry::AddIdentity(const RegistryEntryPtr& entry) {
  if (!entry->created_by_key) {
    IdentityShard& shard = identity_shards_[entry->hash.high % kShards];
    WriteLock lock(shard.mutex);
    shard.by_labels[entry->hash] = entry;
    return;
  }
  IdentityShard& shard = ShardOfKey(entry->identity);
  WriteLock lock(shard.mutex);
  const auto [it, inserted] = shard.by_key.try_emplace(entry->identity, entry);
  if (!inserted) {
    // The old entry owns the text of its map key: both are exchanged.
    auto node = shard.by_key.extract(it);
    node.key() = entry->identity;
    node.mapped() = entry;
    shard.by_key.insert(std::move(node));
  }
}

// Takes the entry out of the maps of identities and of the counts; it is out of by_id already.
void Registry::Forget(const RegistryEntryPtr& entry) {
  RemoveIdentity(entry);
  size_.fetch_sub(1, std::memory_order_relaxed);
  memory_bytes_.fetch_sub(BytesOf(*entry), std::memory_order_relaxed);
}

RegistryEntryPtr Registry::ReserveName(const SeriesDefinition& definition) {
  RegistryEntryPtr entry = MakeEntry(definition, RegistryEntry::State::kOrdered);
  AddIdentity(entry);
  return entry;
}

void Registry::ForgetName(const RegistryEntryPtr& entry) {
  RemoveIdentity(entry);
  entry->state.store(RegistryEntry::State::kFailed, std::memory_order_release);
}

void Registry::Replace(const SeriesDefinition& definition) {
  const RegistryEntryPtr entry = MakeEntry(definition, RegistryEntry::State::kLive);
  RegistryEntryPtr old;
  IdShard& id_shard = ShardOfId(definition.id);
  {
    WriteLock lock(id_shard.mutex);
    old = std::exchange(id_shard.by_id[definition.id.value], entry);
  }
  size_.fetch_add(1, std::memory_order_relaxed);
  memory_bytes_.fetch_add(BytesOf(*entry), std::memory_order_relaxed);
  if (old != nullptr) {
    Forget(old);
  }
  AddIdentity(entry);
}

void Registry::RemoveIdentity(const RegistryEntryPtr& entry) {
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
}

void Registry::Remove(const RegistryEntryPtr& entry) {
  {
    IdShard& shard = ShardOfId(entry->id);
    WriteLock lock(shard.mutex);
    shard.by_id.erase(entry->id.value);
  }
  Forget(entry);
  entry->state.store(RegistryEntry::State::kFailed, std::memory_order_release);
}

void Registry::Evict(std::uint64_t bytes_max) {
  // At most two ages are kept whatever happens before those of the last flush go too.
  const std::uint64_t age = age_.load(std::memory_order_relaxed);
  for (std::uint64_t keep = 2; keep > 0 && memory_bytes() > bytes_max; --keep) {
    if (age >= keep) {
      EvictUnusedSince(age - keep + 1);
    }
  }
}

void Registry::EvictUnusedSince(std::uint64_t age) {
  evictions_.fetch_add(1, std::memory_order_release);
  std::vector<RegistryEntryPtr> idle;
  for (IdShard& shard : id_shards_) {
    idle.clear();
    {
      WriteLock lock(shard.mutex);
      for (auto it = shard.by_id.begin(); it != shard.by_id.end();) {
        if (it->second->used.load(std::memory_order_relaxed) < age &&
            it->second->state.load(std::memory_order_acquire) == RegistryEntry::State::kLive) {
          idle.push_back(std::move(it->second));
          it = shard.by_id.erase(it);
        } else {
          ++it;
        }
      }
    }
    for (const RegistryEntryPtr& entry : idle) {
      Forget(entry);
    }
  }
}

}  // namespace tsdb::engine
