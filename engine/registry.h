// Registry: the series in use, in memory: identity → entry, id → entry. What is not here may still be in the index.
//
// An entry begins as kOrdered (its definition has a commit number but is not written yet) and becomes kLive when the
// definition is applied, or disappears when its record failed.
//
// Series not used for a while are forgotten when the registry grows beyond its share of the memory budget: the index
// still knows them.
//
// Memory per entry: about 250 bytes and the encoded labels.
//
// Thread safety: thread-safe. An entry lives as long as somebody holds it; its constant members may be read without a
// lock.
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
  /// Age of the registry (see AdvanceAge) when it was last looked up. Relaxed: a hint.
  std::atomic<std::uint64_t> used{0};
};

using RegistryEntryPtr = std::shared_ptr<RegistryEntry>;

/// Length-prefixed sorted pairs: equal label sets give equal bytes.
std::string EncodeIdentity(const Labels& labels);

class Registry {
 public:
  /// nullptr when not in memory. Entries whose definition failed are never found.
  RegistryEntryPtr FindByLabels(const LabelsHash& hash, std::string_view identity) const;
  RegistryEntryPtr FindByKey(std::string_view key) const;
  RegistryEntryPtr FindById(SeriesId id) const;

  /// Adds a series; when another thread added its id meanwhile, that entry comes back. Throws std::bad_alloc with the
  /// registry as before.
  RegistryEntryPtr Insert(const SeriesDefinition& definition, RegistryEntry::State state);
  /// Forgets an entry whose record failed, or whose series was dropped.
  void Remove(const RegistryEntryPtr& entry);
  /// The series has another definition now. Throws std::bad_alloc.
  void Replace(const SeriesDefinition& definition);
  /// An entry for a name alone, as kOrdered: who looks the name up finds it taken. Throws std::bad_alloc.
  RegistryEntryPtr ReserveName(const SeriesDefinition& definition);
  void ForgetName(const RegistryEntryPtr& entry);

  /// One step per flush; entries remember at which age they were used.
  void AdvanceAge() { age_.fetch_add(1, std::memory_order_relaxed); }
  /// Forgets live series unused for the longest time, whole ages at a time, until at most `bytes_max` bytes are left or
  /// only those of the current age are. The caller holds the order lock of definitions: who looked a name up before,
  /// found nothing and is about to define it must look again, see evictions().
  void Evict(std::uint64_t bytes_max);
  /// Rises with every eviction.
  std::uint64_t evictions() const { return evictions_.load(std::memory_order_acquire); }

  std::uint64_t size() const { return size_.load(std::memory_order_relaxed); }
  std::uint64_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kShards = 16;
  struct HashOfHash {
    std::size_t operator()(const LabelsHash& hash) const { return static_cast<std::size_t>(hash.low); }
  };
  struct IdentityShard {
    mutable SharedMutex mutex;  // guards the maps of this shard; leaf lock
    std::unordered_map<LabelsHash, RegistryEntryPtr, HashOfHash> by_labels TSDB_GUARDED_BY(mutex);
    std::unordered_map<std::string_view, RegistryEntryPtr> by_key TSDB_GUARDED_BY(mutex);
  };
  struct IdShard {
    mutable SharedMutex mutex;  // guards by_id of this shard; leaf lock
    std::unordered_map<std::uint64_t, RegistryEntryPtr> by_id TSDB_GUARDED_BY(mutex);
  };
  static std::uint64_t BytesOf(const RegistryEntry& entry);
  void Touch(RegistryEntry& entry) const;
  RegistryEntryPtr MakeEntry(const SeriesDefinition& definition, RegistryEntry::State state) const;
  void AddIdentity(const RegistryEntryPtr& entry);
  void RemoveIdentity(const RegistryEntryPtr& entry);
  void Forget(const RegistryEntryPtr& entry);
  void EvictUnusedSince(std::uint64_t age);
  IdentityShard& ShardOfKey(std::string_view key) const;
  IdShard& ShardOfId(SeriesId id) const { return id_shards_[(id.value >> 4) % kShards]; }

  mutable std::array<IdentityShard, kShards> identity_shards_;
  mutable std::array<IdShard, kShards> id_shards_;
  std::atomic<std::uint64_t> size_{0};
  std::atomic<std::uint64_t> memory_bytes_{0};
  std::atomic<std::uint64_t> age_{1};
  std::atomic<std::uint64_t> evictions_{0};
};

}  // namespace tsdb::engine
