// What the terminal behind a file descriptor can show.
//
// Thread safety: reads the environment; as long as nobody changes it.
#pragma once

#include <cstddef>

namespace tsdb::cli {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 0;  // 0: not known
};
/// COLUMNS and LINES when they are numbers, else what the terminal says, else the defaults.
TerminalSize GetTerminalSize(int fd);

/// Whether the environment asks for UTF-8: the first of LC_ALL, LC_CTYPE and LANG that is not empty names it.
bool LocaleIsUtf8();

}  // namespace tsdb::cli
