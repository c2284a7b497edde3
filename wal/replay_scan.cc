#include "wal/replay_scan.h"

#include <algorithm>
#include <limits>

#include "wal/segment_reader.h"

namespace tsdb::wal {
namespace {

void NoteHeader(const SegmentHeader& header, ScannedLog* log) {
  log->synced = std::max(log->synced, header.last_valid);
  log->last_commit = std::max(log->last_commit, header.last_valid);
  log->last_wall_nanos = std::max(log->last_wall_nanos, header.wall_nanos);
}

void NoteFrame(const FrameHeader& header, ScannedLog* log) {
  log->synced = std::max(log->synced, header.synced);
  log->last_commit = std::max(log->last_commit, header.last());
  log->last_wall_nanos = std::max(log->last_wall_nanos, header.wall_nanos);
}

Status ScanFrames(SegmentReader& reader, ScannedSegment* segment, ScannedLog* log) {
  bool in_extent = false;
  for (std::uint64_t offset = kSegmentHeaderBytes; offset < segment->file_bytes;) {
    FrameHeader header;
    std::string_view payload;
    TSDB_ASSIGN_OR_RETURN(const auto found, reader.ReadFrame(offset, &header, &payload));
    if (found == SegmentReader::Found::kNothing) {
      in_extent = false;
      TSDB_ASSIGN_OR_RETURN(offset, reader.FindFrame(offset + kFrameAlignment));
      continue;
    }
    NoteFrame(header, log);
    const std::uint64_t end = offset + FrameBytes(header.payload_bytes);
    if (found == SegmentReader::Found::kBadPayload) {
      in_extent = false;
    } else if (in_extent && segment->extents.back().last == header.previous) {
      segment->extents.back().end = end;
      segment->extents.back().last = header.last();
    } else {
      segment->extents.push_back({offset, end, header.previous, header.last()});
      in_extent = true;
    }
    offset = end;
  }
  return {};
}

Status ScanSegment(FileSystem& fs, const std::string& directory, const StoreId& store, ScannedSegment* segment,
                   ScannedLog* log) {
  TSDB_ASSIGN_OR_RETURN(const auto reader, SegmentReader::Open(fs, directory, segment->number));
  segment->path = reader->path();
  segment->file_bytes = reader->file_bytes();
  TSDB_ASSIGN_OR_RETURN(segment->has_header, reader->ReadHeader(&segment->header));
  segment->foreign = segment->has_header && !(segment->header.store_id == store);
  if (segment->foreign) {
    return {};
  }
  if (segment->has_header) {
    if (segment->header.version != kSegmentVersion) {
      return Status::NotSupported(segment->path + ": log format version " + std::to_string(segment->header.version) +
                                  ", this program reads " + std::to_string(kSegmentVersion) +
                                  "; use the later version that wrote it");
    }
    NoteHeader(segment->header, log);
  }
  reader->set_store(store);
  return ScanFrames(*reader, segment, log);
}

void SetLimits(std::vector<ScannedSegment>* segments) {
  CommitNumber limit{std::numeric_limits<std::uint64_t>::max()};
  for (auto segment = segments->rbegin(); segment != segments->rend(); ++segment) {
    segment->limit = limit;
    if (segment->foreign) {
      continue;
    }
    if (segment->has_header) {
      limit = std::min(limit, segment->header.last_valid);
    }
    if (!segment->extents.empty()) {
      limit = std::min(limit, segment->extents.front().previous);
    }
  }
}

}  // namespace

Result<ScannedLog> ScanLog(FileSystem& fs, const std::string& directory, const ReplayOptions& options) {
  ScannedLog log;
  log.synced = options.synced;
  auto entries = fs.List(directory);
  if (!entries.ok()) {
    return entries.status().code() == StatusCode::kNotFound ? Result<ScannedLog>(std::move(log)) : entries.status();
  }
  for (const DirectoryEntry& entry : *entries) {
    if (const auto number = entry.is_directory ? std::nullopt : ParseSegmentFileName(entry.name)) {
      log.segments.emplace_back().number = *number;
    }
  }
  std::sort(log.segments.begin(), log.segments.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  for (ScannedSegment& segment : log.segments) {
    TSDB_RETURN_IF_ERROR(ScanSegment(fs, directory, options.store_id, &segment, &log));
  }
  SetLimits(&log.segments);
  return log;
}

}  // namespace tsdb::wal
