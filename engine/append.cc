#include "engine/append.h"

#include <algorithm>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/append_operation.h"

namespace tsdb::engine {

void AppendOperation::LockTouched() {
  for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
    if (touched_[stripe] != 0) {
      core_.stripes[stripe].mutex.Lock();
    }
  }
}

void AppendOperation::UnlockTouched() {
  for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
    if (touched_[stripe] != 0) {
      core_.stripes[stripe].mutex.Unlock();
    }
  }
}

bool AppendOperation::NamesAreStillFree() const {
  return std::none_of(definitions_.begin(), definitions_.end(), [&](const SeriesDefinition& definition) {
    if (definition.created_by_key) {
      const auto labels = Labels::Parse(definition.key);
      return core_.registry.FindByKey(definition.key) != nullptr ||
             (labels.ok() && labels->CanonicalKey() == definition.key &&
              core_.registry.FindByLabels(labels->Hash(), EncodeIdentity(*labels)) != nullptr);
    }
    return core_.registry.FindByLabels(definition.labels.Hash(), EncodeIdentity(definition.labels)) != nullptr ||
           core_.registry.FindByKey(definition.labels.CanonicalKey()) != nullptr;
  });
}

void AppendOperation::BuildRecord() {
  scratch_.puts.clear();
  scratch_.series.clear();
  for (const BatchSample& sample : scratch_.grouped) {
    scratch_.puts.push_back(sample.put);
    newest_ = std::max(newest_, sample.put.time);
    scratch_.series.push_back(sample.series);
  }
  scratch_.record.Clear();
  for (const SeriesDefinition& definition : definitions_) {
    scratch_.record.AddDefinition(definition);
  }
  if (!scratch_.puts.empty()) {
    scratch_.record.AddPuts(scratch_.puts);
  }
  log_record_.payload = scratch_.record.payload();
}

// Judges under the stripes' locks, drops what has no effect and leaves the rest in `grouped`.
bool AppendOperation::DecideAll(Judge* judge) TSDB_NO_THREAD_SAFETY_ANALYSIS {
  judge->Reset();
  std::size_t kept = 0;
  for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
    const std::size_t begin = begin_of(stripe);
    const std::size_t end = end_of(stripe);
    offsets_[stripe] = kept;
    for (std::size_t i = begin; i < end; ++i) {
      BatchSample sample = scratch_.grouped[i];
      if (scratch_.refused[sample.index] != 0) {
        continue;
      }
      Status status;
      switch (judge->Decide(i, core_.stripes[stripe], &sample, &status)) {
        case Judge::Verdict::kReplace:
          ++replaced_;
          [[fallthrough]];
        case Judge::Verdict::kStore:
          ++stored_;
          scratch_.grouped[kept++] = sample;
          break;
        case Judge::Verdict::kIgnore:
          ++ignored_;
          break;
        case Judge::Verdict::kReject:
          result_.rejected.push_back({sample.index, std::move(status)});
          break;
      }
    }
  }
  offsets_[kStripes] = kept;
  scratch_.grouped.resize(kept);
  BuildRecord();
  return kept != 0 || !definitions_.empty();
}

// All memory that taking in the effects needs, before they are numbered: what is logged must be applied.
void AppendOperation::PrepareEffects() TSDB_NO_THREAD_SAFETY_ANALYSIS {
  for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
    if (begin_of(stripe) != end_of(stripe)) {
      core_.stripes[stripe].ReserveFor(end_of(stripe) - begin_of(stripe));
    }
  }
  entries_.clear();
  entries_.reserve(definitions_.size());
  for (const SeriesDefinition& definition : definitions_) {
    entries_.push_back(core_.registry.Insert(definition, RegistryEntry::State::kOrdered));
  }
}

