#include "cli/text/output.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tsdb::cli {

bool Output::Flush() {
  const char* next = buffer_.data();
  std::size_t left = buffer_.size();
  while (left != 0 && !failed()) {
    const ssize_t written = ::write(fd_, next, left);
    if (written >= 0) {
      next += written;
      left -= static_cast<std::size_t>(written);
    } else if (errno == EPIPE) {
      reader_gone_ = true;
    } else if (errno != EINTR) {
      status_ = Status::IoError("standard output: " + std::generic_category().message(errno) +
                                ": the output is incomplete");
    }
  }
  buffer_.clear();
  return !failed();
}

}  // namespace tsdb::cli
