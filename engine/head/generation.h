// Generation: the head between two flush cuts, striped by series.
//
//   stripe 0: table id → HeadSeries, series in order of arrival
//   stripe 1: …
//
// The mutable generation takes in samples; a cut makes it a sealed one, which is written to files and forgotten.
//
// Thread safety: each shard is guarded by the mutex of its stripe (stripe.h). After the cut, once everything up to it
// is applied, nothing changes any more and no lock is needed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/series_definition.h"
#include "chunk/manifest.h"
#include "chunk/tombstone.h"
#include "engine/head/head_series.h"
#include "engine/head/id_table.h"
#include "tsdb/types.h"

namespace tsdb::engine {

/// A cut holds all of them at once; ThreadSanitizer follows at most 64 locks of a thread.
inline constexpr std::size_t kStripes = 32;
/// Series with neighbouring ids (those of one host, say) share a stripe, so that a batch touches few of them.
inline std::size_t StripeOf(SeriesId id) { return (id.value >> 4) % kStripes; }

class Generation {
 public:
  explicit Generation(std::uint64_t number) : number_(number) {}
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  std::uint64_t number() const { return number_; }

  HeadSeries* Find(SeriesId id) { return shards_[StripeOf(id)].table.Find(id); }
  const HeadSeries* Find(SeriesId id) const { return shards_[StripeOf(id)].table.Find(id); }
  void Prefetch(SeriesId id) const { shards_[StripeOf(id)].table.Prefetch(id); }
  /// Adds a series without samples; it must not be there.
  HeadSeries* Create(SeriesId id, DuplicatePolicy policy, bool judged = false);

  /// Takes the deleted samples out of the series of a stripe and remembers the delete: files and older generations are
  /// read under it. A second time changes nothing. Throws std::bad_alloc; to be called again then.
  void ApplyDelete(std::size_t stripe, const chunk::TombstonePtr& tombstone);
  /// Deletes applied to a stripe, in commit order.
  const std::vector<chunk::TombstonePtr>& deletes(std::size_t stripe) const { return shards_[stripe].deletes; }
  /// All deletes of a sealed generation, each once, in commit order.
  std::vector<chunk::TombstonePtr> SortedDeletes() const;

  /// Everything committed up to here is in this or an older generation. Set by the cut.
  CommitNumber cut;
  /// Definitions of commits up to the cut, in commit order. Guarded by the definition queue's mutex.
  std::vector<SeriesDefinition> definitions;
  /// Series that ended with commits up to the cut, in commit order. Guarded likewise.
  std::vector<chunk::Drop> drops;
  /// Counts its memory, too, and that of the change it is in the index.
  void AddDefinition(const SeriesDefinition& definition);

  /// Memory of samples and series. Relaxed: a gauge.
  std::int64_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }
  void AddMemory(std::int64_t bytes) { memory_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  std::uint64_t samples() const { return samples_.load(std::memory_order_relaxed); }
  void AddSamples(std::uint64_t n) { samples_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t series() const { return series_.load(std::memory_order_relaxed); }

  /// All series with samples, ascending by id. Only for a sealed generation.
  std::vector<const HeadSeries*> SortedSeries() const;

 private:
  struct Shard {
    IdTable<HeadSeries> table;
    std::deque<HeadSeries> series;
    std::vector<chunk::TombstonePtr> deletes;
  };
  const std::uint64_t number_;
  std::array<Shard, kStripes> shards_;
  std::atomic<std::int64_t> memory_bytes_{0};
  std::atomic<std::uint64_t> samples_{0};
  std::atomic<std::uint64_t> series_{0};
};

}  // namespace tsdb::engine
