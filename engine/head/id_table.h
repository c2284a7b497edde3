// IdTable: open-addressing map from series id to a pointer; 16 bytes a slot, linear probing, no erase.
//
// Thread safety: guarded by its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tsdb/types.h"

namespace tsdb::engine {

template <typename T>
class IdTable {
 public:
  /// nullptr when the id is not there.
  T* Find(SeriesId id) const {
    if (slots_.empty()) {
      return nullptr;
    }
    for (std::size_t i = Home(id);; i = (i + 1) & mask_) {
      if (slots_[i].id == id.value) {
        return slots_[i].pointer;
      }
      if (slots_[i].id == 0) {
        return nullptr;
      }
    }
  }

  /// Brings the slot's cache line near before a Find.
  void Prefetch(SeriesId id) const {
    if (!slots_.empty()) {
      __builtin_prefetch(&slots_[Home(id)]);
    }
  }

  /// `id` must not be there.
  void Insert(SeriesId id, T* pointer) {
    if ((size_ + 1) * 4 > slots_.size() * 3) {
      Grow();
    }
    Place(id.value, pointer);
    ++size_;
  }

  std::size_t size() const { return size_; }
  std::size_t memory_bytes() const { return slots_.size() * sizeof(Slot); }

 private:
  struct Slot {
    std::uint64_t id = 0;
    T* pointer = nullptr;
  };

  std::size_t Home(SeriesId id) const {
    return static_cast<std::size_t>((id.value * 0x9E3779B97F4A7C15ull) >> shift_) & mask_;
  }
  void Place(std::uint64_t id, T* pointer) {
    std::size_t i = Home(SeriesId{id});
    while (slots_[i].id != 0) {
      i = (i + 1) & mask_;
    }
    slots_[i] = {id, pointer};
  }
  void Grow() {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 16 : slots_.size() * 2));
    mask_ = slots_.size() - 1;
    shift_ = 64 - static_cast<unsigned>(__builtin_ctzll(slots_.size()));
    for (const Slot& slot : old) {
      if (slot.id != 0) {
        Place(slot.id, slot.pointer);
      }
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
};

}  // namespace tsdb::engine
