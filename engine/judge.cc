#include "engine/judge.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

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
    : core_(core), version_(std::move(version)), files_(*version_), options_(options) {}

bool Judge::Needed(const WriteOptions& options, std::span<const BatchSample> samples) {
  if (options.count_replaced || (options.has_duplicates && options.duplicates != DuplicatePolicy::kLast)) {
    return !samples.empty();
  }
  return std::any_of(samples.begin(), samples.end(), [&](const BatchSample& sample) {
    return sample.increment || sample.put.time == kNow ||
           (!options.has_duplicates && sample.series->policy() != DuplicatePolicy::kLast);
  });
}

Status Judge::Fetch(std::size_t i, const BatchSample& sample) {
  Stored& stored = stored_[i];
  stored = {};
  needs_newest_ = needs_newest_ || sample.increment || sample.put.time == kNow;
  if (version_->files.empty()) {
    return Status::Ok();
  }
  if (sample.increment || sample.put.time == kNow) {
    TSDB_ASSIGN_OR_RETURN(stored.newest, files_.Newest(sample.put.id));
    return Status::Ok();
  }
  TSDB_ASSIGN_OR_RETURN(stored.value, files_.Find(sample.put.id, sample.put.time));
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
  for (const PendingSlice* slice = stripe.front; slice != nullptr; slice = slice->next) {
    if (slice->record->state() == wal::LogRecord::State::kFailed) {
      continue;
    }
    for (std::size_t i = 0; i < slice->count; ++i) {
      if (slice->puts[i].id == id && slice->puts[i].time == time) {
        found = slice->puts[i].value;
      }
    }
  }
  if (found) {
    return found;
  }
  if (auto value = sample.series->Find(time)) {
    return value;
  }
  for (auto generation = version_->sealed.rbegin(); generation != version_->sealed.rend(); ++generation) {
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
      if (const auto candidate = series->Newest()) {
        consider(*candidate);
      }
    }
  }
  if (const auto candidate = sample.series->Newest()) {
    consider(*candidate);
  }
  for (const PendingSlice* slice = stripe.front; slice != nullptr; slice = slice->next) {
    if (slice->record->state() == wal::LogRecord::State::kFailed) {
      continue;
    }
    for (std::size_t i = 0; i < slice->count; ++i) {
      if (slice->puts[i].id == id) {
        consider({slice->puts[i].time, slice->puts[i].value});
      }
    }
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
  if (sample->increment || put.time == kNow) {
    const std::optional<Sample> newest = FindNewest(stripe, *sample, stored);
    if (put.time == kNow) {
      put.time = std::max(WallTime(*core_.clock, core_.settings.unit), newest ? newest->time : kTimestampMin);
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
  switch (options_.has_duplicates ? options_.duplicates : sample->series->policy()) {
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
  const DuplicatePolicy policy = options_.has_duplicates ? options_.duplicates : sample->series->policy();
  if ((policy == DuplicatePolicy::kMin || policy == DuplicatePolicy::kMax) && SameBits(effect, *existing)) {
    return Verdict::kIgnore;
  }
  put.value = effect;
  Remember(put);
  return Verdict::kReplace;
}

}  // namespace tsdb::engine
