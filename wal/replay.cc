#include "wal/replay.h"

#include <algorithm>

#include "wal/replay_scan.h"
#include "wal/segment_reader.h"

namespace tsdb::wal {
namespace {

/// Hands operations on and keeps the visitor's own error apart from the decoder's.
class Forward final : public RecordVisitor {
 public:
  explicit Forward(RecordVisitor& to) : to_(to) {}
  bool wants_puts() const override { return to_.wants_puts(); }
  Status OnPuts(std::span<const Put> puts) override { return error_ = to_.OnPuts(puts); }
  Status OnDefinition(const SeriesDefinition& definition) override { return error_ = to_.OnDefinition(definition); }
  Status OnDelete(const DeleteOperation& operation) override { return error_ = to_.OnDelete(operation); }
  Status OnDrop(const DropOperation& operation) override { return error_ = to_.OnDrop(operation); }
  Status OnFloor(const FloorOperation& operation) override { return error_ = to_.OnFloor(operation); }
  Status OnSettings(const SettingsOperation& operation) override { return error_ = to_.OnSettings(operation); }
  const Status& error() const { return error_; }

 private:
  RecordVisitor& to_;
  Status error_;
};

/// Bytes behind the last usable frame, until a later frame or header says whether something was lost with them.
struct OpenHole {
  LogDamage damage;
  /// Reported even when no commit was lost.
  bool certain = false;
};

// Walks the segments with one cursor, `position_`: valid history up to there was visited, skipped or reported as lost.
// Every header and every extent is a link that says where valid history ended before it.
class Replayer {
 public:
  Replayer(FileSystem& fs, const std::string& directory, const ReplayOptions& options, ReplayVisitor& visitor)
      : fs_(fs), directory_(directory), options_(options), visitor_(visitor) {}

  Result<ReplayReport> Run();

 private:
  Status WalkSegment(const ScannedSegment& segment);
  void Link(const ScannedSegment& segment, CommitNumber previous);
  Status AddHole(SegmentReader& reader, std::uint64_t begin, std::uint64_t end, std::string reason, bool certain);
  void ReportHoles(bool tail, const std::string& lost);
  void EndLog(const ScannedSegment& segment);
  Status VisitExtent(SegmentReader& reader, const ScannedSegment& segment, const Extent& extent);
  Status VisitFrame(const std::string& path, std::uint64_t offset, const FrameHeader& header, std::string_view payload,
                    CommitNumber limit);
  Status VisitOne(CommitNumber commit, std::int64_t wall_nanos, std::string_view record, const std::string& place,
                  LogDamage damage);
  void Report(LogDamage damage);

