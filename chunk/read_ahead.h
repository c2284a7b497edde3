// ReadAhead: reads of a file through one window per thread. Who reads on from where a read ended gets more than asked
// for, since the columns of series that follow one another lie side by side.
//
//   read ─► in the window? ─yes─► a view of it
//                          ─no──► near behind the last one? ─► a window of 64 KiB from here on, else what is asked for
//
// Thread safety: thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/file_system.h"
#include "tsdb/status.h"

namespace tsdb::chunk {

class ReadAhead {
 public:
  ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// `n` bytes of `file`, always the same one, whose bytes never change. Valid until the next read of this thread. A
  /// file that ends before is damaged: kCorruption. Throws std::bad_alloc.
  Status Read(const RandomReadFile& file, std::uint64_t offset, std::size_t n, std::string_view* data) const;
  /// The next read of this thread goes to the file.
  void Forget() const;

 private:
  const std::uint64_t id_;  // no other one has it, ever
};

/// Reads exactly `n` bytes; kCorruption when the file ends before.
Status ReadExactly(const RandomReadFile& file, std::uint64_t offset, std::size_t n, char* out);

}  // namespace tsdb::chunk
