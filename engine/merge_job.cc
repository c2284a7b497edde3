#include "engine/merge_job.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compaction/merge.h"
#include "compaction/output_plan.h"
#include "compaction/picker.h"
#include "engine/flush_job.h"
#include "engine/merge_hold.h"
#include "engine/publish.h"
#include "engine/retention.h"

namespace tsdb::engine {
namespace {

/// A merge of at most this much runs while the database closes: well below a second.
constexpr std::uint64_t kBytesBeforeClose = 8ull << 20;

/// The files a pick is made from, and those of them that are open.
struct LiveFiles {
  std::vector<chunk::ChunkFileMeta> metas;  // ascending by last commit
  compaction::PickOptions options;
  VersionPtr version;
  CommitNumber flushed_commit;  // every delete up to here is among the version's tombstones

  const chunk::ChunkFileReader* Find(std::uint64_t number) const {
    for (const ChunkFilePtr& file : version->files) {
      if (file->meta().number == number) {
        return file.get();
      }
    }
    return nullptr;
  }
};

LiveFiles FindLiveFiles(Core& core) TSDB_REQUIRES(core.merge_mutex) {
  // What the merge before read is no longer held by now.
  RemoveRetired(core, false);
  LiveFiles live;
  {
    MutexLock lock(core.manifest_mutex);
    live.metas = core.manifest->state().chunk_files;
    live.version = core.versions.Pin();
    live.flushed_commit = core.manifest->state().flushed_commit;
  }
  std::ranges::stable_sort(live.metas, {}, &chunk::ChunkFileMeta::last_commit);
  live.options.unit = core.settings.unit;
  live.options.unreadable = core.damaged_files;
  Timestamp newest = kTimestampMin;
  for (const chunk::ChunkFileMeta& meta : live.metas) {
    newest = std::max(newest, meta.last_time);
    if (live.Find(meta.number) == nullptr) {
      live.options.unreadable.insert(meta.number);
    }
  }
  live.options.now = std::min(newest, WallTime(*core.clock, core.settings.unit));
  return live;
}

Status RunPick(Core& core, const LiveFiles& live, const compaction::Pick& pick, bool final_form)
    TSDB_REQUIRES(core.merge_mutex) {
  compaction::MergeInput input;
  const IdSet dead = core.dropped.Dead();
  input.tombstones = live.version->tombstones->all();
  input.dead = &dead;
  IdSet own = core.retention.own();
  own |= core.dropped.Waiting();
  input.floor = core.retention.floor();
  input.above_floor = &own;
  input.database_path = core.path;
  input.store_high = core.store_id.high;
  input.store_low = core.store_id.low;
  input.file_numbers = &core.file_numbers;
  input.control = &core.merge_control;
  for (const std::uint64_t number : pick.files) {
    input.files.push_back(live.Find(number));
  }
  if (pick.cut) {
    const auto partitions = compaction::FindPartitions(live.metas, live.options.unit);
    const chunk::ChunkFileReader* failed = nullptr;
    const auto days = compaction::EstimateDayBytes(input.files, live.options.unit, &failed);
    if (!days.ok()) {
      core.merge_control.damaged_file.store(failed->meta().number);
      return days.status();
    }
    input.outputs =
        compaction::PlanOutputs(*days, partitions, {live.options.unit, live.options.now, final_form});
  } else {
    input.outputs.push_back({{pick.span}, pick.level});
  }
  TSDB_ASSIGN_OR_RETURN(chunk::ManifestEdit edit, compaction::Merge(input, *core.fs));
  for (chunk::ChunkFileMeta& meta : edit.added_chunk_files) {
    meta.purged_commit = live.flushed_commit;
  }
  TSDB_RETURN_IF_ERROR(CommitEdit(core, edit, nullptr));
  core.merges.fetch_add(1, std::memory_order_relaxed);
  for (const chunk::ChunkFileMeta& meta : edit.added_chunk_files) {
    core.merge_bytes.fetch_add(meta.bytes, std::memory_order_relaxed);
  }
  core.RefreshMemory();
  return Status::Ok();
}

/// As RunPick, with what has to be counted and remembered when it fails.
Status RunAndTell(Core& core, const LiveFiles& live, const compaction::Pick& pick, bool final_form)
    TSDB_REQUIRES(core.merge_mutex) {
  core.merge_running.store(true, std::memory_order_relaxed);
  Status status = RunPick(core, live, pick, final_form);
  core.merge_running.store(false, std::memory_order_relaxed);
  if (status.code() == StatusCode::kCancelled) {
    return status;
  }
  {
    MutexLock lock(core.memory_mutex);
    core.merge_error = status;
  }
  if (status.ok()) {
    return status;
  }
  core.merge_failures.fetch_add(1, std::memory_order_relaxed);
  if (status.code() == StatusCode::kCorruption) {
    core.damaged_files.insert(core.merge_control.damaged_file.load());
  }
  core.Log(LogLevel::kError, fmt::format("merge failed, its files are as they were: {}", status.ToString()));
  return status;
}

/// Asked between chunks: whether the merge may go on. Looks at most once a second.
std::function<bool()> NotHeld(Core& core) {
  constexpr std::int64_t kSecondNanos = 1'000'000'000;
  return [&core, looked = core.clock->MonotonicNanos(), held = false]() mutable {
    const std::int64_t now = core.clock->MonotonicNanos();
    if (now - looked >= kSecondNanos) {
      looked = now;
      held = IsMergeHeld(*core.fs, core.path);
    }
    return !held;
  };
}

Status Closed() { return Status::Closed("the database was closed: open it again"); }

CompactReport Measure(const LiveFiles& live) {
  CompactReport report;
  for (const chunk::ChunkFileMeta& meta : live.metas) {
    ++report.files_before;
    report.bytes_before += meta.bytes;
    report.samples_before += meta.samples;
  }
  return report;
}

/// The next file that holds something nobody is to see any more; null: none does.
const chunk::ChunkFileMeta* FindImpure(const Core& core, const LiveFiles& live, std::uint64_t number_end) {
  const bool dead = !core.dropped.Dead().empty();
  for (const chunk::ChunkFileMeta& meta : live.metas) {
    if (live.options.unreadable.contains(meta.number) || meta.number >= number_end) {
      continue;
    }
    std::vector<chunk::TombstonePtr> deletes;
    live.version->tombstones->CollectAfter(std::max(meta.last_commit, meta.purged_commit),
                                           {meta.first_time, meta.last_time}, &deletes);
    const bool holds_dead = dead && std::ranges::any_of(core.dropped.all(), [&](const chunk::Drop& drop) {
      return drop.dead_from_file > meta.number;
    });
    if (!deletes.empty() || holds_dead || meta.first_time < core.retention.floor()) {
      return &meta;
    }
  }
  return nullptr;
}

/// Writes every such file anew by itself, where it is.
Status Purge(Core& core, CompactReport* report, Status* damage) TSDB_REQUIRES(core.merge_mutex) {
  const std::uint64_t number_end = core.file_numbers.next();
  TSDB_RETURN_IF_ERROR(BuryDropped(core));
  for (;;) {
    core.merge_control.cancelled.store(false);
    if (core.closed.load()) {
      return Closed();
    }
    const LiveFiles live = FindLiveFiles(core);
    const chunk::ChunkFileMeta* impure = FindImpure(core, live, number_end);
    if (impure == nullptr) {
      return Status::Ok();
    }
    compaction::Pick pick;
    pick.files = {impure->number};
    pick.level = impure->level;
    pick.span = compaction::IsPartitioned(impure->level)
                    ? compaction::SpanOf(impure->first_time, impure->level == compaction::kLevelWarmDay
                                                                 ? compaction::kLevelDay
                                                                 : impure->level, core.settings.unit)
                    : TimeRange{};
    const Status status = RunAndTell(core, live, pick, true);
    if (status.code() == StatusCode::kCorruption) {
      *damage = damage->ok() ? status : *damage;
    } else {
      TSDB_RETURN_IF_ERROR(status);
      ++report->merges;
    }
  }
}

}  // namespace

bool MergingIsDue(Core& core) {
  constexpr std::int64_t kMinuteNanos = 60'000'000'000;
  const std::int64_t now = core.clock->MonotonicNanos();
  if (now - core.retention_checked_nanos.load(std::memory_order_relaxed) >= kMinuteNanos && RetentionIsDue(core)) {
    core.retention_checked_nanos.store(now, std::memory_order_relaxed);
    return true;
  }
  return core.merge_check.exchange(false);
}

Status MergeInBackground(Core& core) {
  TSDB_RETURN_IF_ERROR(EnforceRetention(core));
  if (!core.options.merging) {
    return Status::Ok();
  }
  for (;;) {
    MutexLock lock(core.merge_mutex);
    core.merge_control.cancelled.store(false);
    // Whoever closes or pauses sets its flag first, then cancels.
    if (core.closed.load() || core.merging_paused.load()) {
      return Status::Ok();
    }
    if (IsMergeHeld(*core.fs, core.path)) {
      core.merge_check.store(true);  // looks again in a second
      return Status::Ok();
    }
    const LiveFiles live = FindLiveFiles(core);
    const compaction::Pick pick = compaction::PickMerge(live.metas, live.options);
    if (pick.files.empty()) {
      return Status::Ok();
    }
    core.merge_control.keep_going = NotHeld(core);
    core.merge_control.bytes_per_second.store(core.options.merge_bytes_per_second);
    if (const Status status = RunAndTell(core, live, pick, false); !status.ok()) {
      core.merge_check.store(true);
      return status.code() == StatusCode::kCancelled ? Status::Ok() : status;
    }
  }
}

void MergeBeforeClose(Core& core) {
  if (!core.options.merging) {
    return;
  }
  MutexLock lock(core.merge_mutex);
  const LiveFiles live = FindLiveFiles(core);
  const compaction::Pick pick = compaction::PickMerge(live.metas, live.options);
  std::uint64_t bytes = 0;
  for (const std::uint64_t number : pick.files) {
    bytes += live.Find(number)->meta().bytes;
  }
  if (pick.files.empty() || bytes > kBytesBeforeClose || core.merging_paused.load() ||
      IsMergeHeld(*core.fs, core.path)) {
    return;
  }
  core.merge_control.cancelled.store(false);
  core.merge_control.keep_going = nullptr;
  core.merge_control.bytes_per_second.store(0);
  static_cast<void>(RunAndTell(core, live, pick, false));  // it has told
}

Result<CompactReport> Compact(Core& core, const CompactOptions& options) {
  TSDB_RETURN_IF_ERROR(Flush(core));
  const CommitNumber last_commit{core.flushed_commit.load(std::memory_order_relaxed)};
  MutexLock lock(core.merge_mutex);
  CompactReport report = Measure(FindLiveFiles(core));
  core.merge_control.bytes_per_second.store(0);
  core.merge_control.keep_going = [&core, &options, &report] {
    const auto& control = core.merge_control;
    return !options.progress || options.progress({report.merges, control.samples_done.load(),
                                                  control.samples_total.load(), control.bytes_written.load()});
  };
  Status damage;
  bool rest_is_final = false;
  for (;;) {
    core.merge_control.cancelled.store(false);
    if (core.closed.load()) {
      return Closed();
    }
    const LiveFiles live = FindLiveFiles(core);
    const compaction::Pick pick = compaction::PickFinal(live.metas, live.options, last_commit, rest_is_final);
    if (pick.files.empty()) {
      break;
    }
    const Status status = RunAndTell(core, live, pick, true);
    if (status.code() == StatusCode::kCorruption && damage.ok()) {
      damage = status;
    } else if (status.code() != StatusCode::kCorruption) {
      TSDB_RETURN_IF_ERROR(status);
    }
    rest_is_final |= pick.cut && status.ok();
    report.merges += status.ok() ? 1 : 0;
  }
  if (options.purge) {
    TSDB_RETURN_IF_ERROR(Purge(core, &report, &damage));
  }
  TSDB_RETURN_IF_ERROR(damage);
  const CompactReport after = Measure(FindLiveFiles(core));
  report.files_after = after.files_before;
  report.bytes_after = after.bytes_before;
  report.samples_after = after.samples_before;
  return report;
}

void CancelMerge(Core& core) { core.merge_control.cancelled.store(true); }

}  // namespace tsdb::engine
