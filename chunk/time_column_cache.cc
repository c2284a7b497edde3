#include "chunk/time_column_cache.h"

#include <algorithm>
#include <utility>

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

TimeColumnCache::Column TimeColumnCache::Insert(std::uint64_t offset, std::vector<Timestamp> times) {
  const Column column = std::make_shared<const std::vector<Timestamp>>(std::move(times));
  Column replaced;  // freed after the hold
  const TryHold hold(busy_);
  if (!hold.held()) {
    return column;
  }
  const auto same = std::ranges::find(slots_, offset, &Slot::offset);
  Slot& slot = same != slots_.end() ? *same : *std::ranges::min_element(slots_, {}, &Slot::used);
  const std::uint64_t before = slot.column == nullptr ? 0 : slot.column->size() * sizeof(Timestamp);
  bytes_.fetch_add(column->size() * sizeof(Timestamp) - before, std::memory_order_relaxed);
  slot.offset = offset;
  slot.used = ++clock_;
  replaced.swap(slot.column);
  slot.column = column;
  return column;
}

}  // namespace tsdb::chunk
