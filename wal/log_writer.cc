#include "wal/log_writer.h"

#include <algorithm>
#include <limits>
#include <new>

#include "base/safeguard.h"
#include "wal/replay.h"
#include "wal/segment_reader.h"

namespace tsdb::wal {
namespace {

/// The buffer of pending frames is given back to the allocator above this.
constexpr std::size_t kKeptBufferBytes = 8u << 20;

std::uint64_t RoundUp(std::uint64_t n, std::uint64_t step) { return step == 0 ? n : (n + step - 1) / step * step; }

/// The status of a group of which bytes may be on disk; kNoSpace is kept for "nothing is on disk".
Status AsFailed(const Status& status) {
  const bool no_space = status.code() == StatusCode::kNoSpace;
  return {no_space ? StatusCode::kIoError : status.code(),
          (no_space ? "no space: " : "") + std::string(status.message()) +
              "; the write is void once writing has resumed, and should the process end before that it is there whole "
              "or not at all"};
}

}  // namespace

LogWriter::LogWriter(FileSystem& fs, Clock& clock, std::string directory, const LogOptions& options)
    : fs_(fs),
      clock_(clock),
      directory_(std::move(directory)),
      store_id_(options.store_id),
      segment_bytes_max_(options.segment_bytes_max),
      reserve_bytes_(options.reserve_bytes),
      unsynced_bytes_max_(options.unsynced_bytes_max),
      number_(options.last_segment),
      last_valid_(options.last_valid_commit),
      settled_(options.last_commit),
      synced_through_(options.last_commit),
      wall_nanos_(options.last_wall_nanos) {}

std::string LogWriter::PathOf(std::uint64_t number) const { return JoinPath(directory_, SegmentFileName(number)); }

Status LogWriter::Open() {
  TSDB_RETURN_IF_ERROR(fs_.CreateDirectories(directory_));
  TSDB_RETURN_IF_ERROR(TSDB_SYNC("wal/folder-entry", fs_.SyncDirectory(ParentPath(directory_))));
  TSDB_ASSIGN_OR_RETURN(const auto entries, fs_.List(directory_));
  for (const DirectoryEntry& entry : entries) {
    if (const auto number = entry.is_directory ? std::nullopt : ParseSegmentFileName(entry.name)) {
      closed_.push_back({*number, last_valid_, entry.bytes});
    }
  }
  if (closed_.empty()) {
    return {};
  }
  std::sort(closed_.begin(), closed_.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  number_ = std::max(number_, closed_.back().number);
  prior_number_ = closed_.back().number;
  // What a segment holds ends where the header of the next one says; without such a header, where the whole log ends.
  CommitNumber last = last_valid_;
  for (std::size_t i = closed_.size(); i-- > 0;) {
    const std::uint64_t number = closed_[i].number;
    closed_[i].last_commit = last;
    TSDB_ASSIGN_OR_RETURN(const auto reader, SegmentReader::Open(fs_, directory_, number));
    SegmentHeader header;
    TSDB_ASSIGN_OR_RETURN(const bool valid, reader->ReadHeader(&header));
    if (valid && !(header.store_id == store_id_)) {
      closed_.erase(closed_.begin() + static_cast<std::ptrdiff_t>(i));  // not ours: left alone
      continue;
    }
    if (valid) {
      last = std::min(last, header.last_valid);
    }
    TSDB_ASSIGN_OR_RETURN(const auto file, fs_.OpenWritable(PathOf(number), OpenMode::kAppend));
    TSDB_RETURN_IF_ERROR(TSDB_SYNC("wal/open-bytes", file->Sync()));
    TSDB_RETURN_IF_ERROR(file->Close());
  }
  return TSDB_SYNC("wal/open-folder", fs_.SyncDirectory(directory_));
}

void LogWriter::BeginFrame() {
  frame_at_ = pending_.size();
  frame_records_ = 0;
  pending_.append(kFrameHeaderBytes, '\0');
}

void LogWriter::AddRecord(std::string_view payload) {
  PutLengthPrefixed(&pending_, payload);
  ++frame_records_;
}

void LogWriter::AbandonFrame() { pending_.resize(frame_at_); }

void LogWriter::Settle(CommitNumber commit) {
  settled_ = std::max(settled_, commit);
  if (pending_.empty()) {
    synced_through_ = settled_;
  }
}

Status LogWriter::FinishFrame(CommitNumber first, bool sync) {
  frame_touched_disk_ = false;
  try {
    return WriteFinishedFrame(first, sync);
  } catch (const std::bad_alloc&) {
    AbandonFrame();
    given_up_ = given_up_ || frame_touched_disk_;
    const Status status = Status::OutOfMemory("no memory");
    return frame_touched_disk_ ? AsFailed(status) : status;
  }
}

Status LogWriter::WriteFinishedFrame(CommitNumber first, bool sync) {
  const std::size_t payload_bytes = pending_.size() - frame_at_ - kFrameHeaderBytes;
  if (payload_bytes > std::numeric_limits<std::uint32_t>::max()) {
    AbandonFrame();
    return Status::Internal(directory_ + ": a group of " + std::to_string(payload_bytes) + " bytes");
  }
  pending_.resize(frame_at_ + FrameBytes(payload_bytes), '\0');
  wall_nanos_ = std::max(wall_nanos_, clock_.WallNanos());

  const bool full = file_ && file_->size() + (pending_.size() - frame_at_) > segment_bytes_max_;
  given_up_ = given_up_ || full || roll_requested_;
  if (file_ && given_up_ && !sync_failed_ && frame_at_ > 0 && SyncFile().ok()) {
    // The next header may call it synced. If that fails the next segment takes over what is pending.
    pending_.erase(0, frame_at_);
    frame_at_ = 0;
  }
  FrameHeader header;
  header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  header.records = frame_records_;
  header.first = first;
  header.previous = last_valid_;
  header.synced = frame_at_ == 0 ? CommitNumber{first.value - 1} : synced_through_;
  header.wall_nanos = wall_nanos_;
  const CommitNumber last = header.last();
  // Sealed for the place it is likely to get; BeginSegment seals again what goes elsewhere.
  SealFrame(pending_.data() + frame_at_, header,
            file_ && !given_up_ ? FrameSeed(store_id_, number_, file_->size()) : 0);

  Status status = file_ && !given_up_ ? WriteFrame(sync) : BeginSegment();
  if (!status.ok()) {
    AbandonFrame();
    return frame_touched_disk_ ? AsFailed(status) : status;
  }
  last_valid_ = last;
  settled_ = std::max(settled_, last);
  if (pending_.empty()) {
    synced_through_ = settled_;
  }
  return {};
}

Status LogWriter::ReserveFor(std::uint64_t bytes) {
  const std::uint64_t need = file_->size() + bytes;
  if (need <= reserved_) {
    return {};
  }
  std::uint64_t size = RoundUp(need, reserve_bytes_);
  Status status = file_->Reserve(size);
  if (status.code() == StatusCode::kNoSpace && size > need) {
    size = need;  // the last bytes of a disk that is filling up
    status = file_->Reserve(size);
  }
  if (status.ok()) {
    reserved_ = size;
  }
  return status;
}

Status LogWriter::WriteFrame(bool sync) {
  const std::string_view frame = std::string_view(pending_).substr(frame_at_);
  if (Status status = ReserveFor(frame.size()); !status.ok()) {
    given_up_ = status.code() != StatusCode::kNoSpace;
    return status;
  }
  frame_touched_disk_ = true;
  if (Status status = file_->Append(frame); !status.ok()) {
    given_up_ = true;
    return status;
  }
  if (!sync && pending_.size() <= unsynced_bytes_max_) {
    return {};
  }
  if (!SyncFile().ok()) {
    return BeginSegment();
  }
  ClearPending();
  return {};
}

void LogWriter::ClearPending() {
  pending_.clear();
  if (pending_.capacity() > kKeptBufferBytes) {
    pending_.shrink_to_fit();
  }
}

Status LogWriter::SyncFile() {
  Status status = TSDB_SYNC("wal/frames", file_->Sync());
  if (!status.ok()) {
    sync_failed_ = true;
    given_up_ = true;
    return status;
  }
  ++syncs_;
  synced_through_ = std::max(synced_through_, settled_);
  return {};
}

Status LogWriter::Sync() {
  if (pending_.empty()) {
    return {};
  }
  if (file_ && !sync_failed_ && SyncFile().ok()) {
    ClearPending();
  } else {
    TSDB_RETURN_IF_ERROR(BeginSegment());
  }
  synced_through_ = settled_;
  return {};
}

// Everything pending goes into the new segment, so that afterwards nothing is unsynced.
Status LogWriter::BeginSegment() {
  closed_.reserve(closed_.size() + 2);  // what is retired here, and a file that cannot be removed again
  RetireSegment();
  const std::uint64_t number = ++number_;
  const std::string path = PathOf(number);
  TSDB_ASSIGN_OR_RETURN(auto file, fs_.OpenWritable(path, OpenMode::kCreate));
  Status status;
  try {
    status = FillNewSegment(*file, number);
  } catch (const std::bad_alloc&) {
    status = Status::OutOfMemory("no memory");
  }
  if (!status.ok()) {
    // Should the file come back after a power cut, the header of the segment that succeeds makes its frames void.
    file.reset();
    if (Status removed = fs_.RemoveFile(path); !removed.ok()) {
      closed_.push_back({number, last_valid_, 0});
    }
    return status;
  }
  file_ = std::move(file);
  prior_number_ = number;
  given_up_ = false;
  sync_failed_ = false;
  roll_requested_ = false;
  ClearPending();
  return {};
}

Status LogWriter::FillNewSegment(WritableFile& file, std::uint64_t number) {
  const std::uint64_t bytes = kSegmentHeaderBytes + pending_.size();
  reserved_ = RoundUp(bytes, reserve_bytes_);
  Status reserve = file.Reserve(reserved_);
  if (reserve.code() == StatusCode::kNoSpace && reserved_ > bytes) {
    reserved_ = bytes;
    reserve = file.Reserve(bytes);
  }
  TSDB_RETURN_IF_ERROR(reserve);

  SegmentHeader header;
  header.store_id = store_id_;
  header.number = number;
  header.prior_number = prior_number_;
  header.last_valid = pending_.empty() ? last_valid_ : LoadFrameHeader(pending_.data()).previous;
  header.wall_nanos = wall_nanos_;
  std::string head(kSegmentHeaderBytes, '\0');
  EncodeSegmentHeader(header, head.data());
  for (std::size_t at = 0; at < pending_.size();) {
    ResealFrame(pending_.data() + at, FrameSeed(store_id_, number, kSegmentHeaderBytes + at));
    at += FrameBytes(LoadFrameHeader(pending_.data() + at).payload_bytes);
  }
  frame_touched_disk_ = true;
  Status status = file.Append(head);
  if (status.ok()) {
    status = file.Append(pending_);
  }
  if (status.ok()) {
    status = TSDB_SYNC("wal/new-bytes", file.Sync());
    ++syncs_;
  }
  if (status.ok()) {
    status = TSDB_SYNC("wal/new-folder", fs_.SyncDirectory(directory_));
  }
  return status;
}

void LogWriter::RetireSegment() {
  if (!file_) {
    return;
  }
  // Everything valid in it is synced or about to be written again: what closing has to say changes nothing.
  (void)file_->ReleaseReserved();
  const std::uint64_t size = file_->size();
  (void)file_->Close();
  file_.reset();
  closed_.push_back({prior_number_, last_valid_, size});
}

Status LogWriter::RemoveSegment(std::uint64_t number) {
  Status status = fs_.RemoveFile(PathOf(number));
  return status.code() == StatusCode::kNotFound ? Status() : status;
}

Status LogWriter::RemoveThrough(CommitNumber commit, bool include_active) {
  // Oldest first: what is left must always be a tail of the log.
  Status status;
  while (!closed_.empty() && closed_.front().last_commit <= commit) {
    status = RemoveSegment(closed_.front().number);
    if (!status.ok()) {
      break;
    }
    closed_.erase(closed_.begin());
    removal_unsynced_ = true;
  }
  if (removal_unsynced_) {
    // Before the segment in use goes as well: its header may be what makes commits of an older one void.
    Status synced = TSDB_SYNC("wal/removed", fs_.SyncDirectory(directory_));
    removal_unsynced_ = !synced.ok();
    status = status.ok() ? synced : status;
  }
  if (!status.ok() || !include_active || !file_ || !closed_.empty() || last_valid_ > commit) {
    return status;
  }
  closed_.reserve(closed_.size() + 1);
  ClearPending();  // it is in files
  synced_through_ = settled_;
  RetireSegment();
  TSDB_RETURN_IF_ERROR(RemoveSegment(closed_.front().number));
  closed_.clear();
  return TSDB_SYNC("wal/removed-last", fs_.SyncDirectory(directory_));
}

void LogWriter::Close() { RetireSegment(); }

std::uint64_t LogWriter::bytes() const {
  std::uint64_t sum = file_ ? file_->size() : 0;
  for (const ClosedSegment& segment : closed_) {
    sum += segment.bytes;
  }
  return sum;
}

}  // namespace tsdb::wal
