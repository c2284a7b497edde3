// Output: a buffered writer to a file descriptor. Results of commands go through it, so that millions of lines cost few
// system calls and memory stays bounded.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <cstddef>
#include <string>

#include "tsdb/status.h"

namespace tsdb::cli {

class Output {
 public:
  explicit Output(int fd) : fd_(fd) { buffer_.reserve(kFlushBytes + kFlushBytes / 4); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Append here, then call Drain().
  std::string* buffer() { return &buffer_; }
  /// Writes out when enough has gathered. False when nothing more can be written: stop producing.
  bool Drain() { return buffer_.size() < kFlushBytes ? !failed() : Flush(); }
  bool Flush();

  bool failed() const { return reader_gone_ || !status_.ok(); }
  /// The reader closed the pipe (`| head`): not an error of ours.
  bool reader_gone() const { return reader_gone_; }
  const Status& status() const { return status_; }

 private:
  static constexpr std::size_t kFlushBytes = 64 * 1024;
  const int fd_;
  std::string buffer_;
  Status status_;
  bool reader_gone_ = false;
};

}  // namespace tsdb::cli
