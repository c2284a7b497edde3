// HeadSeries: the unflushed samples of one series within one generation.
//
//   parts   what came between two deletes, oldest first; the last one takes in samples
//           delete ──► the last part is frozen with the range that went; older parts are under it as well: no sample is
//                      touched, whatever the length
//
//   part    full chunks (oldest first) · open chunk      times strictly rise through them
//           late samples                                 at or before the newest time; newer than the chunks' values
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

/// Samples that no delete came between.
class HeadPart {
 public:
  bool empty() const { return samples_ == 0; }
  std::uint64_t samples() const { return samples_; }
  Timestamp newest_time() const { return newest_time_; }
  Timestamp oldest_time() const { return oldest_time_; }
  const void* tail() const { return open_.tail(); }
  std::ptrdiff_t memory_bytes() const;

  std::ptrdiff_t Put(Timestamp time, double value);
  std::optional<double> Find(Timestamp time) const;
  std::optional<Sample> Newest() const;

  struct Snapshot {
    std::vector<chunk::HeadChunk::Snapshot> chunks;
    LateSamples::Snapshot late;
  };
  Snapshot TakeSnapshot(TimeRange range) const;
  /// Appends the first time of every `stride`th full chunk but the first.
  void AddStarts(std::size_t stride, std::vector<Timestamp>* starts) const;

 private:
  Timestamp newest_time_ = kTimestampMin;
  Timestamp oldest_time_ = kTimestampMax;
  std::uint64_t samples_ = 0;
  chunk::HeadChunk open_;
  std::unique_ptr<std::vector<chunk::HeadChunk>> full_;
  std::unique_ptr<LateSamples> late_;  // none is newer than the newest in order
};

class HeadSeries {
 public:
  /// `judged`: even a plain write must look at the newest sample (a retention of its own, an ignore filter).
  HeadSeries(SeriesId id, DuplicatePolicy policy, bool judged = false) : id_(id), policy_(policy), judged_(judged) {}

  SeriesId id() const { return id_; }
  /// Policy of writes that do not name another.
  DuplicatePolicy policy() const { return policy_; }
  bool judged() const { return judged_; }
  void SetSettings(DuplicatePolicy policy, bool judged) {
    policy_ = policy;
    judged_ = judged;
  }
  /// A drop of the series is ordered or done: it takes nothing in.
  bool dropped() const { return dropped_; }
  void set_dropped(bool dropped) { dropped_ = dropped; }

  /// True when there is certainly no sample.
  bool empty() const { return part_.empty() && frozen_ == nullptr; }
  const void* tail() const { return part_.tail(); }

  /// Takes in a sample; an older one at the same time is replaced. Returns by how many bytes the memory grew. Throws
  /// std::bad_alloc with the samples as before.
  std::ptrdiff_t Put(Timestamp time, double value) { return part_.Put(time, value); }

  /// What a delete freed.
  struct Freed {
    std::ptrdiff_t bytes = 0;  // may be negative
    std::uint64_t samples = 0;
  };
  /// Takes away the samples in `range` that are there. A second time changes nothing. Throws std::bad_alloc with the
  /// samples as before.
  Freed Delete(TimeRange range);

  /// Value at `time`; nullopt when there is none. Cost: one chunk is decoded unless it is the newest or a late sample.
  std::optional<double> Find(Timestamp time) const;
  /// Newest sample; nullopt when there is none. Behind a delete all may have to be decoded.
  std::optional<Sample> Newest() const;

  /// What a reader takes with it from under the stripe's lock; decoding happens outside.
  struct Snapshot {
    struct Part {
      HeadPart::Snapshot samples;
      std::vector<TimeRange> deleted;  // of this part, not of later ones
    };
    std::vector<Part> parts;  // oldest first
  };
  /// Chunks and late samples that may lie in `range`.
  Snapshot TakeSnapshot(TimeRange range) const;
  /// All samples merged, ascending.
  Status ReadAll(chunk::Columns* out) const;
  /// Times, ascending, that cut the samples into slices of about so many; none when there are not more.
  std::vector<Timestamp> SliceStarts(std::size_t samples) const;

 private:
  /// A part that a delete ended, and what was deleted before the next one began. Older parts are under these as well.
  struct Frozen {
    HeadPart part;
    std::vector<TimeRange> deleted;
  };
  static constexpr std::size_t kFrozenMax = 8;
  static constexpr std::size_t kDeletedMax = 64;

  void DropCovered(TimeRange range, Freed* freed);
  /// Makes one part of the frozen ones.
  void Squash(Freed* freed);
  std::vector<TimeRange> DeletedBehind(std::size_t frozen) const;

  SeriesId id_;
  HeadPart part_;
  DuplicatePolicy policy_;
  bool judged_ = false;
  bool dropped_ = false;
  std::unique_ptr<std::vector<Frozen>> frozen_;  // oldest first; null: none
};

/// Decodes and merges a snapshot within `range` (replaces `out`).
Status DecodeSnapshot(const HeadSeries::Snapshot& snapshot, TimeRange range, chunk::Columns* out);

}  // namespace tsdb::engine
