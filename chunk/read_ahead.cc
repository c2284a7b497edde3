#include "chunk/read_ahead.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>

#include <fmt/format.h>

namespace tsdb::chunk {

namespace {

constexpr std::size_t kWindowBytes = 64 << 10;
/// Files a thread reads side by side.
constexpr std::size_t kWindows = 8;

struct Window {
  std::uint64_t id = 0;  // whose bytes these are; 0: nobody's
  std::uint64_t begin = 0;
  std::size_t size = 0;
  std::size_t capacity = 0;
  std::unique_ptr<char[]> bytes;

  bool Holds(std::uint64_t offset, std::size_t n) const {
    return offset >= begin && offset - begin <= size && n <= size - (offset - begin);
  }
  /// The bytes between the last read and this one are not many times those that are wanted.
  bool GoesOn(std::uint64_t offset, std::size_t n) const {
    const std::uint64_t end = begin + size;
    return offset >= end && offset - end <= 4 * std::uint64_t{n};
  }
};

/// Of this thread; of the file with this id, or of one it makes way for.
Window& WindowOf(std::uint64_t id) {
  thread_local std::array<Window, kWindows> windows;
  return windows[id % kWindows];
}

std::uint64_t NextId() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

ReadAhead::ReadAhead() : id_(NextId()) {}

Status ReadAhead::Read(const RandomReadFile& file, std::uint64_t offset, std::size_t n, std::string_view* data) const {
  Window& window = WindowOf(id_);
  const bool mine = window.id == id_;
  if (!mine || !window.Holds(offset, n)) {
    const std::uint64_t left = file.size() > offset ? file.size() - offset : 0;
    std::size_t wanted = n;
    if (mine && n < kWindowBytes && window.GoesOn(offset, n)) {
      wanted = std::max<std::uint64_t>(n, std::min<std::uint64_t>(left, kWindowBytes));
    }
    window.id = 0;
    if (window.capacity < wanted) {
      window.bytes = std::make_unique_for_overwrite<char[]>(wanted);
      window.capacity = wanted;
    }
    // What was not asked for must not be the reason of an error.
    if (wanted == n || !ReadExactly(file, offset, wanted, window.bytes.get()).ok()) {
      wanted = n;
      TSDB_RETURN_IF_ERROR(ReadExactly(file, offset, n, window.bytes.get()));
    }
    window.id = id_;
    window.begin = offset;
    window.size = wanted;
  }
  *data = {window.bytes.get() + (offset - window.begin), n};
  return {};
}

void ReadAhead::Forget() const {
  if (Window& window = WindowOf(id_); window.id == id_) {
    window.id = 0;
  }
}

Status ReadExactly(const RandomReadFile& file, std::uint64_t offset, std::size_t n, char* out) {
  TSDB_ASSIGN_OR_RETURN(const std::size_t got, file.ReadAt(offset, n, out));
  if (got != n) {
    return Status::Corruption(fmt::format("{}@{}: the file ends {} bytes too early", file.path(), offset, n - got));
  }
  return {};
}

}  // namespace tsdb::chunk
