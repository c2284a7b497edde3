// FileNumbers: gives each new file of a database its number. Numbers only rise and are never given twice, so that jobs
// that run side by side never meet, and a file whose fate is unknown is never overwritten.
//
// Thread safety: thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

namespace tsdb::compaction {

class FileNumbers {
 public:
  explicit FileNumbers(std::uint64_t next = 1) : next_(next) {}

  std::uint64_t Take() { return next_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t next() const { return next_.load(std::memory_order_relaxed); }
  /// No number below `number` is given from here on.
  void RaiseTo(std::uint64_t number) {
    std::uint64_t next = next_.load(std::memory_order_relaxed);
    while (next < number && !next_.compare_exchange_weak(next, number, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<std::uint64_t> next_;
};

}  // namespace tsdb::compaction
