// Registry: the series in use, in memory: identity → entry, id → entry. What is not here may still be in the index.
//
// An entry begins as kOrdered (its definition has a commit number but is not written yet) and becomes kLive when the
// definition is applied, or disappears when its record failed.
//
// Memory per entry: about 100 bytes and the encoded labels.
//
// Thread safety: thread-safe. Entries live as long as the registry; their constant members may be read without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"
#include "base/series_definition.h"
#include "tsdb/labels.h"
#include "tsdb/types.h"

namespace tsdb::engine {

struct RegistryEntry {
  enum class State : std::uint8_t { kOrdered, kLive, kFailed };

  SeriesId id;
  bool created_by_key = false;
  SeriesSettings settings;
  /// EncodeIdentity of the labels, or the key of a series created by key.
  std::string identity;
  /// Hash of the labels of a series created by labels.
  LabelsHash hash;
  /// Release in the drain of definitions, acquire by readers.
  std::atomic<State> state{State::kLive};
};

/// Length-prefixed sorted pairs: equal label sets give equal bytes.
std::string EncodeIdentity(const Labels& labels);

class Registry {
 public:
  /// nullptr when not in memory. Entries whose definition failed are never found.
  RegistryEntry* FindByLabels(const LabelsHash& hash, std::string_view identity) const;
  RegistryEntry* FindByKey(std::string_view key) const;
  RegistryEntry* FindById(SeriesId id) const;

  /// Adds a series; when another thread added its id meanwhile, that entry comes back.
  RegistryEntry* Insert(const SeriesDefinition& definition, RegistryEntry::State state);
  /// Forgets an entry whose record failed. The object stays until the registry ends, for those who still look at it.
  void Remove(RegistryEntry* entry);

  std::uint64_t size() const { return size_.load(std::memory_order_relaxed); }
  std::uint64_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kShards = 16;
  struct HashOfHash {
    std::size_t operator()(const LabelsHash& hash) const { return static_cast<std::size_t>(hash.low); }
  };
  struct IdentityShard {
    mutable SharedMutex mutex;  // guards the maps of this shard; leaf lock
    std::unordered_map<LabelsHash, RegistryEntry*, HashOfHash> by_labels TSDB_GUARDED_BY(mutex);
    std::unordered_map<std::string, RegistryEntry*> by_key TSDB_GUARDED_BY(mutex);
  };
  struct IdShard {
    mutable SharedMutex mutex;  // guards by_id of this shard; leaf lock
    std::unordered_map<std::uint64_t, std::unique_ptr<RegistryEntry>> by_id TSDB_GUARDED_BY(mutex);
  };
  IdentityShard& ShardOfKey(std::string_view key) const;
  IdShard& ShardOfId(SeriesId id) const { return id_shards_[(id.value >> 4) % kShards]; }

  mutable std::array<IdentityShard, kShards> identity_shards_;
  mutable std::array<IdShard, kShards> id_shards_;
  std::atomic<std::uint64_t> size_{0};
  std::atomic<std::uint64_t> memory_bytes_{0};
};

}  // namespace tsdb::engine
