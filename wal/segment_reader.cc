#include "wal/segment_reader.h"

#include <algorithm>

#include "wal/replay.h"

namespace tsdb::wal {
namespace {

constexpr std::size_t kWindowBytes = 256 * 1024;

}  // namespace

Result<std::unique_ptr<SegmentReader>> SegmentReader::Open(FileSystem& fs, const std::string& directory,
                                                           std::uint64_t number) {
  std::string path = JoinPath(directory, SegmentFileName(number));
  TSDB_ASSIGN_OR_RETURN(auto file, fs.OpenReadable(path));
  return std::unique_ptr<SegmentReader>(new SegmentReader(std::move(file), std::move(path), number));
}

Result<std::string_view> SegmentReader::Read(std::uint64_t offset, std::size_t n) {
  const std::uint64_t size = file_->size();
  n = static_cast<std::size_t>(std::min<std::uint64_t>(n, size - std::min(size, offset)));
  if (offset < window_offset_ || offset + n > window_offset_ + window_.size()) {
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(n, kWindowBytes), size - offset));
    window_.resize(want);
    window_offset_ = offset;
    auto got = file_->ReadAt(offset, want, window_.data());
    if (!got.ok()) {
      window_.clear();
      return got.status();
    }
    window_.resize(*got);
  }
  return std::string_view(window_).substr(static_cast<std::size_t>(offset - window_offset_), n);
}

Result<bool> SegmentReader::ReadHeader(SegmentHeader* header) {
  TSDB_ASSIGN_OR_RETURN(const std::string_view bytes, Read(0, kSegmentHeaderBytes));
  return DecodeSegmentHeader(bytes, number_, header);
}

Result<SegmentReader::Found> SegmentReader::ReadFrameHeader(std::uint64_t offset, FrameHeader* header) {
  TSDB_ASSIGN_OR_RETURN(const std::string_view head, Read(offset, kFrameHeaderBytes));
  if (head.size() < kFrameHeaderBytes || !DecodeFrameHeader(head.data(), FrameSeed(store_, number_, offset), header)) {
    return Found::kNothing;
  }
  if (header->flags != 0) {
    return Status::NotSupported(path_ + "@" + std::to_string(offset) + ": group with flags " +
                                std::to_string(header->flags) + " of a later version; use that version to open it");
  }
  return Found::kFrame;
}

Result<SegmentReader::Found> SegmentReader::ReadFrame(std::uint64_t offset, FrameHeader* header,
                                                      std::string_view* payload) {
  TSDB_ASSIGN_OR_RETURN(const Found found, ReadFrameHeader(offset, header));
  if (found != Found::kFrame) {
    return found;
  }
  if (header->payload_bytes > file_->size() - offset - kFrameHeaderBytes) {
    return Found::kBadPayload;
  }
  TSDB_ASSIGN_OR_RETURN(const std::string_view bytes, Read(offset, kFrameHeaderBytes + header->payload_bytes));
  *payload = bytes.substr(std::min(bytes.size(), kFrameHeaderBytes));
  return PayloadMatches(*header, *payload, FrameSeed(store_, number_, offset)) ? Found::kFrame : Found::kBadPayload;
}

Result<std::uint64_t> SegmentReader::FindFrame(std::uint64_t from) {
  FrameHeader header;
  for (std::uint64_t offset = from; offset + kFrameHeaderBytes <= file_->size(); offset += kFrameAlignment) {
    TSDB_ASSIGN_OR_RETURN(const Found found, ReadFrameHeader(offset, &header));
    if (found == Found::kFrame) {
      return offset;
    }
  }
  return file_->size();
}

Result<bool> SegmentReader::IsZero(std::uint64_t begin, std::uint64_t end) {
  while (begin < end) {
    TSDB_ASSIGN_OR_RETURN(const std::string_view bytes,
                          Read(begin, static_cast<std::size_t>(std::min<std::uint64_t>(end - begin, kWindowBytes))));
    if (bytes.empty()) {
      break;
    }
    if (bytes.find_first_not_of('\0') != std::string_view::npos) {
      return false;
    }
    begin += bytes.size();
  }
  return true;
}

}  // namespace tsdb::wal
