// SlotTable: hash → slot number, open addressing, 8 bytes an entry. Only the low 32 bits of the hash are kept: the
// caller checks the slot it gets. Several slots may share a hash. Entries are never removed.
//
// Thread safety: none; const functions may run together.
#pragma once

#include <cstdint>
#include <vector>

namespace tsdb::index {

class SlotTable {
 public:
  void Insert(std::uint64_t hash, std::uint32_t slot) {
    if ((count_ + 1) * 4 > entries_.size() * 3) {
      Grow();
    }
    Place({Tag(hash), slot});
    ++count_;
  }

  /// Calls accept(slot) for the slots that may have this hash until it returns true; false when none did.
  template <typename Accept>
  bool Find(std::uint64_t hash, Accept&& accept) const {
    if (entries_.empty()) {
      return false;
    }
    const std::uint32_t tag = Tag(hash);
    for (std::size_t i = tag & (entries_.size() - 1); entries_[i].tag != 0; i = (i + 1) & (entries_.size() - 1)) {
      if (entries_[i].tag == tag && accept(entries_[i].slot)) {
        return true;
      }
    }
    return false;
  }

  /// Puts `slot` in the place of the slot with this hash that accept(slot) takes; false when there is none.
  template <typename Accept>
  bool Replace(std::uint64_t hash, std::uint32_t slot, Accept&& accept) {
    if (entries_.empty()) {
      return false;
    }
    const std::uint32_t tag = Tag(hash);
    for (std::size_t i = tag & (entries_.size() - 1); entries_[i].tag != 0; i = (i + 1) & (entries_.size() - 1)) {
      if (entries_[i].tag == tag && accept(entries_[i].slot)) {
        entries_[i].slot = slot;
        return true;
      }
    }
    return false;
  }

  std::uint64_t bytes() const { return entries_.size() * sizeof(Entry); }

 private:
  struct Entry {
    std::uint32_t tag = 0;  // 0: free
    std::uint32_t slot = 0;
  };

  static std::uint32_t Tag(std::uint64_t hash) {
    const auto low = static_cast<std::uint32_t>(hash);
    return low == 0 ? 1 : low;
  }
  void Place(Entry entry) {
    std::size_t i = entry.tag & (entries_.size() - 1);
    while (entries_[i].tag != 0) {
      i = (i + 1) & (entries_.size() - 1);
    }
    entries_[i] = entry;
  }
  void Grow() {
    std::vector<Entry> old(entries_.empty() ? 16 : entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.tag != 0) {
        Place(entry);
      }
    }
  }

  std::vector<Entry> entries_;  // size a power of two
  std::size_t count_ = 0;
};

}  // namespace tsdb::index
