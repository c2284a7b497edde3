// TimeColumnCache: the time columns a chunk file reader decoded lately, because series that were scraped together share
// them.
//
//   offset of the column ──► times        the one not used for longest gives way
//
// It never waits: who finds it in use does without. So readers do not queue up, and a forked child cannot hang on it.
//
// Thread safety: thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tsdb/types.h"

namespace tsdb::chunk {

class TimeColumnCache {
 public:
  using Column = std::shared_ptr<const std::vector<Timestamp>>;

  /// The column at a file offset; null when it is not here (or the cache is in use).
  Column Find(std::uint64_t offset);
  /// Remembers the column, and returns it.
  Column Insert(std::uint64_t offset, std::vector<Timestamp> times);
  std::uint64_t memory_bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Slot {
    std::uint64_t offset = 0;
    std::uint64_t used = 0;  // 0: empty
    Column column;
  };

  std::atomic<std::uint64_t> bytes_{0};
  std::atomic_flag busy_;  // held (acquire, release) around what follows
  std::array<Slot, 32> slots_;
  std::uint64_t clock_ = 0;
};

}  // namespace tsdb::chunk
