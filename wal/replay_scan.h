// First pass of Replay: what each segment file holds and which commits are known to have been synced, without looking
// into the records.
//
// Thread safety: pure function and values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "tsdb/result.h"
#include "wal/replay.h"
#include "wal/segment.h"

namespace tsdb::wal {

/// Verified frames one behind the other, each one's `previous` being the last commit of the one before.
struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // may lie behind the end of the file by the padding of the last frame
  CommitNumber previous;  // last valid commit before the first frame
  CommitNumber last;
};

struct ScannedSegment {
  std::uint64_t number = 0;
  std::string path;
  std::uint64_t file_bytes = 0;
  bool has_header = false;
  bool foreign = false;  // of another store: its frames were not looked at
  SegmentHeader header;
  std::vector<Extent> extents;  // ascending
  /// Commits above it are void in this segment: a later one says that valid history ended here.
  CommitNumber limit;
};

struct ScannedLog {
  std::vector<ScannedSegment> segments;  // ascending
  CommitNumber synced;                   // commits up to here were synced (or had failed)
  CommitNumber last_commit;              // highest number in any valid header or frame header
  std::int64_t last_wall_nanos = 0;
};

/// Errors: kNotSupported (segment or frame of a later version) and those of the file system. A folder that does not
/// exist is an empty log.
Result<ScannedLog> ScanLog(FileSystem& fs, const std::string& directory, const ReplayOptions& options);

}  // namespace tsdb::wal
