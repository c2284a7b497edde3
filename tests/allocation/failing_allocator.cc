#include "tests/allocation/failing_allocator.h"

#include <cstdlib>
#include <new>

namespace tsdb::allocation_test {
namespace {

struct State {
  std::uint64_t left = 0;  // allocations until the one that fails
  bool armed = false;
  bool for_good = false;
  bool failed = false;
  int grants = 0;
};
thread_local State state;

}  // namespace

FailingAllocator::FailingAllocator(std::uint64_t first, bool for_good) {
  state = {first, true, for_good, false, 0};
}
FailingAllocator::~FailingAllocator() { state.armed = false; }
bool FailingAllocator::has_failed() const { return state.failed; }

Grant::Grant() { ++state.grants; }
Grant::~Grant() { --state.grants; }

bool AllocationFails() {
  if (!state.armed || state.grants != 0) {
    return false;
  }
  if (state.failed) {
    return state.for_good;
  }
  state.failed = --state.left == 0;
  return state.failed;
}

}  // namespace tsdb::allocation_test

namespace {

void* Allocate(std::size_t bytes) noexcept {
  return tsdb::allocation_test::AllocationFails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}

void* AllocateOrThrow(std::size_t bytes) {
  void* const memory = Allocate(bytes);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return AllocateOrThrow(bytes); }
void* operator new[](std::size_t bytes) { return AllocateOrThrow(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" void* __libc_realloc(void* memory, std::size_t bytes);
// Head chunks grow by it.
extern "C" void* realloc(void* memory, std::size_t bytes) {
  return tsdb::allocation_test::AllocationFails() ? nullptr : __libc_realloc(memory, bytes);
}
#endif
