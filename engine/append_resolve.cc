#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "engine/append_operation.h"
#include "engine/retention.h"

namespace tsdb::engine {
namespace {

/// Bits of WriteBatch::Entry::series that are not an id.
constexpr std::uint64_t kFlagBits = WriteBatch::Entry::kLocal | WriteBatch::Entry::kIncrement;

}  // namespace

Status AppendOperation::ResolveLabels() {
  const auto sets = batch_.labels();
  local_ids_.assign(sets.size(), SeriesId{});
  local_status_.assign(sets.size(), Status::Ok());
  definitions_.clear();
  new_policies_.clear();
  std::vector<std::uint32_t> unknown;
  for (std::uint32_t i = 0; i < sets.size(); ++i) {
    if (sets[i].empty()) {
      local_status_[i] = Status::InvalidArgument("a series needs at least one label with a value");
      continue;
    }
    if (const RegistryEntryPtr entry =
            NotDropped(core_.registry.FindByLabels(sets[i].Hash(), EncodeIdentity(sets[i])))) {
      local_ids_[i] = entry->id;
    } else {
      unknown.push_back(i);
    }
  }
  return unknown.empty() ? Status::Ok() : LookUpUnknownLabels(unknown);
}

// nullptr for the entry of a series that was dropped: the labels are free.
RegistryEntryPtr AppendOperation::NotDropped(RegistryEntryPtr entry) {
  if (entry == nullptr || !core_.dropped.Contains(entry->id)) {
    return entry;
  }
  core_.dropped.WaitSettled(entry->id);
  if (!core_.dropped.Contains(entry->id)) {
    return entry;  // the drop came to nothing
  }
  core_.registry.Remove(entry);
  return nullptr;
}

Status AppendOperation::LookUpUnknownLabels(const std::vector<std::uint32_t>& unknown) {
  std::vector<const Labels*> sets;
  sets.reserve(unknown.size());
  for (const std::uint32_t i : unknown) {
    sets.push_back(&batch_.labels()[i]);
  }
  TSDB_ASSIGN_OR_RETURN(const auto found, core_.index->FindByLabels(sets));
  std::unordered_map<std::string, SeriesId> new_here;  // sets repeated within the batch
  for (std::size_t k = 0; k < unknown.size(); ++k) {
    const std::uint32_t i = unknown[k];
    if (found[k] && !core_.dropped.Contains(found[k]->id)) {
      local_ids_[i] = core_.registry.Insert(*found[k], RegistryEntry::State::kLive)->id;
      continue;
    }
    auto [it, inserted] = new_here.try_emplace(EncodeIdentity(*sets[k]), SeriesId{});
    if (inserted) {
      const std::string key = sets[k]->CanonicalKey();
      bool taken = NotDropped(core_.registry.FindByKey(key)) != nullptr;
      if (!taken) {
        TSDB_ASSIGN_OR_RETURN(const auto shown, core_.index->FindByKey(key));
        const bool live = shown && !core_.dropped.Contains(shown->id);
        taken = live && shown->created_by_key;
        if (live && !taken) {
          // Another thread created it since the look-up by labels.
          it->second = core_.registry.Insert(*shown, RegistryEntry::State::kLive)->id;
          local_ids_[i] = it->second;
          continue;
        }
      }
      if (taken) {
        local_status_[i] = Status::AlreadyExists(fmt::format("series {} exists, created by key", key));
        new_here.erase(it);
        continue;
      }
      SeriesDefinition definition;
      definition.id = SeriesId{core_.next_series_id.fetch_add(1, std::memory_order_relaxed)};
      definition.labels = *sets[k];
      it->second = definition.id;
      new_policies_[definition.id.value] = {core_.PolicyOf(definition.settings), false};
      definitions_.push_back(std::move(definition));
    }
    local_ids_[i] = it->second;
  }
  return Status::Ok();
}

// True when the sample was refused.
bool AppendOperation::IsTooOld(std::size_t index, SeriesId id, Timestamp time) {
  SeriesDefinition definition;
  const auto fresh = std::ranges::find(definitions_, id, &SeriesDefinition::id);
  if (fresh != definitions_.end()) {
    definition = *fresh;
  } else {
    auto found = core_.index->FindByIds({&id, 1});
    if (!found.ok()) {
      Reject(index, found.status());
      return true;
    }
    if (!(*found)[0]) {
      return false;  // dropped, or on its way: what resolves it tells
    }
    definition = *std::move((*found)[0]);
  }
  const Timestamp from = AcceptedFrom(core_, definition);
  if (time >= from) {
    return false;
  }
  Reject(index, Status::OutOfRange(fmt::format("time {} is older than the retention allows: {} is the oldest that is "
                                               "kept", time, from)));
  return true;
}

void AppendOperation::RejectDropped(const BatchSample& sample) {
  const std::uint64_t id = sample.put.id.value;
  if ((batch_.entries()[sample.index].series & WriteBatch::Entry::kLocal) != 0) {
    core_.dropped.WaitSettled(sample.put.id);
    resolve_again_ = true;
    return;
  }
  Reject(sample.index, Status::Dropped(fmt::format("no series with id {}: it was dropped or never created; resolve it "
                                                   "again", id)));
}

void AppendOperation::TakeSamples() {
  const auto entries = batch_.entries();
  scratch_.refused.assign(entries.size(), 0);
  scratch_.samples.clear();
  scratch_.samples.reserve(entries.size());
  Timestamp latest = kTimestampMax;
  if (core_.options.future_limit_ms >= 0) {
    const Timestamp now = WallTime(*core_.clock, core_.settings.unit);
    const auto limit = ConvertTime(core_.options.future_limit_ms, TimeUnit::kMilliseconds, core_.settings.unit);
    latest = limit.ok() && now <= kTimestampMax - *limit ? now + *limit : kTimestampMax;
  }
  const Timestamp oldest = SurelyAcceptedFrom(core_);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const WriteBatch::Entry& entry = entries[i];
    SeriesId id{entry.series & ~kFlagBits};
    if ((entry.series & WriteBatch::Entry::kLocal) != 0) {
      if (id.value >= local_ids_.size()) {
        Reject(i, Status::InvalidArgument("the sample names a label set that is not in its batch"));
        continue;
      }
      if (!local_status_[id.value].ok()) {
        Reject(i, local_status_[id.value]);
        continue;
      }
      id = local_ids_[id.value];
    }
    if (entry.time > latest) {
      Reject(i,
             Status::OutOfRange(fmt::format("time {} is more than {} ahead of the clock: check its unit (this database "
                                            "counts {})",
                                            entry.time, fmt::format("{} ms", core_.options.future_limit_ms),
                                            TimeUnitName(core_.settings.unit))));
      continue;
    }
    if (entry.time < oldest && entry.time != kNow && IsTooOld(i, id, entry.time)) {
      continue;
    }
    scratch_.samples.push_back({{id, entry.time, entry.value},
                                nullptr,
                                static_cast<std::uint32_t>(i),
                                (entry.series & WriteBatch::Entry::kIncrement) != 0});
  }
}

