// AppendOperation: the state of one append between its steps; see append.h for the steps. Its functions stand in
// append_resolve.cc (labels to ids, ids to HeadSeries) and append.cc (order, write, apply).
//
// Thread safety: none; one thread per operation.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/append.h"
#include "engine/core.h"
#include "engine/judge.h"

namespace tsdb::engine {

/// Arrays that keep their memory from batch to batch; one set per thread.
struct AppendScratch {
  std::vector<BatchSample> samples;           // in batch order
  std::vector<BatchSample> grouped;           // by stripe, batch order within
  std::vector<wal::Put> puts;                 // effects, grouped
  std::vector<HeadSeries*> series;            // as puts
  std::vector<std::uint8_t> refused;          // per batch entry
  wal::RecordBuilder record;
};

class AppendOperation {
 public:
  AppendOperation(Core& core, const WriteBatch& batch, const WriteOptions& options, AppendScratch& scratch)
      : core_(core), batch_(batch), options_(options), scratch_(scratch) {}

  Result<AppendResult> Run();
  /// Creates one series instead of appending; see CreateOneSeries.
  Result<SeriesId> RunCreate(SeriesDefinition definition);

 private:
  Status ResolveLabels();
  Status LookUpUnknownLabels(const std::vector<std::uint32_t>& unknown);
  void TakeSamples();
  void Group();
  Status ResolveSeries();
  Status CreateMissing(const std::vector<std::size_t>& missing);
  void FetchStored(Judge* judge);
  bool Order(Judge* judge);
  bool OrderUnderLocks(Judge* judge);
  bool NamesAreStillFree() const;
  bool IsTooOld(std::size_t index, SeriesId id, Timestamp time);
  RegistryEntryPtr NotDropped(RegistryEntryPtr entry);
  void RejectDropped(const BatchSample& sample);
  bool DecideAll(Judge* judge);
  void BuildRecord();
  void PrepareEffects();
  void PushPending();
  void LockTouched() TSDB_NO_THREAD_SAFETY_ANALYSIS;
  void UnlockTouched() TSDB_NO_THREAD_SAFETY_ANALYSIS;
  Result<AppendResult> Finish();

  void Reject(std::size_t index, Status status) {
    scratch_.refused[index] = 1;
    result_.rejected.push_back({index, std::move(status)});
  }
  std::size_t begin_of(std::size_t stripe) const { return offsets_[stripe]; }
  std::size_t end_of(std::size_t stripe) const { return offsets_[stripe + 1]; }

  Core& core_;
  const WriteBatch& batch_;
  const WriteOptions& options_;
  AppendScratch& scratch_;
  AppendResult result_;

  std::vector<SeriesId> local_ids_;           // per label set of the batch; 0 when refused
  std::vector<Status> local_status_;
  std::vector<SeriesDefinition> definitions_;  // new series
  std::vector<RegistryEntryPtr> entries_;
  struct HeadSettings {
    DuplicatePolicy policy = DuplicatePolicy::kLast;
    bool judged = false;
  };
  std::unordered_map<std::uint64_t, HeadSettings> new_policies_;

  std::array<std::size_t, kStripes + 1> offsets_{};
  std::array<std::uint8_t, kStripes> touched_{};
  std::array<PendingSlice, kStripes> slices_{};
  std::uint64_t epoch_ = 0;            // of the log, read before anything was looked up
  std::uint64_t evictions_ = 0;        // of the registry, likewise
  std::array<std::uint64_t, kStripes> drops_seen_{};
  bool resolve_again_ = false;         // a label set named a series that was dropped meanwhile
  Timestamp newest_ = kTimestampMin;   // of the effects
  VersionPtr version_;                 // keeps generation_ alive
  Generation* generation_ = nullptr;   // where the samples go; null when a cut came in between
  PendingDefinitions pending_definitions_;
  wal::LogRecord log_record_;
  std::uint64_t stored_ = 0;
  std::uint64_t replaced_ = 0;
  std::uint64_t ignored_ = 0;
};

}  // namespace tsdb::engine
