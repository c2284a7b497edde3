#include "ingest/series_cache.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tsdb::ingest {
namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;
constexpr std::size_t kPlacesMin = 1024;
/// A prefix with more fields than this finds them by hash; fewer are compared one by one.
constexpr std::uint32_t kChainMax = 16;

std::uint64_t Hash(std::string_view text, std::uint64_t seed) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

}  // namespace

void SeriesCache::Table::Clear() {
  places_.assign(kPlacesMin, Place{});
  places_.shrink_to_fit();
  mask_ = kPlacesMin - 1;
  count_ = 0;
}

void SeriesCache::Table::Put(std::uint64_t hash, std::uint32_t number) {
  std::size_t i = hash & mask_;
  while (places_[i].number != kNone) {
    i = (i + 1) & mask_;
  }
  places_[i] = {hash, number};
}

void SeriesCache::Table::Insert(std::uint64_t hash, std::uint32_t number) {
  if ((count_ + 1) * 2 > places_.size()) {
    std::vector<Place> old(places_.size() * 2);
    old.swap(places_);
    mask_ = places_.size() - 1;
    for (const Place& place : old) {
      if (place.number != kNone) {
        Put(place.hash, place.number);
      }
    }
  }
  Put(hash, number);
  ++count_;
}

SeriesCache::SeriesCache() = default;

std::uint32_t SeriesCache::FindPrefix(std::string_view prefix) {
  const std::uint64_t hash = Hash(prefix, 0);
  const std::uint32_t found =
      prefix_table_.Find(hash, [&](std::uint32_t number) { return prefix_text(number) == prefix; });
  if (found != kNone) {
    return found;
  }
  const auto number = static_cast<std::uint32_t>(prefixes_.size());
  Prefix added;
  added.text = Keep(prefix);
  added.size = static_cast<std::uint32_t>(prefix.size());
  added.hash = hash;
  prefixes_.push_back(added);
  prefix_table_.Insert(hash, number);
  return number;
}

std::uint64_t SeriesCache::FieldHash(std::uint32_t prefix, std::string_view field) const {
  return Hash(field, prefixes_[prefix].hash);
}

std::uint32_t SeriesCache::FindField(std::uint32_t prefix, std::string_view field) {
  Prefix& owner = prefixes_[prefix];
  if (owner.slot_count <= kChainMax) {
    for (std::uint32_t i = owner.first_slot; i != kNone; i = slots_[i].next) {
      if (slots_[i].field_text() == field) {
        return i;
      }
    }
  } else {
    const std::uint32_t found = field_table_.Find(FieldHash(prefix, field), [&](std::uint32_t i) {
      return slots_[i].prefix == prefix && slots_[i].field_text() == field;
    });
    if (found != kNone) {
      return found;
    }
  }
  const auto number = static_cast<std::uint32_t>(slots_.size());
  Slot added;
  added.field = Keep(field);
  added.field_size = static_cast<std::uint32_t>(field.size());
  added.prefix = prefix;
  slots_.push_back(added);
  if (owner.first_slot == kNone) {
    owner.first_slot = number;
  } else {
    slots_[owner.last_slot].next = number;
  }
  owner.last_slot = number;
  ++owner.slot_count;
  if (owner.slot_count == kChainMax + 1) {
    for (std::uint32_t i = owner.first_slot; i != kNone; i = slots_[i].next) {
      field_table_.Insert(FieldHash(prefix, slots_[i].field_text()), i);
    }
  } else if (owner.slot_count > kChainMax) {
    field_table_.Insert(FieldHash(prefix, field), number);
  }
  return number;
}

const char* SeriesCache::Keep(std::string_view text) {
  if (text.size() > kBlockBytes / 4) {
    blocks_.push_back(std::make_unique<char[]>(text.size()));
    std::memcpy(blocks_.back().get(), text.data(), text.size());
    text_bytes_ += text.size();
    return blocks_.back().get();
  }
  if (block_ == nullptr || text.size() > block_left_) {
    blocks_.push_back(std::make_unique<char[]>(kBlockBytes));
    block_ = blocks_.back().get();
    block_left_ = kBlockBytes;
    text_bytes_ += kBlockBytes;
  }
  char* kept = block_;
  if (!text.empty()) {
    std::memcpy(kept, text.data(), text.size());
  }
  block_ += text.size();
  block_left_ -= text.size();
  return kept;
}

std::size_t SeriesCache::bytes() const {
  return text_bytes_ + prefixes_.capacity() * sizeof(Prefix) + slots_.capacity() * sizeof(Slot) +
         prefix_table_.bytes() + field_table_.bytes();
}

void SeriesCache::Clear() {
  prefixes_ = {};
  slots_ = {};
  prefix_table_.Clear();
  field_table_.Clear();
  blocks_.clear();
  block_ = nullptr;
  block_left_ = 0;
  text_bytes_ = 0;
}

}  // namespace tsdb::ingest
