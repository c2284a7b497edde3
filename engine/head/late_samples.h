// LateSamples: samples of a series that came at or before its newest time.
//
//   chunks   compressed, oldest first; each rises; the last one is open: a late run that rises goes straight into it
//   buffer   arrivals that do not, newest last; when it is full it is sorted and becomes a chunk (or goes into the open
//            one)
//
// Of samples at one time the one that arrived last counts: the buffer's before the chunks', a later chunk's before an
// earlier one's.
//
// Thread safety: as HeadSeries.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "chunk/columns.h"
#include "chunk/head_chunk.h"
#include "tsdb/status.h"
#include "tsdb/types.h"

namespace tsdb::engine {

class LateSamples {
 public:
  /// Returns by how many bytes the memory behind this object grew. Throws std::bad_alloc with the samples as before.
  std::ptrdiff_t Put(Timestamp time, double value);

  bool empty() const { return chunks_.empty() && buffer_.empty(); }
  Timestamp newest_time() const { return newest_time_; }  // when not empty
  std::optional<double> Find(Timestamp time) const;

  struct Snapshot {
    std::vector<chunk::HeadChunk::Snapshot> chunks;
    std::vector<Sample> buffer;
    bool empty() const { return chunks.empty() && buffer.empty(); }
  };
  /// What may lie in `range`.
  Snapshot TakeSnapshot(TimeRange range) const;

  /// Memory behind this object.
  std::ptrdiff_t MemoryBytes() const;

 private:
  void DrainBuffer();

  std::vector<chunk::HeadChunk> chunks_;
  std::vector<Sample> buffer_;
  Timestamp newest_time_ = kTimestampMin;
  std::size_t chunk_bytes_ = 0;  // of all chunks but the last
};

/// Value at `time` in a chunk; decodes it unless it is the last sample.
std::optional<double> FindInChunk(const chunk::HeadChunk& chunk, Timestamp time);

/// Decodes a snapshot into columns, oldest arrivals first, as MergeColumns takes them. Not cut to a range.
Status DecodeLateSamples(const LateSamples::Snapshot& snapshot, std::vector<chunk::Columns>* oldest_first);

}  // namespace tsdb::engine
