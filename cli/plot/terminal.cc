#include "cli/plot/terminal.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tsdb::cli {
namespace {

constexpr std::size_t kSizeMax = 1000;

/// The number in an environment variable; 0 when it is none.
std::size_t SizeFrom(const char* name) {
  const char* text = std::getenv(name);
  const std::string_view view = text == nullptr ? "" : text;
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), size);
  return error == std::errc() && end == view.data() + view.size() ? std::min(size, kSizeMax) : 0;
}

}  // namespace

TerminalSize GetTerminalSize(int fd) {
  TerminalSize size;
  winsize window{};
  if (::ioctl(fd, TIOCGWINSZ, &window) == 0) {
    size.columns = window.ws_col != 0 ? std::min<std::size_t>(window.ws_col, kSizeMax) : size.columns;
    size.rows = std::min<std::size_t>(window.ws_row, kSizeMax);
  }
  const std::size_t columns = SizeFrom("COLUMNS");
  const std::size_t rows = SizeFrom("LINES");
  size.columns = columns != 0 ? columns : size.columns;
  size.rows = rows != 0 ? rows : size.rows;
  return size;
}

bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == 0) {
      continue;
    }
    std::string locale(value);
    std::transform(locale.begin(), locale.end(), locale.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace tsdb::cli
