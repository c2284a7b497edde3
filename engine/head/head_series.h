// HeadSeries: the unflushed samples of one series within one generation.
//
//   full chunks (oldest first) · open chunk      times strictly rise through them
//   late samples                                 those at or before the newest time; newer than the chunks' values
//
// Thread safety: guarded by the stripe of the series (stripe.h) while its generation is the mutable one; immutable
// after the cut once everything up to it is applied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "chunk/columns.h"
#include "chunk/head_chunk.h"
#include "engine/head/late_samples.h"
#include "tsdb/status.h"
#include "tsdb/types.h"

namespace tsdb::engine {

/// Samples in a head chunk before the next one is opened.
inline constexpr std::uint32_t kHeadChunkSamplesMax = 1024;

class HeadSeries {
 public:
  HeadSeries(SeriesId id, DuplicatePolicy policy) : id_(id), policy_(policy) {}

  SeriesId id() const { return id_; }
  /// Policy of writes that do not name another.
  DuplicatePolicy policy() const { return policy_; }
  bool empty() const { return samples_ == 0; }
  /// Samples taken in, replaced ones included: an upper bound of what is here.
  std::uint64_t samples() const { return samples_; }
  Timestamp newest_time() const { return newest_time_; }
  Timestamp oldest_time() const { return oldest_time_; }
  const void* tail() const { return open_.tail(); }

  /// Takes in a sample; an older one at the same time is replaced. Returns by how many bytes the memory grew. Throws
  /// std::bad_alloc with the samples as before.
  std::ptrdiff_t Put(Timestamp time, double value);

  /// Value at `time`; nullopt when there is none. Cost: one chunk is decoded unless it is the newest or a late sample.
  std::optional<double> Find(Timestamp time) const;
  /// Newest sample; nullopt when empty.
  std::optional<Sample> Newest() const;

  /// What a reader takes with it from under the stripe's lock; decoding happens outside.
  struct Snapshot {
    std::vector<chunk::HeadChunk::Snapshot> chunks;
    LateSamples::Snapshot late;
  };
  /// Chunks and late samples that may lie in `range`.
  Snapshot TakeSnapshot(TimeRange range) const;
  /// All samples merged, ascending.
  Status ReadAll(chunk::Columns* out) const;

 private:
  SeriesId id_;
  Timestamp newest_time_ = kTimestampMin;
  Timestamp oldest_time_ = kTimestampMax;
  std::uint64_t samples_ = 0;
  chunk::HeadChunk open_;
  DuplicatePolicy policy_;
  std::unique_ptr<std::vector<chunk::HeadChunk>> full_;
  std::unique_ptr<LateSamples> late_;  // none is newer than the newest in order
};

/// Decodes and merges a snapshot within `range` (replaces `out`).
Status DecodeSnapshot(const HeadSeries::Snapshot& snapshot, TimeRange range, chunk::Columns* out);

}  // namespace tsdb::engine
