#include "engine/judge.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "engine/masks.h"
#include "engine/retention.h"

namespace tsdb::engine {
namespace {

bool SameBits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

/// The smaller (larger) of two values; a NaN gives way to a number.
double MinOf(double old_value, double new_value) {
  if (std::isnan(old_value)) {
    return new_value;
  }
  return new_value < old_value ? new_value : old_value;
}
double MaxOf(double old_value, double new_value) {
  if (std::isnan(old_value)) {
    return new_value;
  }
  return new_value > old_value ? new_value : old_value;
}

}  // namespace

Judge::Judge(Core& core, VersionPtr version, const WriteOptions& options)
    : core_(core), version_(std::move(version)), files_(*version_, core.directory_blocks), options_(options) {}

bool Judge::Needed(const WriteOptions& options, std::span<const BatchSample> samples) {
  if (HasWriteFilter(options) || options.count_replaced ||
      (options.has_duplicates && options.duplicates != DuplicatePolicy::kLast)) {
    return !samples.empty();
  }
  return std::any_of(samples.begin(), samples.end(), [&](const BatchSample& sample) {
    return sample.increment || sample.put.time == kNow || sample.series->judged() ||
           (!options.has_duplicates && sample.series->policy() != DuplicatePolicy::kLast);
  });
}

void Judge::BeginFetch(const std::array<std::uint8_t, kStripes>& touched) {
  for (std::size_t i = 0; i < kStripes; ++i) {
    if (touched[i] == 0) {
      continue;
    }
    Stripe& stripe = core_.stripes[i];
    MutexLock lock(stripe.mutex);
    deletes_seen_[i] = stripe.deletes_ordered;
    has_deletes_[i] = !version_->tombstones->empty() || stripe.deletes_ordered != 0 ||
                      !version_->mutable_generation->deletes(i).empty() ||
                      std::ranges::any_of(version_->sealed, [i](const auto& g) { return !g->deletes(i).empty(); });
  }
}

// What was ordered but is not applied yet counts: should it fail, nothing that was judged by it gets a number.
std::vector<chunk::DeletedRange> Judge::FindMasks(SeriesId id) const {
  Stripe& stripe = core_.stripes[StripeOf(id)];
  MutexLock lock(stripe.mutex);
  std::vector<chunk::DeletedRange> masks = MasksOf(*version_, id, TimeRange{});
  for (const PendingSlice* slice = stripe.front; slice != nullptr; slice = slice->next) {
    if (slice->tombstone != nullptr && slice->record->state() != wal::LogRecord::State::kFailed &&
        slice->tombstone->ids.Contains(id.value)) {
      masks.push_back({slice->tombstone->range, slice->tombstone->commit});
    }
  }
  return masks;
}

Status Judge::FetchSettings(SeriesId id, SeriesSettings* settings) const {
  if (const RegistryEntryPtr entry = core_.registry.FindById(id)) {
    *settings = entry->settings;
    return Status::Ok();
  }
  TSDB_ASSIGN_OR_RETURN(const auto found, core_.index->FindByIds({&id, 1}));
  if (found[0]) {
    *settings = found[0]->settings;
  }
  return Status::Ok();
}

bool Judge::IsIgnored(const wal::Put& put, const std::optional<Sample>& newest, const Stored& stored,
                      DuplicatePolicy policy) const {
  const Filter filter = options_.has_ignore
                            ? Filter{options_.ignore_max_time_diff, options_.ignore_max_value_diff}
                            : Filter{stored.settings.ignore_max_time_diff, stored.settings.ignore_max_value_diff};
  if (filter.time_diff <= 0 || policy != DuplicatePolicy::kLast || !newest || put.time < newest->time) {
    return false;
  }
  const bool near = static_cast<std::uint64_t>(put.time) - static_cast<std::uint64_t>(newest->time) <=
                    static_cast<std::uint64_t>(filter.time_diff);
  return near && (std::abs(put.value - newest->value) <= filter.value_diff || SameBits(put.value, newest->value));
}

Status Judge::Fetch(std::size_t i, const BatchSample& sample) {
  Stored& stored = stored_[i];
  stored = {};
  const bool newest = NeedsNewest(sample);
  needs_newest_ = needs_newest_ || newest;
  if (sample.series->judged()) {
    TSDB_RETURN_IF_ERROR(FetchSettings(sample.put.id, &stored.settings));
  }
  if (newest && core_.retention.active()) {
    TSDB_ASSIGN_OR_RETURN(stored.visible_from, AcceptedFrom(core_, sample.put.id));
  }
  if (has_deletes_[StripeOf(sample.put.id)]) {
    stored.masks = FindMasks(sample.put.id);
  }
  if (version_->files.empty()) {
    return Status::Ok();
  }
  if (newest) {
    TSDB_ASSIGN_OR_RETURN(stored.newest, files_.Newest(sample.put.id, stored.masks));
    if (sample.increment || sample.put.time == kNow) {
      return Status::Ok();
    }
  }
  TSDB_ASSIGN_OR_RETURN(stored.value, files_.Find(sample.put.id, sample.put.time, stored.masks));
  return Status::Ok();
}

std::optional<double> Judge::FindExisting(const Stripe& stripe, const BatchSample& sample,
                                          const Stored& stored) const {
  const SeriesId id = sample.put.id;
  const Timestamp time = sample.put.time;
  if (const auto value = decided_.Find(id, time)) {
    return value;
  }
  std::optional<double> found;
  bool deleted = false;
  for (const PendingSlice* slice = stripe.front; slice != nullptr; slice = slice->next) {
    if (slice->record->state() == wal::LogRecord::State::kFailed) {
      continue;
    }
    if (slice->tombstone != nullptr) {
      if (slice->tombstone->range.Contains(time) && slice->tombstone->ids.Contains(id.value)) {
        found = std::nullopt;
        deleted = true;
      }
      continue;
    }
    for (std::size_t i = 0; i < slice->count; ++i) {
      if (slice->puts[i].id == id && slice->puts[i].time == time) {
        found = slice->puts[i].value;
      }
    }
  }
  if (found || deleted) {
    return found;
  }
  if (auto value = sample.series->Find(time)) {
    return value;
  }
  for (auto generation = version_->sealed.rbegin(); generation != version_->sealed.rend(); ++generation) {
    if (chunk::IsDeleted(stored.masks, (*generation)->cut, time)) {
      return std::nullopt;  // and so it is in all that is older
    }
    if (const HeadSeries* series = (*generation)->Find(id)) {
      if (auto value = series->Find(time)) {
        return value;
      }
    }
  }
  return stored.newest && stored.newest->time == time ? std::optional<double>(stored.newest->value) : stored.value;
}

std::optional<Sample> Judge::FindNewest(const Stripe& stripe, const BatchSample& sample, const Stored& stored) const {
  const SeriesId id = sample.put.id;
  std::optional<Sample> newest = stored.newest;
  const auto consider = [&](const Sample& candidate) {
    // Called oldest source first: on equal times the later source holds the value in force.
    if (!newest || candidate.time >= newest->time) {
      newest = candidate;
    }
  };
  for (const auto& generation : version_->sealed) {
    if (const HeadSeries* series = generation->Find(id)) {
      if (const auto candidate = NewestOf(*series, generation->cut, stored.masks)) {
        consider(*candidate);
      }
    }
  }
  // What is applied is older than all that waits: every delete that waits takes from it.
  std::vector<chunk::DeletedRange> waiting;
  std::vector<Sample> puts;
  for (const PendingSlice* slice = stripe.front; slice != nullptr; slice = slice->next) {
    if (slice->record->state() == wal::LogRecord::State::kFailed) {
      continue;
    }
    if (slice->tombstone != nullptr) {
      if (slice->tombstone->ids.Contains(id.value)) {
        const TimeRange range = slice->tombstone->range;
        waiting.push_back({range, slice->tombstone->commit});
        std::erase_if(puts, [range](const Sample& put) { return range.Contains(put.time); });
      }
      continue;
    }
    for (std::size_t i = 0; i < slice->count; ++i) {
      if (slice->puts[i].id == id) {
        puts.push_back({slice->puts[i].time, slice->puts[i].value});
      }
    }
  }
  if (const auto candidate = NewestOf(*sample.series, CommitNumber{}, waiting)) {
    consider(*candidate);
  }
  for (const Sample& put : puts) {
    consider(put);
  }
  if (const auto it = newest_decided_.find(id.value); it != newest_decided_.end()) {
    consider(it->second);
  }
  return newest;
}

void Judge::Reset() {
  decided_.Reset(stored_.size());
  newest_decided_.clear();
}

void Judge::Remember(const wal::Put& put) {
  decided_.Set(put.id, put.time, put.value);
  if (needs_newest_) {
    const auto [it, inserted] = newest_decided_.try_emplace(put.id.value, Sample{put.time, put.value});
    if (!inserted && put.time >= it->second.time) {
      it->second = {put.time, put.value};
    }
  }
}

Judge::Verdict Judge::Decide(std::size_t i, const Stripe& stripe, BatchSample* sample, Status* status) {
  const Stored& stored = stored_[i];
  wal::Put& put = sample->put;
  const DuplicatePolicy policy = options_.has_duplicates ? options_.duplicates : sample->series->policy();
  if (NeedsNewest(*sample)) {
    std::optional<Sample> newest = FindNewest(stripe, *sample, stored);
    if (newest && newest->time < stored.visible_from) {
      newest = std::nullopt;  // expired
    }
    if (put.time == kNow) {
      put.time = std::max(WallTime(*core_.clock, core_.settings.unit), newest ? newest->time : kTimestampMin);
    }
    const std::int64_t age = stored.settings.retention;
    if (age != 0 && newest && newest->time >= kTimestampMin + age && put.time < newest->time - age) {
      *status = Status::OutOfRange(fmt::format("time {} is older than the retention of the series allows: {} is the "
                                               "oldest that is kept", put.time, newest->time - age));
      return Verdict::kReject;
    }
    if (!sample->increment && IsIgnored(put, newest, stored, policy)) {
      return Verdict::kIgnore;
    }
    if (sample->increment) {
      if (newest && put.time < newest->time) {
        *status =
            Status::OutOfRange(fmt::format("increment at {} is older than the newest sample at {}: give the same or "
                                           "a later time",
                                           put.time, newest->time));
        return Verdict::kReject;
      }
      put.value += newest ? newest->value : 0.0;
      Remember(put);
      return newest && newest->time == put.time ? Verdict::kReplace : Verdict::kStore;
    }
  }
  const std::optional<double> existing = FindExisting(stripe, *sample, stored);
  if (!existing) {
    Remember(put);
    return Verdict::kStore;
  }
  double effect = put.value;
  switch (policy) {
    case DuplicatePolicy::kLast:
      break;
    case DuplicatePolicy::kBlock:
      *status = Status::Duplicate(fmt::format("a sample at {} exists and the policy is block: choose another policy or "
                                              "another time", put.time));
      return Verdict::kReject;
    case DuplicatePolicy::kFirst:
      return Verdict::kIgnore;
    case DuplicatePolicy::kMin:
      effect = MinOf(*existing, put.value);
      break;
    case DuplicatePolicy::kMax:
      effect = MaxOf(*existing, put.value);
      break;
    case DuplicatePolicy::kSum:
      effect = *existing + put.value;
      break;
  }
  if ((policy == DuplicatePolicy::kMin || policy == DuplicatePolicy::kMax) && SameBits(effect, *existing)) {
    return Verdict::kIgnore;
  }
  put.value = effect;
  Remember(put);
  return Verdict::kReplace;
}

}  // namespace tsdb::engine