// Behind Enqueue: takes no memory.
void AppendOperation::PushPending() TSDB_NO_THREAD_SAFETY_ANALYSIS {
  for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
    if (begin_of(stripe) == end_of(stripe)) {
      continue;
    }
    PendingSlice& slice = slices_[stripe];
    slice = PendingSlice{&log_record_, generation_, scratch_.puts.data() + begin_of(stripe),
                         scratch_.series.data() + begin_of(stripe),
                         end_of(stripe) - begin_of(stripe)};
    core_.stripes[stripe].Push(&slice);
  }
  if (definitions_.empty()) {
    return;
  }
  for (SeriesDefinition& definition : definitions_) {
    definition.commit = log_record_.commit();
    core_.subscriptions.OnDefinition(definition);
  }
  pending_definitions_ = {&log_record_, generation_, &definitions_, &entries_};
  pending_definitions_.retention = &core_.retention;
  core_.definitions.Push(&pending_definitions_);
}

bool AppendOperation::OrderUnderLocks(Judge* judge) TSDB_NO_THREAD_SAFETY_ANALYSIS {
  for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
    if (touched_[stripe] == 0) {
      continue;
    }
    if (core_.stripes[stripe].generation != generation_ ||
        (begin_of(stripe) != end_of(stripe) && core_.stripes[stripe].drops_ordered != drops_seen_[stripe])) {
      return false;
    }
    if (!core_.stripes[stripe].Settle()) {
      throw std::bad_alloc();
    }
    if (judge != nullptr && judge->Outdated(stripe, core_.stripes[stripe])) {
      return false;
    }
  }
  // What was not found before an eviction may have been created and forgotten since.
  if (!definitions_.empty() && (core_.registry.evictions() != evictions_ || !NamesAreStillFree())) {
    return false;
  }
  if (judge != nullptr && !DecideAll(judge)) {
    return true;  // nothing to log
  }
  const Durability durability = options_.has_durability ? options_.durability : core_.settings.durability;
  PrepareEffects();
  if (!core_.log->Enqueue(&log_record_, durability, epoch_)) {
    return false;
  }
  PushPending();
  return true;
}

// True when the record has its number (or there is nothing to log); false: something moved, prepare again.
bool AppendOperation::Order(Judge* judge) TSDB_NO_THREAD_SAFETY_ANALYSIS {
  /// Unlocks whatever happens; definitions that got no number are taken back.
  struct Hold {
    explicit Hold(AppendOperation& operation) TSDB_NO_THREAD_SAFETY_ANALYSIS : op(operation) {
      if (!op.definitions_.empty()) {
        op.core_.definition_order_mutex.Lock();
      }
      op.LockTouched();
    }
    ~Hold() TSDB_NO_THREAD_SAFETY_ANALYSIS {
      op.UnlockTouched();
      if (op.log_record_.commit().value == 0 && !op.entries_.empty()) {
        op.core_.definitions.TakeBack(op.core_.registry, &op.entries_);
      }
      if (!op.definitions_.empty()) {
        op.core_.definition_order_mutex.Unlock();
      }
    }
    AppendOperation& op;
  };
  // What Finish would need memory for, it finds here.
  result_.refs.reserve(local_ids_.size());
  const Hold hold(*this);
  return OrderUnderLocks(judge);
}

Result<AppendResult> AppendOperation::Finish() {
  if (log_record_.commit().value != 0) {
    const Status written = core_.log->Write(&log_record_);
    for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
      if (touched_[stripe] != 0) {
        MutexLock lock(core_.stripes[stripe].mutex);
        core_.stripes[stripe].Drain();
      }
    }
    core_.definitions.Drain(core_.registry, *core_.index);
    if (!written.ok()) {
      return written;
    }
    if (!definitions_.empty() && core_.definitions.incomplete()) {
      return Status::OutOfMemory(kIncomplete);
    }
    result_.commit = log_record_.commit();
    core_.retention.RaiseNewest(newest_);
    const std::uint64_t bytes = log_record_.payload.size() + 64;
    const std::uint64_t since_cut = core_.wal_bytes_since_cut.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    const auto head_bytes = generation_ == nullptr ? 0 : generation_->memory_bytes();
    if (core_.wake_scheduler &&
        (since_cut >= core_.options.wal_bytes_max || head_bytes >= core_.FlushThreshold())) {
      core_.wake_scheduler();
    }
  }
  result_.stored = stored_;
  result_.replaced = replaced_;
  result_.ignored = ignored_;
  result_.new_series = definitions_.size();
  result_.refs.reserve(local_ids_.size());
  for (const SeriesId id : local_ids_) {
    result_.refs.push_back(SeriesRef{id});
  }
  std::sort(result_.rejected.begin(), result_.rejected.end(),
            [](const RejectedSample& a, const RejectedSample& b) { return a.index < b.index; });
  return std::move(result_);
}

