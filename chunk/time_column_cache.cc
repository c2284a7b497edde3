#include "chunk/time_column_cache.h"

#include <algorithm>

namespace tsdb::chunk {

namespace {

/// Holds a flag if it was free.
class TryHold {
 public:
  explicit TryHold(std::atomic_flag& flag) : flag_(flag), held_(!flag.test_and_set(std::memory_order_acquire)) {}
  ~TryHold() {
    if (held_) {
      flag_.clear(std::memory_order_release);
    }
  }
  TryHold(const TryHold&) = delete;
  TryHold& operator=(const TryHold&) = delete;
  bool held() const { return held_; }

 private:
  std::atomic_flag& flag_;
  const bool held_;
};

}  // namespace

TimeColumnCache::Column TimeColumnCache::Find(std::uint64_t offset) {
  const TryHold hold(busy_);
  if (hold.held()) {
    for (Slot& slot : slots_) {
      if (slot.offset == offset && slot.used != 0) {
        slot.used = ++clock_;
        return slot.column;
      }
    }
  }
  return nullptr;
}

void TimeColumnCache::Insert(std::uint64_t offset, std::span<const Timestamp> times) {
  Column column = std::make_shared<const std::vector<Timestamp>>(times.begin(), times.end());
  const TryHold hold(busy_);
  if (!hold.held()) {
    return;
  }
  const auto same = std::ranges::find(slots_, offset, &Slot::offset);
  Slot& slot = same != slots_.end() ? *same : *std::ranges::min_element(slots_, {}, &Slot::used);
  const std::uint64_t before = slot.column == nullptr ? 0 : slot.column->size() * sizeof(Timestamp);
  bytes_.fetch_add(times.size_bytes() - before, std::memory_order_relaxed);
  slot.offset = offset;
  slot.used = ++clock_;
  column.swap(slot.column);  // the old one is freed after the hold
}

}  // namespace tsdb::chunk
