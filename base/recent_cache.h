// RecentCache: values by key, as many as fit into a number of bytes; who was not asked for longest gives way.
//
//   key ─► shard ─► map ─► list, the one used last in front
//
// Thread safety: thread-safe. Leaf locks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"

namespace tsdb {

/// `Value`: cheap to copy and empty by default, as a shared_ptr is.
template <typename Key, typename Value, typename Hash = std::hash<Key>>
class RecentCache {
 public:
  explicit RecentCache(std::uint64_t bytes_max) : shard_bytes_max_(bytes_max / kShards) {}

  /// An empty value when it is not here.
  Value Find(const Key& key) {
    Shard& shard = ShardOf(key);
    MutexLock lock(shard.mutex);
    const auto found = shard.by_key.find(key);
    if (found == shard.by_key.end()) {
      return Value();
    }
    shard.recent.splice(shard.recent.begin(), shard.recent, found->second);
    return found->second->value;
  }

  /// Remembers a value of about so many bytes unless the key has one. Throws std::bad_alloc with the cache as before.
  void Insert(const Key& key, Value value, std::uint64_t bytes) {
    std::list<Entry> gone;  // freed behind the lock
    bytes += kOverheadBytes;
    if (bytes > shard_bytes_max_) {
      return;
    }
    std::list<Entry> fresh;
    fresh.push_back({key, std::move(value), bytes});
    Shard& shard = ShardOf(key);
    MutexLock lock(shard.mutex);
    if (!shard.by_key.emplace(key, fresh.begin()).second) {
      return;
    }
    shard.recent.splice(shard.recent.begin(), fresh);
    shard.bytes += bytes;
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    while (shard.bytes > shard_bytes_max_) {
      const auto last = std::prev(shard.recent.end());
      shard.bytes -= last->bytes;
      bytes_.fetch_sub(last->bytes, std::memory_order_relaxed);
      shard.by_key.erase(last->key);
      gone.splice(gone.begin(), shard.recent, last);
    }
  }

  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kShards = 8;
  /// Of list and map, per entry.
  static constexpr std::uint64_t kOverheadBytes = 96 + 2 * sizeof(Key);

  struct Entry {
    Key key;
    Value value;
    std::uint64_t bytes = 0;
  };
  struct Shard {
    Mutex mutex;  // guards what follows; leaf lock
    std::list<Entry> recent TSDB_GUARDED_BY(mutex);
    std::unordered_map<Key, typename std::list<Entry>::iterator, Hash> by_key TSDB_GUARDED_BY(mutex);
    std::uint64_t bytes TSDB_GUARDED_BY(mutex) = 0;
  };

  Shard& ShardOf(const Key& key) {
    // The high bits of a product: neighbouring keys, whose hash may be themselves, go to all shards.
    return shards_[(static_cast<std::uint64_t>(Hash()(key)) * 0x9E3779B97F4A7C15ull) >> 61];
  }

  const std::uint64_t shard_bytes_max_;
  std::array<Shard, kShards> shards_;
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace tsdb
