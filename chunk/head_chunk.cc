#include "chunk/head_chunk.h"

#include <cstdlib>

#include "base/coding.h"

namespace tsdb::chunk {

HeadChunk::HeadChunk() = default;
HeadChunk::~HeadChunk() = default;
HeadChunk::HeadChunk(HeadChunk&&) noexcept = default;
HeadChunk& HeadChunk::operator=(HeadChunk&&) noexcept = default;

void HeadChunk::Append(Timestamp time, double value) {
  if (!bytes_.empty() && time <= last_time()) {
    std::abort();
  }
  PutFixed64(&bytes_, static_cast<std::uint64_t>(time));
  PutFixed64(&bytes_, LoadFixed<std::uint64_t>(reinterpret_cast<const char*>(&value)));
}

std::uint32_t HeadChunk::count() const { return static_cast<std::uint32_t>(bytes_.size() / 16); }
Timestamp HeadChunk::first_time() const { return LoadFixed<Timestamp>(bytes_.data()); }
Timestamp HeadChunk::last_time() const { return LoadFixed<Timestamp>(bytes_.data() + bytes_.size() - 16); }
double HeadChunk::last_value() const { return LoadFixed<double>(bytes_.data() + bytes_.size() - 8); }
std::size_t HeadChunk::memory_bytes() const { return bytes_.capacity(); }
const void* HeadChunk::tail() const { return bytes_.data() + bytes_.size(); }
HeadChunk::Snapshot HeadChunk::TakeSnapshot() const { return {count(), bytes_}; }

Status DecodeHeadChunk(const HeadChunk::Snapshot& snapshot, std::vector<Timestamp>* times,
                       std::vector<double>* values) {
  if (snapshot.bits.size() != std::size_t{16} * snapshot.count) {
    return Status::Corruption("head chunk has the wrong size");
  }
  for (std::size_t i = 0; i < snapshot.count; ++i) {
    const Timestamp time = LoadFixed<Timestamp>(snapshot.bits.data() + 16 * i);
    if (i > 0 && time <= times->back()) {
      return Status::Corruption("times of a head chunk do not rise");
    }
    times->push_back(time);
    values->push_back(LoadFixed<double>(snapshot.bits.data() + 16 * i + 8));
  }
  return Status::Ok();
}

}  // namespace tsdb::chunk
