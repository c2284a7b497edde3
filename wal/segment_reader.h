// SegmentReader: reads the header and the frames of one segment file, from bytes it does not trust.
//
// A window of the file is kept in memory (256 KiB, or one frame when that is larger), never the whole file.
// What it does not do: judge which damage is a torn tail and which is rot (replay.h).
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "tsdb/result.h"
#include "wal/segment.h"

namespace tsdb::wal {

class SegmentReader {
 public:
  enum class Found : unsigned char {
    kFrame,       // a whole, verified frame
    kBadPayload,  // the header verifies, the payload does not or is cut off
    kNothing,     // no frame begins here
  };

  static Result<std::unique_ptr<SegmentReader>> Open(FileSystem& fs, const std::string& directory,
                                                     std::uint64_t number);

  const std::string& path() const { return path_; }
  std::uint64_t number() const { return number_; }
  std::uint64_t file_bytes() const { return file_->size(); }

  /// False when the file does not begin with a valid header of its number.
  Result<bool> ReadHeader(SegmentHeader* header);
  /// Whose frames are looked for; before the first ReadFrame.
  void set_store(const StoreId& store) { store_ = store; }
  /// Looks at `offset`. `payload` is set for kFrame and valid until the next call.
  Result<Found> ReadFrame(std::uint64_t offset, FrameHeader* header, std::string_view* payload);
  /// As ReadFrame without the payload: kFrame says only that the header verifies.
  Result<Found> ReadFrameHeader(std::uint64_t offset, FrameHeader* header);
  /// First offset >= `from` (a multiple of kFrameAlignment) at which a frame header verifies; file_bytes() for none.
  Result<std::uint64_t> FindFrame(std::uint64_t from);
  /// Whether all bytes of [begin, end) are zero.
  Result<bool> IsZero(std::uint64_t begin, std::uint64_t end);

 private:
  SegmentReader(std::unique_ptr<RandomReadFile> file, std::string path, std::uint64_t number)
      : file_(std::move(file)), path_(std::move(path)), number_(number) {}
  /// Up to `n` bytes at `offset`; fewer only at the end of the file.
  Result<std::string_view> Read(std::uint64_t offset, std::size_t n);

  std::unique_ptr<RandomReadFile> file_;
  std::string path_;
  std::uint64_t number_;
  StoreId store_;
  std::string window_;
  std::uint64_t window_offset_ = 0;
};

}  // namespace tsdb::wal
