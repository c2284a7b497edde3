// Follower: brings a Core to what is on disk, beside the process that writes it or without one, as often as asked.
//
//   manifest ─► chunk files (those opened before are kept) ─► index: what RocksDB holds now, opened read-only, and
//            ─► newer catalogue files ─► log behind the manifest's position ─► one new version
//
// Correct without RocksDB: then all definitions are read into memory. Writes nothing and takes no lock of the database.
// A file that vanished, or a manifest that moved on while the log was read: from the start, a bounded number of times.
// The torn end of the log is what the writer has not finished yet.
//
// Thread safety: one call at a time; readers of the Core (queries, the index) run beside it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "base/id_set.h"
#include "chunk/manifest.h"
#include "engine/core.h"
#include "engine/follow_log.h"
#include "tsdb/result.h"
#include "wal/replay.h"

namespace tsdb::engine {

class Follower {
 public:
  /// See Database::OpenReadOnly for the errors.
  static Result<std::unique_ptr<Follower>> Open(const std::string& path, const ReadOnlyOptions& options,
                                                const Environment& environment);

  Core& core() { return core_; }
  /// Takes in everything acknowledged before the call. With options.lazy_head only definitions are read from the log.
  Status Refresh() { return Follow(nullptr); }
  /// The same, and the head of the current version holds the samples of the series that match, no others.
  Status RefreshFor(const Selector& selector) { return Follow(&selector); }
  /// Commits up to here are seen; known to be synced.
  CommitNumber last_commit() const { return position_; }
  CommitNumber synced_commit() const { return synced_; }
  std::uint64_t segments() const { return segments_; }

 private:
  /// Commit of the newest change of a definition, by id.
  using LastCommits = std::unordered_map<std::uint64_t, CommitNumber>;
  /// What became of an attempt: done, or the writer moved on and it has to be made again.
  enum class Outcome { kDone, kAgain };

  explicit Follower(bool lazy_head) : lazy_head_(lazy_head) {}

  Status Follow(const Selector* selector);
  Result<Outcome> TryFollow(const chunk::ManifestState& state, const Selector* selector);
  Result<Outcome> OpenFiles(const chunk::ManifestState& state, Version* version);
  Result<Outcome> OpenIndex(const chunk::ManifestState& state);
  Result<Outcome> ReadCatalogue(const chunk::ManifestState& state);
  /// `go_on`: from position_, into the generation there is.
  Result<Outcome> FollowLog(const chunk::ManifestState& state, const Selector* selector, bool go_on, Version version);
  /// One pass over the log; `report` is complete when it is done.
  Result<Outcome> ReadLog(const chunk::ManifestState& state, CommitNumber after, FollowLogVisitor& visitor,
                          wal::ReplayReport* report);
  /// The second pass of a lazy head: samples of the series that match, up to position `through`.
  Result<Outcome> FillFor(const chunk::ManifestState& state, const Selector& selector, CommitNumber through,
                          Generation* generation);
  /// True when nothing was begun that could have made commits void: what the log said up to position_ still holds.
  Result<bool> IsLogTheSame(const chunk::ManifestState& state) const;
  /// Whether the files or the position of the manifest changed since `state` was read.
  Result<bool> MovedOn(const chunk::ManifestState& state) const;
  void TakeDefinition(const SeriesDefinition& definition);
  /// Series of which the log told something that neither it nor the files say any more: a write that failed.
  IdSet VoidIds(const chunk::ManifestState& state, const LastCommits& logged) const;
  /// Gives the index what files and log (up to `through`) say of these series; those they do not know end.
  Result<Outcome> Restore(const chunk::ManifestState& state, const IdSet& ids, CommitNumber through);
  void Note(const std::string& note);

  const bool lazy_head_;
  std::function<Result<std::unique_ptr<index::SeriesIndex>>(const std::string&, const index::IndexOptions&)>
      open_index_;
  Core core_;

  // As of the last attempt that was done.
  bool opened_ = false;
  CommitNumber flushed_;
  CommitNumber position_;      // last commit taken in
  CommitNumber synced_;
  std::uint64_t segment_ = 0;  // highest one seen
  std::uint64_t segments_ = 0;
  bool head_is_whole_ = false;  // the mutable generation holds all samples in (flushed_, position_]
  std::uint64_t next_generation_ = 1;

  // Of the index. Definitions up to applied_ were taken in; those of the log may turn out void.
  CommitNumber applied_;
  CommitNumber catalogue_applied_;
  LastCommits logged_;
  LastCommits seen_in_catalogue_;  // of those in logged_
  std::set<std::string> notes_;  // each is told once
};

}  // namespace tsdb::engine