  FileSystem& fs_;
  const std::string& directory_;
  const ReplayOptions& options_;
  ReplayVisitor& visitor_;
  ReplayReport report_;
  CommitNumber position_;
  CommitNumber synced_;
  std::vector<OpenHole> holes_;
  std::string end_path_;            // of the last usable byte so far
  std::uint64_t end_offset_ = 0;
  std::uint64_t last_number_ = 0;
  bool ended_ = false;
};

std::string CommitRange(CommitNumber after, CommitNumber last) {
  return after.value + 1 == last.value
             ? "commit " + std::to_string(last.value)
             : "commits " + std::to_string(after.value + 1) + " to " + std::to_string(last.value);
}

Result<ReplayReport> Replayer::Run() {
  TSDB_ASSIGN_OR_RETURN(const ScannedLog log, ScanLog(fs_, directory_, options_));
  report_.last_commit = log.last_commit;
  report_.last_wall_nanos = log.last_wall_nanos;
  report_.last_valid_commit = options_.after;
  report_.synced = log.synced;
  synced_ = log.synced;
  end_path_ = directory_;
  for (const ScannedSegment& segment : log.segments) {
    report_.last_segment = segment.number;
    ++report_.segments;
    if (ended_) {
      Report({segment.path, 0, segment.file_bytes, true, "behind the end of the log"});
      continue;
    }
    TSDB_RETURN_IF_ERROR(WalkSegment(segment));
  }
  if (!ended_) {
    const CommitNumber known = std::max(position_, options_.after);
    if (synced_ > known && holes_.empty()) {
      holes_.push_back({{end_path_, end_offset_, 0, true, "the log ends early"}, true});
    }
    ReportHoles(true, synced_ > known ? "; " + CommitRange(known, synced_) + " were synced and are lost" : "");
  }
  return std::move(report_);
}

void Replayer::Report(LogDamage damage) {
  report_.bytes_dropped += damage.bytes;
  report_.damage.push_back(std::move(damage));
}

void Replayer::ReportHoles(bool tail, const std::string& lost) {
  for (OpenHole& hole : holes_) {
    hole.damage.tail = tail;
    hole.damage.reason += lost;
    Report(std::move(hole.damage));
  }
  holes_.clear();
}

Status Replayer::AddHole(SegmentReader& reader, std::uint64_t begin, std::uint64_t end, std::string reason,
                         bool certain) {
  if (reason.empty()) {
    TSDB_ASSIGN_OR_RETURN(const bool zero, reader.IsZero(begin, end));
    reason = zero ? "zero bytes behind the last group" : "no whole group here";
  }
  holes_.push_back({{reader.path(), begin, end - begin, false, std::move(reason)}, certain});
  return {};
}

// Judges what lies between the cursor and a header or extent that says history before it ended at `previous`.
void Replayer::Link(const ScannedSegment& segment, CommitNumber previous) {
  const CommitNumber known = std::max(position_, options_.after);
  const CommitNumber last = std::min(previous, segment.limit);
  if (last > known) {
    const std::string range = CommitRange(known, last);
    if (last > synced_) {
      EndLog(segment);
      return;
    }
    if (holes_.empty()) {
      report_.begins_late = report_.begins_late || end_path_ == directory_;
      const bool missing = last_number_ != 0 && segment.number > last_number_ + 1;
      holes_.push_back({{missing ? JoinPath(directory_, SegmentFileName(last_number_ + 1)) : end_path_,
                         missing ? 0 : end_offset_, 0, false,
                         missing                   ? "segment is missing"
                         : end_path_ == directory_ ? "the log begins late"
                                                   : "segment ends early"},
                        true});
    }
    ReportHoles(false, "; " + range + " lost");
  } else {
    // Nothing was lost: left over from a failed write that a later segment made void, or from an earlier repair.
    std::erase_if(holes_, [](const OpenHole& hole) { return !hole.certain; });
    ReportHoles(false, "; no commit lost");
  }
  position_ = std::max(position_, last);
}

// The hole before the cursor was not synced: from it on nothing of this segment counts.
void Replayer::EndLog(const ScannedSegment& segment) {
  ended_ = true;
  if (holes_.empty() || holes_.back().damage.path != segment.path) {
    holes_.push_back({{segment.path, 0, segment.file_bytes, true, "behind the end of the log"}, true});
  }
  LogDamage& damage = holes_.back().damage;
  damage.bytes = segment.file_bytes - damage.offset;
  ReportHoles(true, "");
}

Status Replayer::WalkSegment(const ScannedSegment& segment) {
  TSDB_ASSIGN_OR_RETURN(const auto reader, SegmentReader::Open(fs_, directory_, segment.number));
  reader->set_store(options_.store_id);
  if (segment.foreign) {
    Report({segment.path, 0, segment.file_bytes, false, "belongs to another database; it is left alone"});
    return {};
  }
  std::uint64_t usable = 0;
  if (segment.has_header) {
    Link(segment, segment.header.last_valid);
    usable = kSegmentHeaderBytes;
  }
  for (const Extent& extent : segment.extents) {
    if (extent.begin > usable) {
      const bool header = usable == 0;
      TSDB_RETURN_IF_ERROR(AddHole(*reader, usable, extent.begin, header ? "segment header is damaged" : "", header));
    }
    if (!ended_) {
      Link(segment, extent.previous);
    }
    if (ended_) {
      return {};
    }
    TSDB_RETURN_IF_ERROR(VisitExtent(*reader, segment, extent));
    usable = extent.end;
  }
  if (segment.file_bytes == 0) {
    TSDB_RETURN_IF_ERROR(AddHole(*reader, 0, 0, "segment is empty", false));
  } else if (segment.file_bytes > usable) {
    TSDB_RETURN_IF_ERROR(
        AddHole(*reader, usable, segment.file_bytes, usable == 0 ? "segment header is damaged" : "", false));
  }
  if (usable > 0) {
    end_path_ = segment.path;
    end_offset_ = std::min(usable, segment.file_bytes);
  }
  last_number_ = segment.number;
  return {};
}

Status Replayer::VisitExtent(SegmentReader& reader, const ScannedSegment& segment, const Extent& extent) {
  for (std::uint64_t offset = extent.begin; offset < extent.end;) {
    FrameHeader header;
    std::string_view payload;
    TSDB_ASSIGN_OR_RETURN(auto found, reader.ReadFrameHeader(offset, &header));
    const CommitNumber last = found == SegmentReader::Found::kFrame ? header.last() : CommitNumber();
    if (found == SegmentReader::Found::kFrame && (last <= options_.after || header.first > segment.limit)) {
      report_.commits_skipped += header.records;
    } else {
      TSDB_ASSIGN_OR_RETURN(found, reader.ReadFrame(offset, &header, &payload));
      if (found != SegmentReader::Found::kFrame) {
        return Status::IoError(
            segment.path + "@" + std::to_string(offset) +
            ": a group that verified does not verify any more; is something else writing this file?");
      }
      TSDB_RETURN_IF_ERROR(VisitFrame(segment.path, offset, header, payload, segment.limit));
    }
    position_ = std::max(position_, std::min(last, segment.limit));
    offset += FrameBytes(header.payload_bytes);
  }
  return {};
}

Status Replayer::VisitFrame(const std::string& path, std::uint64_t offset, const FrameHeader& header,
                            std::string_view payload, CommitNumber limit) {
  ByteReader reader(payload);
  const std::string place = path + "@" + std::to_string(offset);
  const LogDamage damage{path, offset, FrameBytes(header.payload_bytes), false, ""};
  bool visited = false;
  for (std::uint32_t i = 0; i < header.records; ++i) {
    std::string_view record;
    if (!reader.ReadLengthPrefixed(&record)) {
      LogDamage cut = damage;
      cut.reason = "verified group holds fewer records than it says";
      Report(std::move(cut));
      break;
    }
    const CommitNumber commit{header.first.value + i};
    if (commit <= options_.after || commit <= position_ || commit > limit) {
      ++report_.commits_skipped;
      continue;
    }
    visited = true;
    TSDB_RETURN_IF_ERROR(VisitOne(commit, header.wall_nanos, record, place, damage));
  }
  report_.groups += visited ? 1 : 0;
  return {};
}

Status Replayer::VisitOne(CommitNumber commit, std::int64_t wall_nanos, std::string_view record,
                          const std::string& place, LogDamage damage) {
  TSDB_RETURN_IF_ERROR(visitor_.OnCommit(commit, wall_nanos));
  Forward forward(visitor_);
  const Status status = VisitRecord(record, commit, forward);
  TSDB_RETURN_IF_ERROR(forward.error());
  if (status.code() == StatusCode::kCorruption) {
    damage.bytes = record.size();
    damage.reason = "verified record does not decode: " + std::string(status.message());
    Report(std::move(damage));
  } else if (!status.ok()) {
    return status.WithContext(place);
  }
  ++report_.commits;
  report_.last_valid_commit = std::max(report_.last_valid_commit, commit);
  return {};
}

}  // namespace

Result<ReplayReport> Replay(FileSystem& fs, const std::string& directory, const ReplayOptions& options,
                            ReplayVisitor& visitor) {
  return Replayer(fs, directory, options, visitor).Run();
}

}  // namespace tsdb::wal
