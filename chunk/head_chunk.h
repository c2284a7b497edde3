// HeadChunk: an append-only compressed chunk in memory; times strictly rise.
//
//   state (one cache line: last time, delta, last decimal, Rice means, bit position …) → buffer of bits, grows from tens
//   of bytes
//
// Times: one bit on the delta-of-delta grid, else adaptive Rice. Values: adaptive Rice of zig-zag(d - d_prev) over exact
// decimals d = v·10^E, a zero-flag mode, escapes {wide, raise E, ±ULP, raw 64}, XOR for the rest when raw values pile up.
// Lossless for every bit pattern.
//
// Thread safety: none; the owner locks. Snapshot() copies what a reader needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tsdb/status.h"
#include "tsdb/types.h"

namespace tsdb::chunk {

class HeadChunk {
 public:
  HeadChunk();
  ~HeadChunk();
  HeadChunk(HeadChunk&&) noexcept;
  HeadChunk& operator=(HeadChunk&&) noexcept;

  /// `time` must be greater than last_time() unless the chunk is empty (checked: a broken invariant aborts).
  void Append(Timestamp time, double value);

  std::uint32_t count() const;
  Timestamp first_time() const;  // of a chunk that is not empty
  Timestamp last_time() const;
  double last_value() const;     // bit-exact
  /// Memory of the bits (capacity), beyond sizeof(HeadChunk).
  std::size_t memory_bytes() const;
  /// Address worth prefetching before an Append (the end of the bits).
  const void* tail() const;

  /// What is needed to decode, independent of this object: count, and a copy of the bits.
  struct Snapshot {
    std::uint32_t count = 0;
    std::string bits;
  };
  Snapshot TakeSnapshot() const;

 private:
  std::string bytes_;
};

/// Appends the samples of a snapshot to the columns. Never reads outside `bits`; kCorruption when they do not hold
/// `count` samples.
Status DecodeHeadChunk(const HeadChunk::Snapshot& snapshot, std::vector<Timestamp>* times, std::vector<double>* values);

}  // namespace tsdb::chunk
