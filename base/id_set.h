// IdSet: a compressed set of 64-bit numbers (series ids, or slot numbers of an overlay layer): one roaring bitmap per
// high 32 bits.
//
// Thread safety: value type; const functions of one object may run together.
#pragma once

#include <roaring/roaring.hh>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/coding.h"

namespace tsdb {

class IdSet {
 public:
  void Add(std::uint64_t id) { parts_[High(id)].add(Low(id)); }
  /// Adds numbers that share their high 48 bits, `block`; `lows` are their low 16 bits.
  void AddBlock(std::uint64_t block, std::span<const std::uint16_t> lows);
  /// Adds first..last, both included.
  void AddRange(std::uint64_t first, std::uint64_t last);
  void AddMany(std::span<const std::uint32_t> numbers);
  void Remove(std::uint64_t id);

  bool Contains(std::uint64_t id) const;
  bool empty() const;
  std::uint64_t Count() const;
  /// How many members share the high 48 bits `block`.
  std::uint64_t CountInBlock(std::uint64_t block) const;
  /// |*this ∩ other|.
  std::uint64_t CountShared(const IdSet& other) const;

  friend bool operator==(const IdSet& a, const IdSet& b) {
    return a.Count() == b.Count() && a.CountShared(b) == a.Count();
  }

  IdSet& operator|=(const IdSet& other);
  IdSet& operator&=(const IdSet& other);
  IdSet& operator-=(const IdSet& other);

  /// Members in ascending order.
  std::vector<std::uint64_t> ToVector() const;
  template <typename Function>
  void ForEach(Function&& function) const {
    for (const auto& [high, part] : parts_) {
      for (const std::uint32_t low : part) {
        function((std::uint64_t{high} << 32) | low);
      }
    }
  }
  /// About what it takes in memory.
  std::uint64_t bytes() const;
  /// Packs runs of neighbours; worth a call once a set has been filled.
  void Optimize();

 private:
  static std::uint32_t High(std::uint64_t id) { return static_cast<std::uint32_t>(id >> 32); }
  static std::uint32_t Low(std::uint64_t id) { return static_cast<std::uint32_t>(id); }

  std::map<std::uint32_t, Roaring> parts_;
};

/// Ids as runs, the way log and manifest keep them: count, then for each run its distance from the end of the one
/// before (the first id for the first) and its length − 1, all varints.
void EncodeIds(const IdSet& ids, std::string* out);
/// Reads untrusted bytes; false (and reader.ok() false) when they are not such. No id is 0.
bool DecodeIds(ByteReader* reader, IdSet* ids);

}  // namespace tsdb
