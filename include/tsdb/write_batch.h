// WriteBatch: samples to be appended together. They become durable together; each is judged on its own.
//
// Samples may name their series by ref (fast) or by labels (the series is created when missing). Visibility is per
// series: a reader may see the samples of one series of a batch before those of another.
//
// Layout: one 24-byte entry per sample in insertion order, plus the distinct label sets.
//
// Thread safety: none; one thread at a time. May be reused after Clear() without giving memory back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tsdb/labels.h"
#include "tsdb/status.h"
#include "tsdb/types.h"

namespace tsdb {

class WriteBatch {
 public:
  /// Position of a label set within this batch, see AddLabels.
  struct LocalSeries {
    std::uint32_t index = 0;
  };
  struct Entry {
    /// The id of a ref, or kLocal | index of a label set.
    std::uint64_t series;
    Timestamp time;
    double value;
    static constexpr std::uint64_t kLocal = 1ull << 63;
    /// Set in increments: `value` is added to the newest value of the series.
    static constexpr std::uint64_t kIncrement = 1ull << 62;
  };

  void Add(SeriesRef ref, Timestamp time, double value) { entries_.push_back({ref.id.value, time, value}); }
  void Add(LocalSeries series, Timestamp time, double value) {
    entries_.push_back({Entry::kLocal | series.index, time, value});
  }
  void Add(Labels labels, Timestamp time, double value) { Add(AddLabels(std::move(labels)), time, value); }
  /// newest value of the series (0 when it has none) + delta, at `time` (kNow: the clock). A time equal to the newest
  /// replaces it; an older one is refused with kOutOfRange.
  void Increment(SeriesRef ref, Timestamp time, double delta) {
    entries_.push_back({Entry::kIncrement | ref.id.value, time, delta});
  }

  /// Makes a label set known to the batch, so that many samples can use it. Repeats are not looked for.
  LocalSeries AddLabels(Labels labels) {
    labels_.push_back(std::move(labels));
    return LocalSeries{static_cast<std::uint32_t>(labels_.size() - 1)};
  }

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  std::span<const Entry> entries() const { return entries_; }
  std::span<const Labels> labels() const { return labels_; }
  void Reserve(std::size_t samples) { entries_.reserve(samples); }
  void Clear() {
    entries_.clear();
    labels_.clear();
  }

 private:
  std::vector<Entry> entries_;
  std::vector<Labels> labels_;
};

/// A sample that was not stored, by its position in the batch.
struct RejectedSample {
  std::size_t index = 0;
  Status status;
};

struct AppendResult {
  /// Commit of the batch; 0 when no sample was stored.
  CommitNumber commit;
  std::uint64_t stored = 0;    // samples written, replacements included
  std::uint64_t replaced = 0;  // of those, how many met an older one; under `last` counted only when asked for
  std::uint64_t ignored = 0;   // accepted without effect (policy first, min, max; the ignore filter)
  std::uint64_t new_series = 0;
  std::vector<RejectedSample> rejected;
  /// One per label set of the batch, in order; id 0 where the set was refused.
  std::vector<SeriesRef> refs;
};

}  // namespace tsdb
