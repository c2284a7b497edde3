#include "base/id_set.h"

#include <algorithm>
#include <array>

namespace tsdb {

void IdSet::AddBlock(std::uint64_t block, std::span<const std::uint16_t> lows) {
  const std::uint64_t base = block << 16;
  Roaring& part = parts_[High(base)];
  if (lows.size() == 1) {
    part.add(Low(base) | lows[0]);
    return;
  }
  std::array<std::uint32_t, 1024> numbers;
  for (std::size_t begin = 0; begin < lows.size(); begin += numbers.size()) {
    const std::size_t count = std::min(numbers.size(), lows.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      numbers[i] = Low(base) | lows[begin + i];
    }
    part.addMany(count, numbers.data());
  }
}

void IdSet::AddRange(std::uint64_t first, std::uint64_t last) {
  while (first <= last) {
    const std::uint64_t part_last = first | 0xFFFFFFFFull;
    const std::uint64_t end = std::min(last, part_last);
    parts_[High(first)].addRange(Low(first), std::uint64_t{Low(end)} + 1);
    if (end == last) {
      return;
    }
    first = end + 1;
  }
}

void IdSet::AddMany(std::span<const std::uint32_t> numbers) {
  if (!numbers.empty()) {
    parts_[0].addMany(numbers.size(), numbers.data());
  }
}

void IdSet::Remove(std::uint64_t id) {
  if (const auto it = parts_.find(High(id)); it != parts_.end()) {
    it->second.remove(Low(id));
  }
}

bool IdSet::Contains(std::uint64_t id) const {
  const auto it = parts_.find(High(id));
  return it != parts_.end() && it->second.contains(Low(id));
}

bool IdSet::empty() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part.second.isEmpty(); });
}

std::uint64_t IdSet::Count() const {
  std::uint64_t count = 0;
  for (const auto& [high, part] : parts_) {
    count += part.cardinality();
  }
  return count;
}

std::uint64_t IdSet::CountInBlock(std::uint64_t block) const {
  const std::uint64_t base = block << 16;
  const auto it = parts_.find(High(base));
  if (it == parts_.end()) {
    return 0;
  }
  const std::uint32_t low = Low(base);
  return it->second.rank(low | 0xFFFFu) - (low == 0 ? 0 : it->second.rank(low - 1));
}

std::uint64_t IdSet::CountShared(const IdSet& other) const {
  std::uint64_t count = 0;
  for (const auto& [high, part] : parts_) {
    if (const auto it = other.parts_.find(high); it != other.parts_.end()) {
      count += part.and_cardinality(it->second);
    }
  }
  return count;
}

IdSet& IdSet::operator|=(const IdSet& other) {
  for (const auto& [high, part] : other.parts_) {
    parts_[high] |= part;
  }
  return *this;
}

IdSet& IdSet::operator&=(const IdSet& other) {
  for (auto it = parts_.begin(); it != parts_.end();) {
    if (const auto match = other.parts_.find(it->first); match != other.parts_.end()) {
      it->second &= match->second;
      ++it;
    } else {
      it = parts_.erase(it);
    }
  }
  return *this;
}

IdSet& IdSet::operator-=(const IdSet& other) {
  for (auto& [high, part] : parts_) {
    if (const auto match = other.parts_.find(high); match != other.parts_.end()) {
      part -= match->second;
    }
  }
  return *this;
}

std::vector<std::uint64_t> IdSet::ToVector() const {
  std::vector<std::uint64_t> members;
  members.reserve(Count());
  ForEach([&](std::uint64_t id) { members.push_back(id); });
  return members;
}

void IdSet::Optimize() {
  for (auto& [high, part] : parts_) {
    part.runOptimize();
  }
}

}  // namespace tsdb
