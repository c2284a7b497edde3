// SeriesSummary: what the statistics of all chunks of one series in one file add up to, and a cache of those that were
// asked for: a file never changes, so they are computed once.
//
// The cache never waits: who finds it in use does without.
//
// Thread safety: SeriesSummary is a value; the cache is thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "chunk/chunk_rows.h"
#include "chunk/chunk_statistics.h"
#include "tsdb/result.h"
#include "tsdb/types.h"

namespace tsdb::chunk {

struct SeriesSummary {
  Timestamp first_time = 0;
  Timestamp last_time = 0;
  std::uint64_t chunks = 0;
  /// Of all values; without pages.
  ChunkStatistics values;
  /// Times at even steps.
  bool even = false;
};

using SeriesSummaryPtr = std::shared_ptr<const SeriesSummary>;

/// Adds up all rows, which are of one series and in order; null when there are none, or more values than a summary can
/// count. kCorruption.
Result<SeriesSummaryPtr> Summarize(const ChunkRows& rows);

class SeriesSummaryCache {
 public:
  /// Null when it is not here (or the cache is in use).
  SeriesSummaryPtr Find(SeriesId id);
  void Insert(SeriesId id, SeriesSummaryPtr summary);
  std::uint64_t memory_bytes() const { return used_.load(std::memory_order_relaxed) * sizeof(SeriesSummary); }

 private:
  struct Slot {
    SeriesId id;
    SeriesSummaryPtr summary;
  };
  std::atomic<std::uint64_t> used_{0};
  std::atomic_flag busy_;  // held (acquire, release) around what follows
  std::array<Slot, 64> slots_;
};

}  // namespace tsdb::chunk
