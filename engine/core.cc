#include "engine/core.h"

#include <algorithm>
#include <new>
#include <utility>

namespace tsdb::engine {

Environment SystemEnvironment() {
  Environment environment;
  environment.fs = &PosixFileSystem();
  environment.clock = &SystemClock();
  environment.open_index = &index::OpenRocksIndex;
  environment.open_index_read_only = &index::OpenRocksIndexReadOnly;
  return environment;
}

void Core::LogFailure(LogLevel level, const char* what, const Status& status) const {
  try {
    Log(level, std::string(what) + ": " + status.ToString());
  } catch (const std::bad_alloc&) {
    Log(level, what);
  }
}

bool Core::RunForQuery(std::function<void()> task) {
  try {
    MutexLock query_threads_lock(query_threads_mutex);
    if (query_threads == nullptr) {
      auto pool = ThreadPool::Create(ProcessorCount());
      if (!pool.ok()) {
        return false;
      }
      query_threads = std::move(*pool);
    }
    query_threads->Submit(std::move(task));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::int64_t Core::HeadBytes() const {
  const VersionPtr version = versions.Pin();
  std::int64_t bytes = version->mutable_generation->memory_bytes();
  for (const auto& generation : version->sealed) {
    bytes += generation->memory_bytes();
  }
  return bytes;
}

MemoryUse Core::Memory() const {
  MemoryUse use;
  use.head = std::max<std::int64_t>(0, HeadBytes());
  use.registry = static_cast<std::int64_t>(registry.memory_bytes());
  use.index = static_cast<std::int64_t>(index->cache_bytes());
  const VersionPtr version = versions.Pin();
  use.files = static_cast<std::int64_t>(directory_blocks.memory_bytes());
  for (const ChunkFilePtr& file : version->files) {
    use.files += static_cast<std::int64_t>(file->memory_bytes());
  }
  return use;
}

void Core::RefreshMemory() {
  const std::uint64_t registry_max = options.memory_bytes_max / 4;
  if (registry.memory_bytes() > registry_max) {
    MutexLock order(definition_order_mutex);
    registry.Evict(registry_max);
  }
  const MemoryUse use = Memory();
  fixed_memory_bytes.store(use.total() - use.head, std::memory_order_relaxed);
}

std::int64_t Core::FlushThreshold() const {
  const auto budget = static_cast<std::int64_t>(std::min<std::uint64_t>(options.memory_bytes_max, 1ull << 62));
  return std::max<std::int64_t>(
      1, std::max(budget / 4, budget - fixed_memory_bytes.load(std::memory_order_relaxed)) / 2);
}

bool Core::FlushIsDue() const {
  const VersionPtr version = versions.Pin();
  if (!version->sealed.empty() || wal_bytes_since_cut.load(std::memory_order_relaxed) >= options.wal_bytes_max ||
      version->mutable_generation->memory_bytes() >= FlushThreshold()) {
    return true;
  }
  const std::int64_t age_nanos = clock->MonotonicNanos() - last_cut_nanos.load(std::memory_order_relaxed);
  const bool old = age_nanos / 1'000'000 >= static_cast<std::int64_t>(options.flush_interval_ms);
  return old &&
         (version->mutable_generation->samples() != 0 || wal_bytes_since_cut.load(std::memory_order_relaxed) != 0);
}

}  // namespace tsdb::engine