// Looks up what files hold for every sample; one that cannot be read is refused with the reason.
void AppendOperation::FetchStored(Judge* judge) {
  judge->BeginFetch(touched_);
  judge->Reserve(scratch_.grouped.size());
  for (std::size_t i = 0; i < scratch_.grouped.size(); ++i) {
    if (Status status = judge->Fetch(i, scratch_.grouped[i]); !status.ok()) {
      Reject(scratch_.grouped[i].index, std::move(status));
    }
  }
}

Result<AppendResult> AppendOperation::Run() {
  for (;;) {
    result_ = {};
    stored_ = replaced_ = ignored_ = 0;
    newest_ = kTimestampMin;
    resolve_again_ = false;
    scratch_.record.Clear();
    epoch_ = core_.log->epoch();
    evictions_ = core_.registry.evictions();
    TSDB_RETURN_IF_ERROR(ResolveLabels());
    TakeSamples();
    do {
      Group();
      TSDB_RETURN_IF_ERROR(ResolveSeries());
    } while (generation_ == nullptr && !resolve_again_);
    if (resolve_again_) {
      continue;
    }
    std::optional<Judge> judge;
    if (Judge::Needed(options_, scratch_.grouped)) {
      judge.emplace(core_, version_, options_);
      FetchStored(&*judge);
    } else {
      stored_ = scratch_.grouped.size();
      BuildRecord();
      if (log_record_.payload.empty()) {
        return Finish();
      }
    }
    if (scratch_.record.payload().size() > kRecordBytesMax) {
      return Status::InvalidArgument(fmt::format("a batch of {} bytes is too large: split it below {} bytes",
                                                 scratch_.record.payload().size(), kRecordBytesMax));
    }
    if (Order(judge ? &*judge : nullptr)) {
      return Finish();
    }
  }
}

Result<SeriesId> AppendOperation::RunCreate(SeriesDefinition definition) {
  const std::string key = definition.ShownKey();
  for (;;) {
    epoch_ = core_.log->epoch();
    evictions_ = core_.registry.evictions();
    TSDB_ASSIGN_OR_RETURN(const RegistryEntryPtr taken, FindSeriesByKey(core_, key));
    if (taken != nullptr) {
      if (!definition.created_by_key && !taken->created_by_key) {
        return taken->id;
      }
      return Status::AlreadyExists(fmt::format("series {} exists", key));
    }
    definition.id = SeriesId{core_.next_series_id.fetch_add(1, std::memory_order_relaxed)};
    definitions_ = {definition};
    scratch_.samples.clear();
    Group();
    TSDB_RETURN_IF_ERROR(ResolveSeries());
    BuildRecord();
    if (Order(nullptr)) {
      TSDB_RETURN_IF_ERROR(Finish().status());
      return definition.id;
    }
  }
}

Result<AppendResult> AppendBatch(Core& core, const WriteBatch& batch, const WriteOptions& options) {
  if (batch.size() > std::numeric_limits<std::uint32_t>::max()) {
    return Status::InvalidArgument("a batch holds at most 4294967295 samples: split it");
  }
  static thread_local AppendScratch scratch;
  AppendOperation operation(core, batch, options, scratch);
  return operation.Run();
}

Result<SeriesId> CreateOneSeries(Core& core, SeriesDefinition definition) {
  const WriteBatch batch;
  const WriteOptions options;
  AppendScratch scratch;
  AppendOperation operation(core, batch, options, scratch);
  return operation.RunCreate(std::move(definition));
}

}  // namespace tsdb::engine
