// Outcome: how a command ended, and the one line that says why when it did not end well.
//
// Thread safety: value type.
#pragma once

#include <string>
#include <utility>

#include "tsdb/status.h"

namespace tsdb::cli {

/// What the shell sees. Scripts rely on these numbers.
enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kPartly = 3,       // some input rejected, or damage found
  kInterrupted = 130,  // 128 + SIGINT
  kTerminated = 143,   // 128 + SIGTERM
};

struct [[nodiscard]] Outcome {
  ExitCode code = ExitCode::kDone;
  /// Shown on stderr as `tsdb-cli: message`; may be empty when the command has said everything itself.
  std::string message;

  static Outcome Done() { return {}; }
  static Outcome Partly(std::string message = {}) { return {ExitCode::kPartly, std::move(message)}; }
  static Outcome Usage(std::string message) { return {ExitCode::kUsage, std::move(message)}; }
  static Outcome Failed(std::string message) { return {ExitCode::kFailed, std::move(message)}; }
  static Outcome Failed(const Status& status) {
    return {ExitCode::kFailed,
            std::string(status.message().empty() ? StatusCodeName(status.code()) : status.message())};
  }
  bool done() const { return code == ExitCode::kDone; }
};

}  // namespace tsdb::cli
