// SeriesCache: raw bytes of a text that name a series -> slot with its SeriesRef, so that labels are parsed, sorted and
// hashed once per series instead of once per line.
//
//   prefix  "cpu,host=a,region=eu"      one hash look-up per line
//      |-- slot  field "usage_user"     fields of a prefix form a chain in the order of first sight; a parser guesses
//      |-- slot  field "usage_system"   that they come in the same order again, which costs one memcmp per field
//
// Two spellings of one series are two slots that end up with the same ref. Memory is bounded by its owner, which asks
// bytes() and calls Clear() when no slot number is in use.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace tsdb::ingest {

class SeriesCache {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  struct Slot {
    const char* field = nullptr;
    std::uint32_t field_size = 0;
    std::uint32_t prefix = kNone;
    std::uint32_t next = kNone;  // of the same prefix
    /// The label set this slot has in the batch numbered `batch`.
    std::uint32_t local = 0;
    std::uint64_t batch = 0;
    /// SeriesId::value, 0 while not resolved.
    std::uint64_t ref = 0;

    std::string_view field_text() const { return {field, field_size}; }
  };

  SeriesCache();

  /// Number of the prefix, added when it is not there.
  std::uint32_t FindPrefix(std::string_view prefix);
  std::string_view prefix_text(std::uint32_t prefix) const { return {prefixes_[prefix].text, prefixes_[prefix].size}; }
  std::uint32_t first_slot(std::uint32_t prefix) const { return prefixes_[prefix].first_slot; }

  /// Slot of a field of the prefix, added when it is not there.
  std::uint32_t FindField(std::uint32_t prefix, std::string_view field);
  /// Slot of a prefix that alone names a series.
  std::uint32_t FindOnly(std::string_view prefix) {
    const std::uint32_t number = FindPrefix(prefix);
    const std::uint32_t slot = prefixes_[number].first_slot;
    return slot != kNone ? slot : FindField(number, {});
  }

  Slot& slot(std::uint32_t number) { return slots_[number]; }
  std::size_t slot_count() const { return slots_.size(); }

  std::size_t bytes() const;
  void Clear();

 private:
  struct Prefix {
    const char* text = nullptr;
    std::uint32_t size = 0;
    std::uint32_t first_slot = kNone;
    std::uint32_t last_slot = kNone;
    std::uint32_t slot_count = 0;
    std::uint64_t hash = 0;
  };
  /// Open addressing, linear probing; number kNone marks a free place.
  struct Place {
    std::uint64_t hash = 0;
    std::uint32_t number = kNone;
  };
  class Table {
   public:
    Table() { Clear(); }
    template <typename Equal>
    std::uint32_t Find(std::uint64_t hash, const Equal& equal) const {
      for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
        if (places_[i].number == kNone) {
          return kNone;
        }
        if (places_[i].hash == hash && equal(places_[i].number)) {
          return places_[i].number;
        }
      }
    }
    void Insert(std::uint64_t hash, std::uint32_t number);
    std::size_t bytes() const { return places_.capacity() * sizeof(Place); }
    void Clear();

   private:
    void Put(std::uint64_t hash, std::uint32_t number);
    std::vector<Place> places_;
    std::size_t mask_ = 0;
    std::size_t count_ = 0;
  };

  const char* Keep(std::string_view text);
  std::uint64_t FieldHash(std::uint32_t prefix, std::string_view field) const;

  std::vector<Prefix> prefixes_;
  std::vector<Slot> slots_;
  Table prefix_table_;
  Table field_table_;  // only of prefixes with many fields
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* block_ = nullptr;
  std::size_t block_left_ = 0;
  std::size_t text_bytes_ = 0;
};

}  // namespace tsdb::ingest
