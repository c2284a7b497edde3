// LogWriter: the file side of the log: builds frames, appends them, syncs, and moves on to the next segment.
//
//   BeginFrame · AddRecord* · FinishFrame         builds one frame and writes it with one Append
//
// What was written since the last good sync is kept in memory (`pending_`: whole frames, the newest at the end), so
// that after a failed sync it can be written again into a new segment.
//
// Rules that make replay exact:
//   - a segment is begun only after everything valid in the one before is synced, or is in `pending_` and written
//   again;
//     its header names the last valid commit before it; header, frames and folder are synced before BeginSegment is OK;
//   - nothing is ever appended to a segment after a write or sync on it failed, nor after the next one was begun.
//
// Not here: queueing, threads, commit numbering (log.cc).
// Thread safety: none; Log lets one thread at a time in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "tsdb/result.h"
#include "wal/log.h"
#include "wal/segment.h"

namespace tsdb::wal {

class LogWriter {
 public:
  LogWriter(FileSystem& fs, Clock& clock, std::string directory, const LogOptions& options);

  /// Creates the folder, finds the segments of earlier runs and syncs them: the next header calls them synced.
  Status Open();

  void BeginFrame();
  void AddRecord(std::string_view payload);
  /// Writes the frame, commits first … first + records - 1, and syncs when `sync` or when too much is unsynced. On an
  /// error the frame is dropped: kNoSpace means nothing of it is on disk, others that it may be.
  Status FinishFrame(CommitNumber first, bool sync);
  /// Leaves out the frame begun last.
  void AbandonFrame();

  /// All numbers up to `commit` are written or failed.
  void Settle(CommitNumber commit);
  /// Makes everything written durable; after a failed sync by writing it again into a new segment, once.
  Status Sync();
  /// The next frame begins a new segment.
  void RequestRoll() { roll_requested_ = true; }
  Status RemoveThrough(CommitNumber commit, bool include_active);
  /// Gives back reserved space and closes the segment, without syncing.
  void Close();

  CommitNumber last_valid() const { return last_valid_; }
  CommitNumber synced_through() const { return synced_through_; }
  bool has_unsynced() const { return !pending_.empty(); }
  std::uint64_t syncs() const { return syncs_; }
  std::uint64_t bytes() const;
  std::uint64_t segment_count() const { return closed_.size() + (file_ ? 1 : 0); }

 private:
  struct ClosedSegment {
    std::uint64_t number;
    CommitNumber last_commit;  // last valid one in it or before
    std::uint64_t bytes;
  };

  std::string PathOf(std::uint64_t number) const;
  Status ReserveFor(std::uint64_t bytes);
  Status WriteFinishedFrame(CommitNumber first, bool sync);
  Status WriteFrame(bool sync);
  void ClearPending();
  Status SyncFile();
  Status BeginSegment();
  Status FillNewSegment(WritableFile& file, std::uint64_t number);
  void RetireSegment();
  Status RemoveSegment(std::uint64_t number);

  // Constant.
  FileSystem& fs_;
  Clock& clock_;
  const std::string directory_;
  const StoreId store_id_;
  const std::uint64_t segment_bytes_max_;
  const std::uint64_t reserve_bytes_;
  const std::uint64_t unsynced_bytes_max_;

  // The segment in use; no file before the first frame.
  std::unique_ptr<WritableFile> file_;
  std::uint64_t number_ = 0;  // highest number tried so far
  std::uint64_t reserved_ = 0;
  bool given_up_ = false;     // a write or sync on it failed: nothing is appended any more
  bool sync_failed_ = false;  // its unsynced pages are not trusted: syncing again proves nothing
  bool roll_requested_ = false;

  std::vector<ClosedSegment> closed_;  // ascending
  bool removal_unsynced_ = false;      // of segments that were in it
  std::uint64_t prior_number_ = 0;     // segment before the one to be begun

  std::string pending_;          // frames written and not synced, then the frame being built
  std::size_t frame_at_ = 0;     // where the latter begins
  std::uint32_t frame_records_ = 0;
  bool frame_touched_disk_ = false;

  CommitNumber last_valid_;      // last commit written
  CommitNumber settled_;
  CommitNumber synced_through_;
  std::int64_t wall_nanos_ = 0;
  std::uint64_t syncs_ = 0;
};

}  // namespace tsdb::wal