void AppendOperation::Group() {
  std::array<std::size_t, kStripes + 1> count{};
  std::size_t kept = 0;
  for (const BatchSample& sample : scratch_.samples) {
    if (scratch_.refused[sample.index] == 0) {
      ++count[StripeOf(sample.put.id)];
      ++kept;
    }
  }
  touched_.fill(0);
  std::size_t offset = 0;
  for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
    touched_[stripe] = count[stripe] != 0;
    offsets_[stripe] = offset;
    offset += std::exchange(count[stripe], offset);
  }
  offsets_[kStripes] = offset;
  for (const SeriesDefinition& definition : definitions_) {
    touched_[StripeOf(definition.id)] = 1;
  }
  scratch_.grouped.resize(kept);
  for (const BatchSample& sample : scratch_.samples) {
    if (scratch_.refused[sample.index] == 0) {
      scratch_.grouped[count[StripeOf(sample.put.id)]++] = sample;
    }
  }
}

Status AppendOperation::ResolveSeries() {
  std::vector<std::size_t> missing;
  std::vector<std::size_t> dropped;
  version_ = core_.versions.Pin();
  generation_ = version_->mutable_generation.get();
  for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
    if (begin_of(stripe) == end_of(stripe)) {
      continue;
    }
    MutexLock lock(core_.stripes[stripe].mutex);
    drops_seen_[stripe] = core_.stripes[stripe].drops_ordered;
    const std::size_t end = end_of(stripe);
    Generation* generation = core_.stripes[stripe].generation;
    if (generation != generation_) {
      generation_ = nullptr;  // a cut came in between: Order will see it
      return Status::Ok();
    }
    for (std::size_t i = begin_of(stripe); i < end; ++i) {
      generation->Prefetch(scratch_.grouped[i].put.id);
    }
    for (std::size_t i = begin_of(stripe); i < end; ++i) {
      BatchSample& sample = scratch_.grouped[i];
      sample.series = generation->Find(sample.put.id);
      if (sample.series == nullptr) {
        missing.push_back(i);
      } else if (sample.series->dropped()) [[unlikely]] {
        dropped.push_back(i);
      }
    }
  }
  if (!dropped.empty()) {
    for (const std::size_t i : dropped) {
      RejectDropped(scratch_.grouped[i]);
    }
    generation_ = nullptr;  // group again without them
    return Status::Ok();
  }
  return missing.empty() ? Status::Ok() : CreateMissing(missing);
}

