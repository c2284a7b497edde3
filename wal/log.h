// Log: the one write-ahead log. Numbers commits, writes them in groups, syncs them at their level, and cuts itself into
// segments.
//
//   thread A ── Enqueue ──┐                          ┌─ wakes A, B, C
//   thread B ── Enqueue ──┼─ queue ─ leader: group ──┤
//   thread C ── Enqueue ──┘   (one frame, one write, └─ one sync when any of them asks for it)
//
// Use: under the engine's order locks call epoch(), judge, then Enqueue (short, no I/O: gives the commit number).
// Without those locks call Write, which returns once the record is written (synced for Durability::kAlways) or failed;
// one of the waiting threads is the leader and does the I/O for all.
//
// State of a record: kPending → kWritten or kFailed, stored by the leader before the waiting threads are woken
// (release; readers of state() acquire). Records reach kWritten in commit order. When a group fails, every record
// queued at that moment fails with it and the epoch rises by one: an Enqueue with the older epoch is refused, because
// what it was judged against may have failed.
//
// Failure. No space (Reserve before a write says so): the group is refused, nothing of it is on disk. A failed write:
// the segment is given up; the next group starts a new segment whose header names the last valid commit and is synced
// before anything is acknowledged. A failed sync: pages are not trusted; frames written since the last good sync are
// still in memory and are written again, with the group, into a new segment, once; if that fails too the group fails.
// Writing resumes by itself with the next group that succeeds.
//
// Commit numbers only rise; gaps are legal (failed groups).
//
// Thread safety: all functions are thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/mutex.h"
#include "tsdb/result.h"
#include "tsdb/types.h"

namespace tsdb::wal {

/// Random number of a database, in every segment and chunk file: files of another database are not taken for ours.
struct StoreId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const StoreId&, const StoreId&) = default;
};

/// A record on its way. Owned by the caller, who keeps it alive until Write returned; reusable after that.
class LogRecord {
 public:
  enum class State : std::uint8_t { kPending, kWritten, kFailed };

  /// Encoded operations (RecordBuilder::payload), at most 1 GiB; set before Enqueue (another thread may write it from
  /// then on) and valid until Write returned.
  std::string_view payload;

  CommitNumber commit() const { return commit_; }
  State state() const { return state_.load(std::memory_order_acquire); }

 private:
  friend class GroupCommitLog;
  CommitNumber commit_;
  Durability durability_ = Durability::kNone;
  std::atomic<State> state_{State::kPending};
  Status status_;
  LogRecord* next_ = nullptr;
  CondVar* wake_ = nullptr;  // of the thread waiting in Write; guarded by the log's mutex
};

struct LogOptions {
  StoreId store_id;
  /// A segment is closed at about this size. Default 16 MiB.
  std::uint64_t segment_bytes_max = 16ull << 20;
  /// Reserve disk space in steps of this. Default 1 MiB.
  std::uint64_t reserve_bytes = 1ull << 20;
  /// Sync interval-level records at least this often; 0: no thread of its own, the owner calls SyncNow().
  std::uint32_t sync_interval_ms = 100;
  /// Bytes written and not yet synced are kept in memory up to this; beyond it the next group syncs. Default 32 MiB.
  std::uint64_t unsynced_bytes_max = 32ull << 20;
  /// Commits start above this (ReplayReport::last_commit and what the manifest knows).
  CommitNumber last_commit;
  /// Named by the first segment's header as the last valid commit before it (ReplayReport::last_valid_commit): commits
  /// above it in older segments stay void for good. At most last_commit.
  CommitNumber last_valid_commit;
  /// Segment numbers start above this.
  std::uint64_t last_segment = 0;
  /// Wall time of groups starts at least here (monotone per store).
  std::int64_t last_wall_nanos = 0;
  /// Called once when writing begins to fail (why) and once when it works again (OK), from whichever thread did the
  /// I/O; must not call the log. May be empty.
  std::function<void(const Status&)> on_state_change;
};

struct LogStats {
  std::uint64_t bytes = 0;     // of all segments present
  std::uint64_t segments = 0;
  std::uint64_t groups = 0;
  std::uint64_t commits = 0;
  std::uint64_t syncs = 0;
  CommitNumber last_assigned;
  CommitNumber last_written;
  CommitNumber last_synced;
  Status error;                // why writing fails at the moment
};

class Log {
 public:
  /// Starts a log in `directory` (created when missing) behind what Replay found there, and syncs the segments it
  /// finds. No segment is created before the first write. `fs` and `clock` outlive the log.
  static Result<std::unique_ptr<Log>> Open(FileSystem& fs, Clock& clock, std::string directory, LogOptions options);
  /// Ends the sync thread and closes the segment without syncing. No thread may be in a call.
  virtual ~Log() = default;

  /// Rises when queued records failed. Read it before judging, pass it to Enqueue.
  virtual std::uint64_t epoch() const = 0;
  /// Numbers and queues a record. False when `epoch` is no longer current: judge again. The caller must call Write
  /// next.
  virtual bool Enqueue(LogRecord* record, Durability durability, std::uint64_t epoch) = 0;
  /// Returns when the record is written at its level, or why it failed (kNoSpace: refused, is not on disk; others:
  /// failed).
  virtual Status Write(LogRecord* record) = 0;

  /// Highest number given so far.
  virtual CommitNumber last_assigned() const = 0;
  virtual CommitNumber last_synced() const = 0;
  /// Waits until everything up to `commit` is written and synced, syncing if need be. Numbers that failed count as
  /// done; one not given yet is kInvalidArgument.
  virtual Status SyncThrough(CommitNumber commit) = 0;
  /// Syncs what is written.
  virtual Status SyncNow() = 0;
  /// The next group starts a new segment. Call after a cut so that older segments become removable.
  virtual void RequestRoll() = 0;
  /// Unlinks segments that hold no commit above `commit` (the one in use stays, unless `include_active`: then it is
  /// closed and removed as well when nothing above `commit` is in it).
  virtual Status RemoveThrough(CommitNumber commit, bool include_active) = 0;
  virtual LogStats GetStats() const = 0;
};

}  // namespace tsdb::wal
