#include "engine/series_change.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "engine/append.h"
#include "engine/delete_operation.h"
#include "engine/open_index.h"
#include "engine/retention.h"

namespace tsdb::engine {
namespace {

Status NoSeries(SeriesId id) {
  return Status::Dropped(fmt::format("no series with id {}: it was dropped or never created; resolve it again",
                                     id.value));
}

/// Under the stripes of the series, or where nobody writes.
void MarkDropped(Generation& generation, const IdSet& ids, bool dropped) {
  ids.ForEach([&](std::uint64_t id) {
    if (HeadSeries* series = generation.Find(SeriesId{id})) {
      series->set_dropped(dropped);
    }
  });
}

/// Some generation may have been cut off meanwhile: all that may still take in samples are marked.
void MarkDroppedEverywhere(Core& core, const IdSet& ids, bool dropped) {
  StripeHold hold(core, StripesOf(ids));
  MarkDropped(*hold.generation(), ids, dropped);
}

/// One change of a series on its way.
class Change {
 public:
  Change(Core& core, SeriesDefinition before, SeriesDefinition after)
      : core_(core), before_(std::move(before)), after_{std::move(after)} {}

  /// The series comes back: it is in no index now.
  void set_back() { back_ = true; }
  PendingDeletes& deletes() { return deletes_; }

  Status Run() {
    new_name_ = back_ || before_.ShownKey() != after_[0].ShownKey();
    IdSet id;
    id.Add(after_[0].id.value);
    touched_ = StripesOf(id);
    for (;;) {
      epoch_ = core_.log->epoch();
      evictions_ = core_.registry.evictions();
      if (new_name_) {
        TSDB_RETURN_IF_ERROR(CheckNameIsFree());
      }
      record_.Clear();
      deletes_.AddTo(&record_);
      record_.AddDefinition(after_[0]);
      log_record_.payload = record_.payload();
      if (Order()) {
        break;
      }
    }
    const Status written = core_.log->Write(&log_record_);
    PendingDeletes::Drain(core_, touched_);
    core_.definitions.Drain(core_.registry, *core_.index);
    if (!written.ok()) {
      StripeHold hold(core_, touched_);
      SetInHead(*hold.generation(), before_, back_);
      return written;
    }
    CountLogged(core_, log_record_);
    return core_.definitions.incomplete() ? Status::OutOfMemory(kIncomplete) : Status::Ok();
  }

 private:
  Status CheckNameIsFree() {
    const std::string key = after_[0].ShownKey();
    TSDB_ASSIGN_OR_RETURN(const RegistryEntryPtr taken, FindSeriesByKey(core_, key));
    return taken == nullptr
               ? Status::Ok()
               : Status::AlreadyExists(fmt::format("the key {} belongs to series {}", key, taken->id.value));
  }

  bool NameIsTaken() const {
    const SeriesDefinition& definition = after_[0];
    const auto labels = definition.created_by_key ? Labels::Parse(definition.key) : Result<Labels>(definition.labels);
    return core_.registry.FindByKey(definition.ShownKey()) != nullptr ||
           (labels.ok() && core_.registry.FindByLabels(labels->Hash(), EncodeIdentity(*labels)) != nullptr);
  }

  void SetInHead(Generation& generation, const SeriesDefinition& definition, bool dropped) {
    if (HeadSeries* series = generation.Find(definition.id)) {
      series->SetSettings(core_.PolicyOf(definition.settings), Core::IsJudged(definition.settings));
      series->set_dropped(dropped);
    }
  }

  // True when the record has its number; false: something moved, look again.
  bool Order() {
    MutexLock order(core_.definition_order_mutex);
    StripeHold hold(core_, touched_);
    hold.Settle();
    if (new_name_) {
      if (core_.registry.evictions() != evictions_ || NameIsTaken()) {
        return false;
      }
      entries_.push_back(core_.registry.ReserveName(after_[0]));
    }
    deletes_.Reserve(core_);
    if (!core_.log->Enqueue(&log_record_, Durability::kAlways, epoch_)) {
      for (const RegistryEntryPtr& entry : entries_) {
        core_.registry.ForgetName(entry);
      }
      entries_.clear();
      return false;
    }
    deletes_.Push(core_, hold.generation(), &log_record_);
    after_[0].commit = log_record_.commit();
    core_.subscriptions.OnDefinition(after_[0]);
    SetInHead(*hold.generation(), after_[0], false);
    pending_.record = &log_record_;
    pending_.generation = hold.generation();
    pending_.definitions = &after_;
    pending_.entries = &entries_;
    pending_.change = true;
    pending_.dropped = &core_.dropped;
    pending_.retention = &core_.retention;
    core_.definitions.Push(&pending_);
    return true;
  }

