#include "cli/text/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "cli/text/escape.h"
#include "cli/text/numbers.h"

namespace tsdb::cli {
namespace {

constexpr std::size_t kBarColumns = 24;
constexpr std::size_t kNameColumns = 24;

std::size_t TerminalWidth() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : 80;
}

/// Cuts printable text to at most `width` code points, never inside one.
std::string Cut(std::string_view text, std::size_t width) {
  std::size_t end = 0;
  for (std::size_t columns = 0; end < text.size() && columns < width; ++columns) {
    do {
      ++end;
    } while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80);
  }
  return std::string(text.substr(0, end));
}

}  // namespace

std::string RenderProgress(const ProgressState& state, std::size_t width) {
  std::string line = Cut(Printable(state.name), kNameColumns) + "  ";
  if (state.bytes_total != 0) {
    const double done =
        std::min(1.0, static_cast<double>(state.bytes_done) / static_cast<double>(state.bytes_total));
    const auto filled = static_cast<std::size_t>(done * kBarColumns);
    line += fmt::format("[{}{}] {:3.0f} %  ", std::string(filled, '#'), std::string(kBarColumns - filled, '.'),
                        done * 100);
  } else {
    line += FormatBytes(state.bytes_done) + "  ";
  }
  line += FormatMagnitude(static_cast<double>(state.samples)) + " samples";
  if (state.seconds > 0) {
    line += "  " + FormatMagnitude(static_cast<double>(state.samples) / state.seconds) + "/s";
  }
  if (state.bytes_total != 0 && state.bytes_done != 0 && state.bytes_done < state.bytes_total) {
    const double left = static_cast<double>(state.bytes_total - state.bytes_done) /
                        static_cast<double>(state.bytes_done) * state.input_seconds;
    line += "  " + FormatSeconds(std::max(1.0, left)) + " left";
  }
  return Cut(line, width);
}

Progress::Progress(const Messages& messages)
    : messages_(messages), enabled_(!messages.quiet() && ::isatty(STDERR_FILENO) == 1) {}

void Progress::Update(const ProgressState& state) {
  if (!enabled_) {
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now < next_draw_) {
    return;
  }
  next_draw_ = now + std::chrono::milliseconds(100);
  drawn_ = true;
  messages_.Raw("\r" + RenderProgress(state, TerminalWidth() - 1) + "\x1b[K");
}

void Progress::Clear() {
  if (drawn_) {
    messages_.Raw("\r\x1b[K");
    drawn_ = false;
  }
}

}  // namespace tsdb::cli
