// Replay: reads the log back after a crash. Pure reading: changes no file.
//
// What it gives: the records of an exact prefix of commits above `after`, in order, each whole. Frames carry their
// place (segment number and offset, in the checksum) and the last commit known to be synced when they were written:
//   - damage behind which no frame shows that the damaged commits had been synced is the torn end of a crash: the log
//     ends there;
//   - damage at commits that a later frame (or segment header, or the caller) knows to have been synced is bit rot:
//   only
//     the damaged frames are lost, reading goes on behind them, and the hole is reported;
//   - a segment header that names the last valid commit of the segment before makes later commits there void.
// A missing, empty or foreign (other store id) segment is reported and stepped over.
//
// Thread safety: the function is pure; one visitor per call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "tsdb/result.h"
#include "tsdb/types.h"
#include "wal/log.h"
#include "wal/record.h"

namespace tsdb::wal {

struct ReplayOptions {
  StoreId store_id;
  /// Commits up to here are in files already and are not visited.
  CommitNumber after;
  /// Commits up to here are known to have been synced (the manifest says so).
  CommitNumber synced;
};

/// A place of the log that could not be used.
struct LogDamage {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  /// True: the log ends here (torn tail). False: a hole in the middle.
  bool tail = false;
  std::string reason;
};

struct ReplayReport {
  std::uint64_t segments = 0;
  std::uint64_t groups = 0;
  std::uint64_t commits = 0;           // visited
  std::uint64_t commits_skipped = 0;   // at or below `after`, or void
  std::uint64_t bytes_dropped = 0;
  std::vector<LogDamage> damage;
  CommitNumber last_commit;            // highest number seen in a valid frame or header, void ones included
  CommitNumber last_valid_commit;      // highest number visited or skipped as already in files
  CommitNumber synced;                 // commits up to here are known to have been synced
  bool begins_late = false;            // commits behind `after` are missing, and the segments that held them are gone
  std::uint64_t last_segment = 0;      // highest segment number of a file in the folder
  std::int64_t last_wall_nanos = 0;
};

/// Receives commits in order.
class ReplayVisitor : public RecordVisitor {
 public:
  /// Before the operations of each commit.
  virtual Status OnCommit(CommitNumber commit, std::int64_t wall_nanos) = 0;
};

/// Errors: those of the visitor, kNotSupported (a segment or record of a newer version), I/O errors that are not damage
/// (kTooManyOpenFiles, kOutOfMemory, kIoError), and kNotFound beside a writer that removed a segment meanwhile (read
/// the manifest again). A folder that does not exist is an empty log. A record that verifies but does not decode is
/// reported as a hole; what stood before the damage in it was visited.
Result<ReplayReport> Replay(FileSystem& fs, const std::string& directory, const ReplayOptions& options,
                            ReplayVisitor& visitor);

/// "000017.log" for 17.
std::string SegmentFileName(std::uint64_t number);

}  // namespace tsdb::wal
