#include "engine/retention.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/delete_operation.h"
#include "engine/file_lookup.h"
#include "engine/masks.h"
#include "engine/publish.h"
#include "engine/series_change.h"

namespace tsdb::engine {
namespace {

Timestamp Before(Timestamp now, std::int64_t age) {
  if (age == 0 || now == kTimestampMin) {
    return kTimestampMin;
  }
  return now < kTimestampMin + age ? kTimestampMin : now - age;
}

/// Lowest time that any age leaves at `now`; series with a retention of their own are not asked.
Timestamp LowestKept(const RetentionRules& rules, Timestamp now) {
  Timestamp lowest = Before(now, rules.age);
  for (const auto& one : rules.classes) {
    lowest = std::min(lowest, Before(now, one.settings.age));
  }
  return lowest;
}

chunk::ManifestEdit RetentionEdit(const Core& core) {
  chunk::ManifestEdit edit;
  edit.retention = core.retention.positions();
  edit.last_wall_nanos = core.clock->WallNanos();
  return edit;
}

/// True when some series of the file has a retention of its own under which a sample of the file is kept.
Result<bool> HoldsKeptByOwn(Core& core, const Version& version, const chunk::ChunkFileReader& file) {
  const IdSet own = core.retention.own();
  const IdSet waiting = core.dropped.Waiting();
  if (own.empty() && waiting.empty()) {
    return false;
  }
  chunk::ChunkRows rows;
  for (std::size_t block = 0; block < file.blocks(); ++block) {
    TSDB_RETURN_IF_ERROR(file.ReadBlock(block, &rows));
    for (const chunk::ChunkEntry& entry : rows.entries) {
      if (waiting.Contains(entry.id.value)) {
        return true;  // with whatever settings it comes back
      }
      if (!own.Contains(entry.id.value)) {
        continue;
      }
      TSDB_ASSIGN_OR_RETURN(const Timestamp from, VisibleFrom(core, version, entry.id));
      if (entry.last_time >= from) {
        return true;
      }
    }
  }
  return false;
}

/// Ends series whose newest sample is older than their expiry.
Status DropExpiredSeries(Core& core) {
  const Timestamp now = core.retention.trusted();
  IdSet expired;
  std::vector<SeriesId> ids;
  for (const std::uint64_t id : core.retention.own().ToVector()) {
    ids.push_back(SeriesId{id});
  }
  TSDB_ASSIGN_OR_RETURN(const auto definitions, core.index->FindByIds(ids));
  const VersionPtr version = core.versions.Pin();
  for (const auto& definition : definitions) {
    if (!definition || definition->settings.expiry == 0) {
      continue;
    }
    TSDB_ASSIGN_OR_RETURN(const auto newest, NewestSample(core, *version, definition->id));
    if (newest && newest->time < Before(now, definition->settings.expiry)) {
      expired.Add(definition->id.value);
    }
  }
  if (expired.empty()) {
    return Status::Ok();
  }
  DropOptions options;
  options.grace_ms = 0;
  return DropSeries(core, expired, options, wal::DropReason::kExpired).status();
}

/// Files of which nothing may be seen any more.
Status RemoveExpiredFiles(Core& core) TSDB_REQUIRES(core.merge_mutex) {
  const std::shared_ptr<const RetentionRules> rules = core.retention.rules();
  const Timestamp kept = std::max({core.retention.floor(), core.retention.bytes_floor(),
                                   LowestKept(*rules, core.retention.trusted())});
  if (kept == kTimestampMin) {
    return Status::Ok();
  }
  const VersionPtr version = core.versions.Pin();
  chunk::ManifestEdit edit;
  for (const ChunkFilePtr& file : version->files) {
    if (file->meta().last_time >= kept) {
      continue;
    }
    const auto needed = HoldsKeptByOwn(core, *version, *file);
    if (!needed.ok()) {
      core.LogFailure(LogLevel::kWarning, "retention leaves a file alone", needed.status());
      continue;
    }
    if (!*needed) {
      edit.removed_chunk_files.push_back(file->meta().number);
    }
  }
  if (edit.removed_chunk_files.empty()) {
    return Status::Ok();
  }
  const std::uint64_t removed = edit.removed_chunk_files.size();
  core.retention.RaiseFloor(kept);
  edit.retention = core.retention.positions();
  edit.last_wall_nanos = core.clock->WallNanos();
  TSDB_RETURN_IF_ERROR(CommitEdit(core, edit, nullptr));
  core.expired_files.fetch_add(removed, std::memory_order_relaxed);
  return Status::Ok();
}

/// The oldest files, until the folder has few enough bytes.
Status RemoveBeyondBytes(Core& core) TSDB_REQUIRES(core.merge_mutex) {
  const std::uint64_t bytes_max = core.retention.rules()->bytes_max;
  while (bytes_max != 0) {
    RemoveRetired(core, false);
    TSDB_ASSIGN_OR_RETURN(const std::uint64_t bytes, TreeBytes(*core.fs, core.path));
    const VersionPtr version = core.versions.Pin();
    if (bytes <= bytes_max || version->files.empty()) {
      return Status::Ok();
    }
    const auto oldest = std::ranges::min_element(version->files, {}, [](const auto& f) { return f->meta().last_time; });
    const chunk::ChunkFileMeta& meta = (*oldest)->meta();
    // Samples from the future must not take those of other series with them: such a file stays until merging has put
    // them into one of their own.
    if (meta.last_time > core.retention.Now(*core.clock, core.settings.unit)) {
      core.Log(LogLevel::kWarning, fmt::format("{} bytes are more than {}, but every file holds samples of the future: "
                                               "nothing is removed until they are merged", bytes, bytes_max));
      return Status::Ok();
    }
    core.Log(LogLevel::kInfo, fmt::format("{} bytes are more than {}: {} goes, with samples up to {}", bytes, bytes_max,
                                          chunk::ChunkFileName(meta.number), meta.last_time));
    // All below is gone from all files: what other files hold of it is hidden.
    core.retention.RaiseBytesFloor(meta.last_time + 1);
    chunk::ManifestEdit edit = RetentionEdit(core);
    edit.removed_chunk_files.push_back(meta.number);
    TSDB_RETURN_IF_ERROR(CommitEdit(core, edit, nullptr));
    core.expired_files.fetch_add(1, std::memory_order_relaxed);
  }
  return Status::Ok();
}

/// Deletes what the ages of single classes hide at `now` and the floor that all have in common does not take.
Status DeleteExpiredAbove(Core& core, Timestamp floor, Timestamp now) {
  const std::shared_ptr<const RetentionRules> rules = core.retention.rules();
  if (rules->classes.empty()) {
    return Status::Ok();  // one age: the floor takes it all
  }
  DeleteOptions options;
  options.has_durability = true;
  options.durability = Durability::kAlways;
  TSDB_ASSIGN_OR_RETURN(IdSet left, IdsOf(core, Selector()));
  left -= core.retention.own();
  const auto expire = [&](const IdSet& ids, std::int64_t age) -> Status {
    const Timestamp from = Before(now, age);
    if (from <= floor || from == kTimestampMin || ids.empty()) {
      return Status::Ok();
    }
    return DeleteSamples(core, ids, {kTimestampMin, from - 1}, options).status();
  };
  for (const RetentionRules::Class& one : rules->classes) {  // the first that matches counts
    TSDB_ASSIGN_OR_RETURN(const Selector selector, Selector::Parse(one.settings.selector));
    TSDB_ASSIGN_OR_RETURN(IdSet ids, IdsOf(core, selector));
    ids &= left;
    left -= ids;
    TSDB_RETURN_IF_ERROR(expire(ids, one.settings.age));
  }
  return expire(left, rules->age);
}

}  // namespace

Result<std::optional<Sample>> NewestSample(Core& core, const Version& version, SeriesId id) {
  std::vector<chunk::DeletedRange> masks;
  std::optional<Sample> newest;
  {
    Stripe& stripe = core.stripes[StripeOf(id)];
    MutexLock lock(stripe.mutex);
    masks = MasksOf(version, id, TimeRange{});
    const auto take = [&](const Generation& generation, CommitNumber last_commit) {
      const HeadSeries* series = generation.Find(id);
      const auto found = series == nullptr ? std::nullopt : NewestOf(*series, last_commit, masks);
      if (found && (!newest || found->time >= newest->time)) {
        newest = found;
      }
    };
    for (const auto& generation : version.sealed) {
      take(*generation, generation->cut);
    }
    take(*version.mutable_generation, CommitNumber{UINT64_MAX});
  }
  FileLookup files(version, core.directory_blocks);
  TSDB_ASSIGN_OR_RETURN(const auto found, files.Newest(id, masks));
  return found && (!newest || found->time > newest->time) ? found : newest;
}

Result<Timestamp> VisibleFrom(Core& core, const Version& version, SeriesId id) {
  if (!core.retention.active()) {
    return kTimestampMin;
  }
  const Timestamp gone = core.retention.bytes_floor();
  const Timestamp floor = std::max(gone, core.retention.floor());
  const std::shared_ptr<const RetentionRules> rules = core.retention.rules();
  std::int64_t age = rules->age;
  if (core.retention.HasOwn(id) || !rules->classes.empty()) {
    TSDB_ASSIGN_OR_RETURN(const auto found, core.index->FindByIds({&id, 1}));
    if (!found[0]) {
      return floor;
    }
    if (const std::int64_t own = found[0]->settings.retention; own != 0) {
      TSDB_ASSIGN_OR_RETURN(const auto newest, NewestSample(core, version, id));
      return newest ? std::max(gone, Before(newest->time, own)) : gone;
    }
    age = rules->AgeOf(*found[0]);
  }
  return std::max(floor, Before(core.retention.Now(*core.clock, core.settings.unit), age));
}

Timestamp AcceptedFrom(const Core& core, const SeriesDefinition& definition) {
  const Timestamp gone = core.retention.bytes_floor();
  if (definition.settings.retention != 0) {
    return gone;
  }
  const Timestamp floor = std::max(gone, core.retention.floor());
  const std::int64_t age = core.retention.rules()->AgeOf(definition);
  return std::max(floor, Before(core.retention.Now(*core.clock, core.settings.unit), age));
}

Result<Timestamp> AcceptedFrom(const Core& core, SeriesId id) {
  if (!core.retention.HasOwn(id) && core.retention.rules()->classes.empty()) {
    return AcceptedFrom(core, SeriesDefinition());
  }
  TSDB_ASSIGN_OR_RETURN(const auto found, core.index->FindByIds({&id, 1}));
  return AcceptedFrom(core, found[0] ? *found[0] : SeriesDefinition());
}

Timestamp SurelyAcceptedFrom(const Core& core) {
  if (!core.retention.active()) {
    return kTimestampMin;
  }
  const std::shared_ptr<const RetentionRules> rules = core.retention.rules();
  const Timestamp now = core.retention.Now(*core.clock, core.settings.unit);
  Timestamp highest =
      std::max({core.retention.floor(), core.retention.bytes_floor(), Before(now, rules->age)});
  for (const auto& one : rules->classes) {
    highest = std::max(highest, Before(now, one.settings.age));
  }
  return highest;
}

Status AddOwnFloors(Core& core, const IdSet& ids, TimeRange range, PendingDeletes* deletes) {
  IdSet own = core.retention.own();
  own &= ids;
  const VersionPtr version = core.versions.Pin();
  for (const std::uint64_t id : own.ToVector()) {
    TSDB_ASSIGN_OR_RETURN(const auto newest, NewestSample(core, *version, SeriesId{id}));
    if (!newest || !range.Contains(newest->time)) {
      continue;
    }
    TSDB_ASSIGN_OR_RETURN(const Timestamp from, VisibleFrom(core, *version, SeriesId{id}));
    if (from > kTimestampMin) {
      IdSet one;
      one.Add(id);
      deletes->Add(one, {kTimestampMin, from - 1});
    }
  }
  return Status::Ok();
}

Status TakeRetention(const chunk::ManifestState& state, RetentionState* retention) {
  Retention settings;
  settings.age = state.settings.retention;
  settings.bytes_max = state.settings.bytes_max;
  settings.classes = state.retention.classes;
  TSDB_ASSIGN_OR_RETURN(auto rules, CompileRetention(settings));
  retention->Set(std::move(rules), state.retention);
  return Status::Ok();
}

Status ApplySettings(const wal::SettingsOperation& operation, RetentionState* retention) {
  Retention settings = retention->rules()->settings();
  settings.age = operation.retention.value_or(settings.age);
  settings.bytes_max = operation.bytes_max.value_or(settings.bytes_max);
  settings.classes = operation.classes.value_or(settings.classes);
  TSDB_ASSIGN_OR_RETURN(auto rules, CompileRetention(settings));
  retention->SetRules(std::move(rules));
  return Status::Ok();
}

RetentionInfo DescribeRetention(const Core& core) {
  RetentionInfo info;
  info.settings = core.retention.rules()->settings();
  info.now = core.retention.Now(*core.clock, core.settings.unit);
  info.floor = std::max(core.retention.floor(), core.retention.bytes_floor());
  info.clock_in_doubt = core.retention.in_doubt();
  return info;
}

Status SetRetention(Core& core, const Retention& retention) {
  TSDB_ASSIGN_OR_RETURN(auto rules, CompileRetention(retention));
  MutexLock life(core.life_mutex);
  // A clock in doubt makes nothing go for good.
  const Timestamp now = core.retention.in_doubt() ? core.retention.trusted()
                                                  : core.retention.Now(*core.clock, core.settings.unit);
  const Timestamp floor = std::max(core.retention.floor(), LowestKept(*core.retention.rules(), now));
  TSDB_RETURN_IF_ERROR(DeleteExpiredAbove(core, floor, now));
  wal::RecordBuilder record;
  if (floor > kTimestampMin) {
    record.AddFloor({floor});
  }
  record.AddSettings({retention.age, retention.bytes_max, retention.classes});
  wal::LogRecord log_record;
  log_record.payload = record.payload();
  while (!core.log->Enqueue(&log_record, Durability::kAlways, core.log->epoch())) {
  }
  TSDB_RETURN_IF_ERROR(core.log->Write(&log_record));
  CountLogged(core, log_record);
  core.retention.RaiseFloor(floor);
  core.retention.SetRules(std::move(rules));
  return Status::Ok();
}

Status AcceptClock(Core& core) {
  TSDB_RETURN_IF_ERROR(core.log->SyncThrough(core.log->last_assigned()));
  core.retention.Accept(core.retention.Now(*core.clock, core.settings.unit));
  return CommitEdit(core, RetentionEdit(core), nullptr);
}

Status BuryDropped(Core& core) {
  if (!core.dropped.Bury(core.clock->WallNanos(), core.file_numbers.next())) {
    return Status::Ok();
  }
  chunk::ManifestEdit edit;
  edit.drops = core.dropped.all();
  return CommitEdit(core, edit, nullptr);
}

bool RetentionIsDue(const Core& core) {
  return core.retention.active() || core.retention.rules()->bytes_max != 0 || core.dropped.Count() != 0;
}

Status EnforceRetention(Core& core) {
  TSDB_RETURN_IF_ERROR(BuryDropped(core));
  if (!RetentionIsDue(core)) {
    return Status::Ok();
  }
  // No sample that a power cut may still take away is to make others go.
  TSDB_RETURN_IF_ERROR(core.log->SyncThrough(core.log->last_assigned()));
  core.retention.AdvanceTrusted(*core.clock, core.settings.unit);
  TSDB_RETURN_IF_ERROR(DropExpiredSeries(core));
  MutexLock lock(core.merge_mutex);
  TSDB_RETURN_IF_ERROR(RemoveExpiredFiles(core));
  return RemoveBeyondBytes(core);
}

}  // namespace tsdb::engine
