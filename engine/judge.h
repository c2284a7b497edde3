// Judge: turns what a writer asked for into effects, for samples that may meet a stored one (policies other than
// `last`, increments, the time `now`, counting of replacements).
//
// What a sample meets is looked up newest first: earlier samples of the same batch, records that are ordered but not
// yet applied, the mutable generation, sealed generations, files (fetched before the locks were taken).
//
// Thread safety: one per batch; Fetch without locks, Decide under the stripe of the sample.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/core.h"
#include "engine/decided_table.h"
#include "engine/file_lookup.h"
#include "engine/version.h"
#include "tsdb/write_batch.h"

namespace tsdb::engine {

/// One sample of a batch, resolved.
struct BatchSample {
  wal::Put put;
  HeadSeries* series = nullptr;
  std::uint32_t index = 0;  // position in the batch
  bool increment = false;
};

class Judge {
 public:
  enum class Verdict : std::uint8_t { kStore, kReplace, kIgnore, kReject };

  Judge(Core& core, VersionPtr version, const WriteOptions& options);

  /// True when a batch needs a judge at all.
  static bool Needed(const WriteOptions& options, std::span<const BatchSample> samples);

  /// Notes how far the deletes of the touched stripes are: before the first Fetch of a try.
  void BeginFetch(const std::array<std::uint8_t, kStripes>& touched);
  /// True when a delete was ordered on the stripe since: fetch again.
  bool Outdated(std::size_t stripe, const Stripe& now) const TSDB_REQUIRES(now.mutex) {
    return now.deletes_ordered != deletes_seen_[stripe];
  }

  /// Looks up what files hold for sample number `i` of the grouped batch. An error refuses the sample.
  Status Fetch(std::size_t i, const BatchSample& sample);
  void Reserve(std::size_t samples) { stored_.resize(samples); }
  /// Forgets what was decided: call before the first Decide of a try.
  void Reset();

  /// Decides sample `i`; kStore and kReplace leave the effect in sample->put. kReject leaves the reason in `status`.
  Verdict Decide(std::size_t i, const Stripe& stripe, BatchSample* sample, Status* status)
      TSDB_REQUIRES(stripe.mutex);

 private:
  struct Stored {
    std::optional<double> value;    // in files at the sample's time
    std::optional<Sample> newest;   // in files
    std::vector<chunk::DeletedRange> masks;
    SeriesSettings settings;        // of a judged series
    Timestamp visible_from = kTimestampMin;  // older samples are expired
  };
  struct Filter {
    std::int64_t time_diff = 0;
    double value_diff = 0;
  };
  bool NeedsNewest(const BatchSample& sample) const {
    return sample.increment || sample.put.time == kNow || sample.series->judged() || HasWriteFilter(options_);
  }
  static bool HasWriteFilter(const WriteOptions& options) {
    return options.has_ignore && options.ignore_max_time_diff > 0;
  }
  Status FetchSettings(SeriesId id, SeriesSettings* settings) const;
  /// True when the sample says nothing new.
  bool IsIgnored(const wal::Put& put, const std::optional<Sample>& newest, const Stored& stored,
                 DuplicatePolicy policy) const;

  void Remember(const wal::Put& put);
  std::vector<chunk::DeletedRange> FindMasks(SeriesId id) const;
  std::optional<double> FindExisting(const Stripe& stripe, const BatchSample& sample, const Stored& stored) const
      TSDB_REQUIRES(stripe.mutex);
  std::optional<Sample> FindNewest(const Stripe& stripe, const BatchSample& sample, const Stored& stored) const
      TSDB_REQUIRES(stripe.mutex);

  Core& core_;
  VersionPtr version_;
  FileLookup files_;
  const WriteOptions& options_;
  std::vector<Stored> stored_;
  std::array<std::uint64_t, kStripes> deletes_seen_{};
  std::array<bool, kStripes> has_deletes_{};
  bool needs_newest_ = false;                                   // some sample asks for the newest of its series
  DecidedTable decided_;                                        // effects of this batch
  std::unordered_map<std::uint64_t, Sample> newest_decided_;    // of those, per series the newest
};

}  // namespace tsdb::engine
