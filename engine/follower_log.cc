// The part of the Follower that reads the log.
#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "engine/follower.h"
#include "engine/open_index.h"
#include "wal/segment.h"

namespace tsdb::engine {
namespace {

constexpr CommitNumber kNoLimit{std::numeric_limits<std::uint64_t>::max()};

bool HasHole(const wal::ReplayReport& report) {
  return std::any_of(report.damage.begin(), report.damage.end(), [](const auto& damage) { return !damage.tail; });
}

}  // namespace

Result<bool> Follower::IsLogTheSame(const chunk::ManifestState& state) const {
  if (core_.index == nullptr || state.flushed_commit != flushed_) {
    return false;
  }
  TSDB_ASSIGN_OR_RETURN(const auto entries, core_.fs->List(JoinPath(core_.path, "wal")));
  std::uint64_t highest = 0;
  for (const DirectoryEntry& entry : entries) {
    highest = std::max(highest, wal::ParseSegmentFileName(entry.name).value_or(0));
  }
  return highest == segment_;
}

Result<Follower::Outcome> Follower::ReadLog(const chunk::ManifestState& state, CommitNumber after,
                                            FollowLogVisitor& visitor, wal::ReplayReport* report) {
  wal::ReplayOptions options;
  options.store_id = core_.store_id;
  options.after = after;
  options.synced = state.flushed_commit;
  auto replayed = wal::Replay(*core_.fs, JoinPath(core_.path, "wal"), options, visitor);
  if (replayed.status().code() == StatusCode::kNotFound) {
    return Outcome::kAgain;  // a segment was removed
  }
  TSDB_RETURN_IF_ERROR(replayed.status());
  *report = *std::move(replayed);
  // Segments go only after the manifest moved on. Unless it did, or everything up to its new position was seen in an
  // unbroken line, what was read is whole.
  TSDB_ASSIGN_OR_RETURN(const chunk::ManifestState now, chunk::Manifest::Load(*core_.fs, core_.path));
  const bool unbroken = !HasHole(*report) && report->last_valid_commit >= now.flushed_commit;
  return now.flushed_commit == state.flushed_commit || unbroken ? Outcome::kDone : Outcome::kAgain;
}

Result<Follower::Outcome> Follower::FollowLog(const chunk::ManifestState& state, const Selector* selector,
                                              bool go_on, Version version) {
  const VersionPtr current = core_.versions.Pin();
  version.mutable_generation =
      go_on ? current->mutable_generation : std::make_shared<Generation>(next_generation_++);
  LastCommits logged;
  FollowLogVisitor visitor(core_, version.mutable_generation.get(),
                           lazy_head_ ? WantedSamples::kNone : WantedSamples::kAll, kNoLimit,
                           [&](const SeriesDefinition& definition) {
                             TakeDefinition(definition);
                             const std::uint64_t id = definition.id.value;
                             logged[id] = definition.commit;
                             logged_[id] = std::max(logged_[id], definition.commit);  // also if this attempt fails
                           });
  wal::ReplayReport report;
  TSDB_ASSIGN_OR_RETURN(Outcome outcome, ReadLog(state, go_on ? position_ : state.flushed_commit, visitor, &report));
  if (outcome == Outcome::kDone && go_on && report.last_segment != segment_) {
    outcome = Outcome::kAgain;  // begun meanwhile: what was read before may be void
  }
  if (outcome == Outcome::kDone && !go_on) {
    TSDB_ASSIGN_OR_RETURN(outcome, Restore(state, VoidIds(state, logged), report.last_valid_commit));
  }
  if (outcome == Outcome::kDone && selector != nullptr) {
    TSDB_ASSIGN_OR_RETURN(outcome,
                          FillFor(state, *selector, report.last_valid_commit, version.mutable_generation.get()));
  }
  if (outcome == Outcome::kAgain) {
    head_is_whole_ = false;
    return outcome;
  }
  for (const wal::LogDamage& damage : report.damage) {
    if (!damage.tail) {
      Note(fmt::format("{}@{}: {} bytes skipped: {}", damage.path, damage.offset, damage.bytes, damage.reason));
    }
  }
  if (!opened_) {
    core_.recovery.segments = report.segments;
    core_.recovery.commits = report.commits;
    core_.recovery.samples = version.mutable_generation->samples();
  }
  if (!go_on) {
    logged_ = std::move(logged);
  }
  seen_in_catalogue_.clear();
  flushed_ = state.flushed_commit;
  catalogue_applied_ = std::max(catalogue_applied_, flushed_);
  position_ = std::max(flushed_, report.last_valid_commit);
  applied_ = std::max(applied_, position_);
  synced_ = std::max(flushed_, std::min(position_, report.synced));
  segment_ = report.last_segment;
  segments_ = report.segments;
  head_is_whole_ = !lazy_head_;
  core_.flushed_commit.store(flushed_.value, std::memory_order_relaxed);
  core_.versions.Set(std::make_shared<Version>(std::move(version)));
  return Outcome::kDone;
}

Result<Follower::Outcome> Follower::FillFor(const chunk::ManifestState& state, const Selector& selector,
                                            CommitNumber through, Generation* generation) {
  TSDB_ASSIGN_OR_RETURN(const std::vector<SeriesId> ids, core_.index->Select(selector));
  TSDB_ASSIGN_OR_RETURN(const std::uint64_t all, core_.index->Count());
  WantedSamples wanted = WantedSamples::kAll;
  if (ids.size() < all / 2) {
    wanted = WantedSamples::kOfKnownSeries;
    for (const SeriesId id : ids) {
      generation->Create(id, core_.settings.duplicates);
    }
  }
  FollowLogVisitor visitor(core_, generation, wanted, through, nullptr);
  wal::ReplayReport report;
  return ReadLog(state, state.flushed_commit, visitor, &report);
}

IdSet Follower::VoidIds(const chunk::ManifestState& state, const LastCommits& logged) const {
  const auto knows = [](const LastCommits& commits, std::uint64_t id, CommitNumber commit) {
    const auto found = commits.find(id);
    return found != commits.end() && found->second >= commit;
  };
  IdSet ids;
  for (const auto& [id, commit] : logged_) {
    const auto is_of = [id = id, commit = commit](const chunk::Drop& drop) {
      return drop.commit >= commit && drop.ids.Contains(id);
    };
    const bool dropped = std::any_of(state.drops.begin(), state.drops.end(), is_of);
    if (!dropped && !knows(logged, id, commit) && !knows(seen_in_catalogue_, id, commit)) {
      ids.Add(id);
    }
  }
  return ids;
}

Result<Follower::Outcome> Follower::Restore(const chunk::ManifestState& state, const IdSet& ids,
                                            CommitNumber through) {
  if (ids.empty()) {
    return Outcome::kDone;
  }
  std::unordered_map<std::uint64_t, SeriesDefinition> truth;
  const auto take = [&](const SeriesDefinition& definition) {
    if (ids.Contains(definition.id.value)) {
      truth[definition.id.value] = definition;
    }
  };
  CommitNumber in_files;
  TSDB_RETURN_IF_ERROR(VisitCatalogue(*core_.fs, core_.path, take, &in_files));
  if (in_files != state.flushed_commit) {
    return Outcome::kAgain;
  }
  FollowLogVisitor visitor(core_, nullptr, WantedSamples::kNone, through, take);
  wal::ReplayReport report;
  TSDB_ASSIGN_OR_RETURN(const Outcome outcome, ReadLog(state, state.flushed_commit, visitor, &report));
  if (outcome == Outcome::kDone) {
    ids.ForEach([&](std::uint64_t id) {
      SeriesDefinition& definition = truth[id];
      if (definition.id.value == 0) {  // only the failed write told of it
        definition.id = SeriesId{id};
        definition.commit = through;
        definition.dropped = true;
      }
      core_.index->Apply(definition);
    });
  }
  return outcome;
}

}  // namespace tsdb::engine
