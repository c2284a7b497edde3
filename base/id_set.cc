#include "base/id_set.h"

#include <algorithm>
#include <array>
#include <utility>

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

std::uint64_t IdSet::bytes() const {
  std::uint64_t bytes = sizeof *this;
  for (const auto& [high, part] : parts_) {
    bytes += 96 + part.getSizeInBytes();
  }
  return bytes;
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

void EncodeIds(const IdSet& ids, std::string* out) {
  std::uint64_t runs = 0;
  std::string bytes;
  std::uint64_t first = 0;
  std::uint64_t last = 0;   // of the run at hand; 0: none
  std::uint64_t ended = 0;  // last id of the run before
  const auto put_run = [&] {
    ++runs;
    PutVarint(&bytes, first - ended);
    PutVarint(&bytes, last - first);
    ended = last;
  };
  ids.ForEach([&](std::uint64_t id) {
    if (last != 0 && id == last + 1) {
      last = id;
      return;
    }
    if (last != 0) {
      put_run();
    }
    first = last = id;
  });
  if (last != 0) {
    put_run();
  }
  PutVarint(out, runs);
  out->append(bytes);
}

bool DecodeIds(ByteReader* reader, IdSet* ids) {
  std::uint64_t runs = 0;
  // A run takes at least 2 bytes.
  if (!reader->ReadVarint(&runs) || runs > reader->remaining() / 2) {
    return reader->Fail();
  }
  IdSet decoded;
  std::uint64_t last = 0;
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < runs; ++i) {
    std::uint64_t distance = 0;
    std::uint64_t length = 0;
    if (!reader->ReadVarint(&distance) || !reader->ReadVarint(&length)) {
      return false;
    }
    // Neighbouring runs would be one. A set of all that may be takes about 2 MiB: bytes cannot make us allocate more.
    constexpr std::uint64_t kCountMax = std::uint64_t{1} << 32;
    constexpr std::uint64_t kIdMax = std::uint64_t{1} << 62;
    if (distance == 0 || (i != 0 && distance == 1) || distance > kIdMax - last || length >= kCountMax - count ||
        length > kIdMax - last - distance) {
      return reader->Fail();
    }
    count += length + 1;
    const std::uint64_t first = last + distance;
    last = first + length;
    decoded.AddRange(first, last);
  }
  *ids = std::move(decoded);
  return true;
}

}  // namespace tsdb
