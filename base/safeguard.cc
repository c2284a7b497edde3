#include "base/safeguard.h"

#if !defined(NDEBUG)

#include <atomic>

namespace tsdb {
namespace {

std::atomic<const char*> switched_off{nullptr};

}  // namespace

void SwitchSafeguardOff(const char* name) { switched_off.store(name, std::memory_order_release); }

bool SafeguardIsOff(std::string_view name) {
  const char* const off = switched_off.load(std::memory_order_acquire);
  return off != nullptr && name == off;
}

}  // namespace tsdb

#endif
