#include "chunk/shared_times.h"

#include <cstring>
#include <utility>

#include "base/checksum.h"
#include "chunk/chunk_columns.h"

namespace tsdb::chunk {

namespace {

constexpr std::size_t kColumnsMax = 32 * 1024;
constexpr std::uint64_t kBytesMax = 8ull << 20;

}  // namespace

std::uint64_t SharedTimes::Hash(std::span<const Timestamp> times) {
  return Checksum64({reinterpret_cast<const char*>(times.data()), times.size_bytes()}, 0);
}

const SharedTimes::Column* SharedTimes::Find(std::uint64_t hash, std::span<const Timestamp> times) {
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) {
    return nullptr;
  }
  const Column& column = columns_[static_cast<std::size_t>(found->second - columns_.front().ordinal)];
  if (column.entry.count != times.size()) {
    return nullptr;
  }
  scratch_.resize(times.size());
  if (!DecodeTimeColumn(column.entry, column.data, scratch_.data()).ok() ||
      std::memcmp(scratch_.data(), times.data(), times.size_bytes()) != 0) {
    return nullptr;
  }
  return &column;
}

void SharedTimes::Remember(Column column) {
  bytes_ += column.data.size();
  by_hash_[column.hash] = column.ordinal;
  columns_.push_back(std::move(column));
  while (columns_.size() > kColumnsMax || (bytes_ > kBytesMax && columns_.size() > 1)) {
    const Column& oldest = columns_.front();
    const auto found = by_hash_.find(oldest.hash);
    if (found != by_hash_.end() && found->second == oldest.ordinal) {
      by_hash_.erase(found);
    }
    bytes_ -= oldest.data.size();
    columns_.pop_front();
  }
}

}  // namespace tsdb::chunk
