#include "engine/retention_state.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tsdb::engine {
namespace {

constexpr std::int64_t kDayNanos = 24ll * 3600 * 1'000'000'000;

/// Nanoseconds in a unit of the database, at least one.
std::int64_t InUnits(std::int64_t nanos, TimeUnit unit) {
  return std::max<std::int64_t>(1, nanos / (1'000'000'000 / UnitsPerSecond(unit)));
}

Timestamp Plus(Timestamp time, std::int64_t units) {
  return time > kTimestampMax - units ? kTimestampMax : time + units;
}

}  // namespace

std::int64_t RetentionRules::AgeOf(const SeriesDefinition& definition) const {
  for (const Class& one : classes) {
    if (one.selector.Matches(definition)) {
      return one.settings.age;
    }
  }
  return age;
}

Retention RetentionRules::settings() const {
  Retention retention;
  retention.age = age;
  retention.bytes_max = bytes_max;
  for (const Class& one : classes) {
    retention.classes.push_back(one.settings);
  }
  return retention;
}

Result<std::shared_ptr<const RetentionRules>> CompileRetention(const Retention& retention) {
  auto rules = std::make_shared<RetentionRules>();
  if (retention.age < 0) {
    return Status::InvalidArgument(fmt::format("a retention of {} is negative: give 0 to keep all", retention.age));
  }
  rules->age = retention.age;
  rules->bytes_max = retention.bytes_max;
  for (const RetentionClass& one : retention.classes) {
    if (one.age < 0) {
      return Status::InvalidArgument(
          fmt::format("a retention of {} for {} is negative: give 0 to keep all", one.age, one.selector));
    }
    TSDB_ASSIGN_OR_RETURN(const Selector selector, Selector::Parse(one.selector));
    TSDB_ASSIGN_OR_RETURN(index::CompiledSelector compiled, index::CompiledSelector::Compile(selector));
    rules->classes.push_back({one, std::move(compiled)});
  }
  return std::shared_ptr<const RetentionRules>(std::move(rules));
}

void RetentionState::Refresh() {
  const bool aged = rules_->age != 0 ||
                    std::ranges::any_of(rules_->classes, [](const auto& one) { return one.settings.age != 0; });
  any_own_.store(!own_.empty(), std::memory_order_release);
  active_.store(aged || !own_.empty() || floor() != kTimestampMin || bytes_floor() != kTimestampMin,
                std::memory_order_release);
}

void RetentionState::Set(std::shared_ptr<const RetentionRules> rules, const chunk::RetentionPositions& positions) {
  MutexLock lock(mutex_);
  rules_ = std::move(rules);
  own_ = positions.own_settings;
  floor_.store(std::max(floor(), positions.floor), std::memory_order_release);
  bytes_floor_.store(std::max(bytes_floor(), positions.bytes_floor), std::memory_order_release);
  trusted_.store(std::max(trusted(), positions.trusted_now), std::memory_order_release);
  RaiseNewest(positions.newest);
  Refresh();
}

void RetentionState::SetRules(std::shared_ptr<const RetentionRules> rules) {
  MutexLock lock(mutex_);
  rules_ = std::move(rules);
  Refresh();
}

std::shared_ptr<const RetentionRules> RetentionState::rules() const {
  MutexLock lock(mutex_);
  return rules_;
}

chunk::RetentionPositions RetentionState::positions() const {
  MutexLock lock(mutex_);
  chunk::RetentionPositions positions;
  positions.classes = rules_->settings().classes;
  positions.floor = floor();
  positions.bytes_floor = bytes_floor();
  positions.newest = newest();
  positions.trusted_now = trusted();
  positions.own_settings = own_;
  return positions;
}

void RetentionState::RaiseFloor(Timestamp floor) {
  MutexLock lock(mutex_);
  floor_.store(std::max(this->floor(), floor), std::memory_order_release);
  Refresh();
}

void RetentionState::RaiseBytesFloor(Timestamp floor) {
  MutexLock lock(mutex_);
  bytes_floor_.store(std::max(bytes_floor(), floor), std::memory_order_release);
  Refresh();
}

Timestamp RetentionState::Now(Clock& clock, TimeUnit unit) const {
  return std::max(trusted(), std::min(WallTime(clock, unit), newest()));
}

Timestamp RetentionState::AdvanceTrusted(Clock& clock, TimeUnit unit) {
  const Timestamp now = Now(clock, unit);
  const std::int64_t nanos = clock.MonotonicNanos();
  MutexLock lock(mutex_);
  Timestamp trusted = this->trusted();
  if (trusted == kTimestampMin || now <= trusted) {
    trusted = now;  // the first clock there is must be taken as it is
    doubt_since_nanos_ = 0;
  } else {
    std::int64_t allowed = last_advance_nanos_ == 0 ? 0 : std::max<std::int64_t>(0, nanos - last_advance_nanos_);
    const bool day = last_allowance_nanos_ == 0 || nanos - last_allowance_nanos_ >= kDayNanos;
    Timestamp reached = Plus(trusted, allowed == 0 ? 0 : InUnits(allowed, unit));
    if (now > reached && day) {
      reached = Plus(reached, InUnits(kDayNanos, unit));
      last_allowance_nanos_ = nanos;
    }
    trusted = std::min(now, reached);
    if (trusted == now) {
      doubt_since_nanos_ = 0;
    } else if (doubt_since_nanos_ == 0) {
      doubt_since_nanos_ = nanos;
    } else if (nanos - doubt_since_nanos_ >= kDayNanos) {
      trusted = now;
      doubt_since_nanos_ = 0;
    }
  }
  last_advance_nanos_ = nanos;
  trusted_.store(trusted, std::memory_order_release);
  return trusted;
}

bool RetentionState::in_doubt() const {
  MutexLock lock(mutex_);
  return doubt_since_nanos_ != 0;
}

void RetentionState::Accept(Timestamp now) {
  MutexLock lock(mutex_);
  trusted_.store(std::max(trusted(), now), std::memory_order_release);
  doubt_since_nanos_ = 0;
}

bool RetentionState::HasOwn(SeriesId id) const {
  if (!any_own_.load(std::memory_order_acquire)) {
    return false;
  }
  MutexLock lock(mutex_);
  return own_.Contains(id.value);
}

IdSet RetentionState::own() const {
  MutexLock lock(mutex_);
  return own_;
}

void RetentionState::NoteSettings(SeriesId id, const SeriesSettings& settings) {
  const bool own = settings.retention != 0 || settings.expiry != 0;
  if (!own && !HasOwn(id)) {
    return;
  }
  MutexLock lock(mutex_);
  if (own) {
    own_.Add(id.value);
  } else {
    own_.Remove(id.value);
  }
  Refresh();
}

void RetentionState::ForgetOwn(const IdSet& ids) {
  if (!any_own_.load(std::memory_order_acquire)) {
    return;
  }
  MutexLock lock(mutex_);
  own_ -= ids;
  Refresh();
}

}  // namespace tsdb::engine