  Core& core_;
  const SeriesDefinition before_;
  std::vector<SeriesDefinition> after_;  // the one
  std::vector<RegistryEntryPtr> entries_;
  PendingDeletes deletes_;
  PendingDefinitions pending_;
  wal::RecordBuilder record_;
  wal::LogRecord log_record_;
  std::array<std::uint8_t, kStripes> touched_{};
  std::uint64_t epoch_ = 0;
  std::uint64_t evictions_ = 0;
  bool back_ = false;
  bool new_name_ = false;
};

/// The live definition; kDropped when there is none.
Result<SeriesDefinition> LiveDefinition(Core& core, SeriesId id) {
  TSDB_ASSIGN_OR_RETURN(const RegistryEntryPtr entry, FindSeriesById(core, id));
  if (entry == nullptr) {
    return NoSeries(id);
  }
  TSDB_ASSIGN_OR_RETURN(const auto found, core.index->FindByIds({&id, 1}));
  if (!found[0]) {
    return NoSeries(id);
  }
  return *found[0];
}

/// The newest whole definitions of series that are dropped: from the catalogue files, then from memory.
Result<std::map<std::uint64_t, SeriesDefinition>> OldDefinitions(Core& core, const IdSet& ids) {
  std::map<std::uint64_t, SeriesDefinition> found;
  const auto visit = [&](const SeriesDefinition& definition) {
    const bool whole = !definition.dropped || definition.created_by_key || !definition.labels.empty();
    if (whole && ids.Contains(definition.id.value)) {
      found[definition.id.value] = definition;
    }
  };
  CommitNumber through;
  TSDB_RETURN_IF_ERROR(VisitCatalogue(*core.fs, core.path, visit, &through));
  const VersionPtr version = core.versions.Pin();
  for (const auto& generation : version->sealed) {
    std::ranges::for_each(core.definitions.DefinitionsOf(*generation), visit);
  }
  std::ranges::for_each(core.definitions.DefinitionsOf(*version->mutable_generation), visit);
  for (auto& [id, definition] : found) {
    definition.dropped = false;
  }
  return found;
}

bool IsAge(std::int64_t age) { return age >= 0; }

}  // namespace

Status CheckSettings(const SeriesSettings& settings) {
  if (!IsAge(settings.retention) || !IsAge(settings.expiry) || !IsAge(settings.ignore_max_time_diff)) {
    return Status::InvalidArgument("retention, expiry and ignore_max_time_diff of a series are 0 or more");
  }
  if (!(settings.ignore_max_value_diff >= 0)) {
    return Status::InvalidArgument("ignore_max_value_diff of a series is 0 or more");
  }
  return Status::Ok();
}

Result<DropReport> DropSeries(Core& core, const IdSet& asked, const DropOptions& options, wal::DropReason reason) {
  if (options.grace_ms < 0) {
    return Status::InvalidArgument("the grace of a drop is 0 or more milliseconds");
  }
  MutexLock life(core.life_mutex);
  DropReport report;
  chunk::Drop drop;
  asked.ForEach([&](std::uint64_t id) {
    if (!core.dropped.Contains(SeriesId{id})) {
      drop.ids.Add(id);
    }
  });
  drop.ids.Optimize();
  report.series = drop.ids.Count();
  if (drop.ids.empty()) {
    return report;
  }
  if (options.count_samples) {
    TSDB_ASSIGN_OR_RETURN(report.samples, CountSamples(core, drop.ids, TimeRange{}));
  }
  if (options.dry_run) {
    return report;
  }
  constexpr std::int64_t kGraceMax = INT64_MAX / 4'000'000;
  drop.until_wall_nanos =
      options.grace_ms == 0 ? 0 : core.clock->WallNanos() + std::min(options.grace_ms, kGraceMax) * 1'000'000;
  wal::RecordBuilder record;
  record.AddDrop({drop.until_wall_nanos, reason, drop.ids});
  if (record.payload().size() > kRecordBytesMax) {
    return Status::InvalidArgument(fmt::format("a drop of {} series is too large: split it", report.series));
  }
  wal::LogRecord log_record;
  log_record.payload = record.payload();
  PendingDefinitions pending;
  const auto touched = StripesOf(drop.ids);
  for (bool ordered = false; !ordered;) {
    const std::uint64_t epoch = core.log->epoch();
    MutexLock order(core.definition_order_mutex);
    StripeHold hold(core, touched);
    core.dropped.Begin(drop.ids);
    ordered = core.log->Enqueue(&log_record, Durability::kAlways, epoch);
    if (!ordered) {
      core.dropped.End(drop.ids, nullptr);
      continue;
    }
    drop.commit = log_record.commit();
    MarkDropped(*hold.generation(), drop.ids, true);
    hold.CountDrop();
    pending.record = &log_record;
    pending.generation = hold.generation();
    pending.drop = &drop;
    pending.dropped = &core.dropped;
    pending.retention = &core.retention;
    core.definitions.Push(&pending);
  }
  const Status written = core.log->Write(&log_record);
  core.definitions.Drain(core.registry, *core.index);
  if (!written.ok()) {
    MarkDroppedEverywhere(core, drop.ids, false);
    return written;
  }
  CountLogged(core, log_record);
  PendingDeletes::Drain(core, touched);  // what came before is told before
  core.subscriptions.OnDrop(drop.commit, drop.ids);
  if (core.definitions.incomplete()) {
    return Status::OutOfMemory(kIncomplete);
  }
  report.commit = drop.commit;
  return report;
}

Result<std::vector<tsdb::DroppedSeries>> ListDroppedSeries(Core& core) {
  const std::int64_t now = core.clock->WallNanos();
  IdSet ids;
  std::vector<chunk::Drop> drops = core.dropped.all();
  std::erase_if(drops, [&](const chunk::Drop& drop) {
    return drop.dead_from_file != 0 || drop.until_wall_nanos < now;
  });
  for (const chunk::Drop& drop : drops) {
    ids |= drop.ids;
  }
  std::vector<tsdb::DroppedSeries> series;
  if (ids.empty()) {
    return series;
  }
  TSDB_ASSIGN_OR_RETURN(const auto definitions, OldDefinitions(core, ids));
  for (const auto& [id, definition] : definitions) {
    const auto drop = std::ranges::find_if(drops, [id = id](const auto& d) { return d.ids.Contains(id); });
    series.push_back({definition.id, definition.ShownKey(), definition.labels, definition.created_by_key,
                      definition.settings, drop->until_wall_nanos});
  }
  return series;
}

Result<SeriesRef> UndropSeries(Core& core, SeriesId id, std::string_view key) {
  if (key.size() > kKeyBytesMax) {
    return Status::InvalidArgument(fmt::format("a key has 1 to {} bytes, this one {}", kKeyBytesMax, key.size()));
  }
  MutexLock life(core.life_mutex);
  if (!core.dropped.Find(id, core.clock->WallNanos())) {
    return Status::NotFound(fmt::format("series {} is not dropped, or its time to come back is over", id.value));
  }
  IdSet ids;
  ids.Add(id.value);
  TSDB_ASSIGN_OR_RETURN(const auto definitions, OldDefinitions(core, ids));
  const auto found = definitions.find(id.value);
  if (found == definitions.end()) {
    return Status::NotFound(fmt::format("the definition of series {} is not in the catalogue any more", id.value));
  }
  SeriesDefinition after = found->second;
  if (!key.empty() && key != after.ShownKey()) {
    if (!after.created_by_key) {
      return Status::InvalidArgument(
          fmt::format("series {} was created by labels, which are its name: leave the key out", id.value));
    }
    after.key = std::string(key);
  }
  Change change(core, found->second, std::move(after));
  change.set_back();
  TSDB_RETURN_IF_ERROR(change.Run());
  return SeriesRef{id};
}

Status RenameSeries(Core& core, SeriesId id, std::string_view key) {
  if (key.empty() || key.size() > kKeyBytesMax) {
    return Status::InvalidArgument(fmt::format("a key has 1 to {} bytes, this one {}", kKeyBytesMax, key.size()));
  }
  MutexLock life(core.life_mutex);
  TSDB_ASSIGN_OR_RETURN(const SeriesDefinition before, LiveDefinition(core, id));
  if (!before.created_by_key) {
    return Status::InvalidArgument(
        fmt::format("series {} was created by labels, which are its name", before.ShownKey()));
  }
  if (before.key == key) {
    return Status::Ok();
  }
  SeriesDefinition after = before;
  after.key = std::string(key);
  return Change(core, before, std::move(after)).Run();
}

Status AlterSeries(Core& core, SeriesId id, const SeriesChange& change) {
  MutexLock life(core.life_mutex);
  TSDB_ASSIGN_OR_RETURN(const SeriesDefinition before, LiveDefinition(core, id));
  SeriesDefinition after = before;
  if (change.labels && *change.labels != before.labels) {
    if (!before.created_by_key) {
      return Status::InvalidArgument(
          fmt::format("series {} was created by labels: they cannot change", before.ShownKey()));
    }
    after.labels = *change.labels;
  }
  SeriesSettings& settings = after.settings;
  settings.retention = change.retention.value_or(settings.retention);
  settings.expiry = change.expiry.value_or(settings.expiry);
  settings.ignore_max_time_diff = change.ignore_max_time_diff.value_or(settings.ignore_max_time_diff);
  settings.ignore_max_value_diff = change.ignore_max_value_diff.value_or(settings.ignore_max_value_diff);
  if (change.duplicates) {
    settings.has_duplicates = change.duplicates->has_value();
    settings.duplicates = change.duplicates->value_or(DuplicatePolicy::kLast);
  }
  TSDB_RETURN_IF_ERROR(CheckSettings(settings));
  if (after == before) {
    return Status::Ok();
  }
  Change operation(core, before, std::move(after));
  if (change.retention && *change.retention != before.settings.retention) {
    TSDB_ASSIGN_OR_RETURN(const Timestamp from, VisibleFrom(core, *core.versions.Pin(), id));
    if (from > kTimestampMin) {
      IdSet ids;
      ids.Add(id.value);
      operation.deletes().Add(ids, {kTimestampMin, from - 1});
    }
  }
  return operation.Run();
}

}  // namespace tsdb::engine
