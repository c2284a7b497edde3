// Version: one immutable picture of the database: the mutable generation, the sealed ones, the files.
//
//   Version ─► mutable generation      (its stripes' locks say what of it is seen)
//           ├► sealed generations, oldest first
//           ├► chunk files, ascending by last commit
//           └► deletes that files are read under
//
// Swapped once per cut and once per manifest edit. A reader pins it once and sees each sample once.
//
// Thread safety: a Version is immutable; VersionHolder is thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "chunk/chunk_file.h"
#include "chunk/tombstone.h"
#include "engine/head/generation.h"

namespace tsdb::engine {

using ChunkFilePtr = std::shared_ptr<const chunk::ChunkFileReader>;

struct Version {
  std::shared_ptr<Generation> mutable_generation;
  std::vector<std::shared_ptr<Generation>> sealed;
  std::vector<ChunkFilePtr> files;
  /// Deletes of generations that are in files by now; those of the others stand in the generations.
  std::shared_ptr<const chunk::TombstoneSet> tombstones = std::make_shared<const chunk::TombstoneSet>();
  // Files the manifest names that were damaged or gone when they were to be opened.
  std::uint64_t files_skipped = 0;
  std::uint64_t samples_skipped = 0;
};

/// Orders the files as they are read: oldest first, by last commit.
void SortFiles(Version* version);

using VersionPtr = std::shared_ptr<const Version>;

class VersionHolder {
 public:
  /// The current version, kept alive by the pointer.
  VersionPtr Pin() const {
    MutexLock lock(mutex_);
    return current_;
  }
  void Set(VersionPtr version) {
    MutexLock lock(mutex_);
    raw_.store(version.get(), std::memory_order_release);
    current_.swap(version);
  }
  /// For a forked child, where no lock may be taken: the version at the time of the fork. Acquire, pairs with Set.
  const Version* raw() const { return raw_.load(std::memory_order_acquire); }

 private:
  mutable Mutex mutex_;  // guards current_; leaf lock
  VersionPtr current_ TSDB_GUARDED_BY(mutex_);
  std::atomic<const Version*> raw_{nullptr};
};

}  // namespace tsdb::engine
