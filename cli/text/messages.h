// Messages: everything that is said on stderr. One line each, `tsdb-cli: what: where: what to do`.
//
// Thread safety: Error, Warning and Note may be called from any thread (one write per line); the setters only before.
#pragma once

#include <string>
#include <string_view>

#include "cli/text/outcome.h"

namespace tsdb::cli {

enum class ColorMode { kAuto, kAlways, kNever };

/// Whether to colour what goes to `fd`: `auto` means a terminal that is not `dumb`, and NO_COLOR is not set.
bool UseColor(ColorMode mode, int fd);

class Messages {
 public:
  explicit Messages(int fd) : fd_(fd) {}
  void set_color(bool color) { color_ = color; }
  void set_quiet(bool quiet) { quiet_ = quiet; }
  bool quiet() const { return quiet_; }

  /// Always shown.
  void Error(std::string_view text) const;
  /// Bad lines of an input, as they are: always shown, without the program's name.
  void Detail(std::string_view text) const;
  /// Not shown under --quiet.
  void Warning(std::string_view text) const;
  /// Summaries and hints, as they are. Not shown under --quiet.
  void Note(std::string_view text) const;
  /// Bytes as they are (a progress bar).
  void Raw(std::string_view bytes) const;

 private:
  const int fd_;
  bool color_ = false;
  bool quiet_ = false;
};

}  // namespace tsdb::cli