Status AppendOperation::CreateMissing(const std::vector<std::size_t>& missing) {
  std::unordered_map<std::uint64_t, HeadSettings> policies = new_policies_;
  std::vector<SeriesId> unknown;
  for (const std::size_t i : missing) {
    const SeriesId id = scratch_.grouped[i].put.id;
    if (policies.contains(id.value)) {
      continue;
    }
    if (const RegistryEntryPtr entry = core_.registry.FindById(id)) {
      policies[id.value] = {core_.PolicyOf(entry->settings), Core::IsJudged(entry->settings)};
    } else {
      unknown.push_back(id);
    }
  }
  if (!unknown.empty()) {
    std::sort(unknown.begin(), unknown.end());
    unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
    TSDB_ASSIGN_OR_RETURN(const auto found, core_.index->FindByIds(unknown));
    for (std::size_t k = 0; k < unknown.size(); ++k) {
      if (found[k]) {
        const RegistryEntryPtr entry = core_.registry.Insert(*found[k], RegistryEntry::State::kLive);
        policies[unknown[k].value] = {core_.PolicyOf(entry->settings), Core::IsJudged(entry->settings)};
      }
    }
  }
  bool refused = false;
  std::vector<std::size_t> gone;
  for (const std::size_t i : missing) {
    BatchSample& sample = scratch_.grouped[i];
    const auto policy = policies.find(sample.put.id.value);
    if (policy == policies.end()) {
      RejectDropped(sample);
      refused = true;
      continue;
    }
    Stripe& stripe = core_.stripes[StripeOf(sample.put.id)];
    MutexLock lock(stripe.mutex);
    if (stripe.generation != generation_) {
      generation_ = nullptr;
      return Status::Ok();
    }
    // A drop is ordered under the stripe: behind this look none has been.
    if (core_.dropped.Contains(sample.put.id)) {
      gone.push_back(i);
      continue;
    }
    sample.series = stripe.generation->Find(sample.put.id);
    if (sample.series == nullptr) {
      sample.series = stripe.generation->Create(sample.put.id, policy->second.policy, policy->second.judged);
    }
  }
  for (const std::size_t i : gone) {
    RejectDropped(scratch_.grouped[i]);
  }
  if (refused || !gone.empty()) {
    generation_ = nullptr;  // group again without them
  }
  return Status::Ok();
}

}  // namespace tsdb::engine
