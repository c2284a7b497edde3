// DecidedTable: effects a batch has so far, by series and time: a flat hash table that lives for one batch.
//
// Thread safety: none; one per batch.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tsdb/types.h"

namespace tsdb::engine {

class DecidedTable {
 public:
  /// Forgets everything and makes room for `samples` entries, the most that may be set.
  void Reset(std::size_t samples) {
    const std::size_t slots = std::bit_ceil(samples * 2 + 2);
    slots_.assign(slots, Slot{});
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(slots));
  }

  std::optional<double> Find(SeriesId id, Timestamp time) const {
    const Slot& slot = slots_[Position(id, time)];
    return slot.id == 0 ? std::nullopt : std::optional<double>(slot.value);
  }

  void Set(SeriesId id, Timestamp time, double value) { slots_[Position(id, time)] = {id.value, time, value}; }

 private:
  struct Slot {
    std::uint64_t id = 0;  // 0: free
    Timestamp time = 0;
    double value = 0;
  };
  /// The slot that holds the pair, or the free one where it belongs. The table is at most half full.
  std::size_t Position(SeriesId id, Timestamp time) const {
    const std::uint64_t mixed =
        (id.value * 0x9E3779B97F4A7C15ull) ^ (static_cast<std::uint64_t>(time) * 0xC2B2AE3D27D4EB4Full);
    std::size_t i = (mixed * 0x9E3779B97F4A7C15ull) >> shift_;
    while (slots_[i].id != 0 && !(slots_[i].id == id.value && slots_[i].time == time)) {
      i = (i + 1) & (slots_.size() - 1);
    }
    return i;
  }

  std::vector<Slot> slots_;
  unsigned shift_ = 0;
};

}  // namespace tsdb::engine
