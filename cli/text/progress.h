// Progress: one line on a terminal that is redrawn in place while an import runs.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/text/messages.h"

namespace tsdb::cli {

struct ProgressState {
  std::string_view name;           // what is being read
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;   // 0: unknown
  std::uint64_t samples = 0;       // of all inputs
  double seconds = 0;              // since the first input began
  double input_seconds = 0;        // since this input began
};

/// The line, at most `width` columns, without a line end.
std::string RenderProgress(const ProgressState& state, std::size_t width);

/// Draws at most ten times a second; does nothing when stderr is no terminal or messages are quiet.
class Progress {
 public:
  explicit Progress(const Messages& messages);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { Clear(); }

  bool enabled() const { return enabled_; }
  void Update(const ProgressState& state);
  /// Takes the line away, before anything else is written.
  void Clear();

 private:
  const Messages& messages_;
  const bool enabled_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_draw_{};
};

}  // namespace tsdb::cli
