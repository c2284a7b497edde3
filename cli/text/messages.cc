#include "cli/text/messages.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "cli/text/escape.h"

namespace tsdb::cli {

bool UseColor(ColorMode mode, int fd) {
  if (mode != ColorMode::kAuto) {
    return mode == ColorMode::kAlways;
  }
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(fd) == 1 && (no_color == nullptr || *no_color == 0) &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

void Messages::Raw(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return;  // nobody can be told that stderr is gone
    }
  }
}

void Messages::Error(std::string_view text) const {
  Raw((color_ ? "\x1b[1;31mtsdb-cli:\x1b[0m " : "tsdb-cli: ") + Printable(text) + "\n");
}

void Messages::Detail(std::string_view text) const { Raw(Printable(text) + "\n"); }

void Messages::Warning(std::string_view text) const {
  if (!quiet_) {
    Raw((color_ ? "tsdb-cli: \x1b[1;33mwarning:\x1b[0m " : "tsdb-cli: warning: ") + Printable(text) + "\n");
  }
}

void Messages::Note(std::string_view text) const {
  if (!quiet_) {
    Raw(Printable(text) + "\n");
  }
}

}  // namespace tsdb::cli
