// FailingAllocator: lets the n-th allocation of the calling thread fail, once or from then on. This binary's operator
// new and realloc ask it.
//
// Thread safety: everything here belongs to the calling thread.
#pragma once

#include <cstdint>

namespace tsdb::allocation_test {

/// Armed while it lives.
class FailingAllocator {
 public:
  FailingAllocator(std::uint64_t first, bool for_good);
  ~FailingAllocator();
  FailingAllocator(const FailingAllocator&) = delete;
  FailingAllocator& operator=(const FailingAllocator&) = delete;
  /// Whether an allocation failed so far.
  bool has_failed() const;
};

/// Allocations are granted while it lives: for what stands in for the operating system and for RocksDB.
class Grant {
 public:
  Grant();
  ~Grant();
  Grant(const Grant&) = delete;
  Grant& operator=(const Grant&) = delete;
};

/// What a test needs itself while the allocator is armed.
template <typename Make>
auto Granted(const Make& make) {
  const Grant grant;
  return make();
}

/// Counts one allocation and says whether it is to fail.
bool AllocationFails();

}  // namespace tsdb::allocation_test
