#include "cli/confirm.h"

#include <unistd.h>

#include "cli/text/escape.h"
#include "cli/text/numbers.h"

namespace tsdb::cli {

bool Confirm(const Program& program, bool yes, const std::string& question) {
  if (yes || ::isatty(STDIN_FILENO) != 1) {
    return true;
  }
  program.messages.Raw(Printable(question) + " [y/N] ");
  std::string answer;
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::read(STDIN_FILENO, &byte, 1)) == 1 && byte != '\n') {
    answer += byte;
  }
  if (got <= 0) {
    program.messages.Raw("\n");
  }
  return answer.starts_with('y') || answer.starts_with('Y');
}

std::string DescribeLoss(std::uint64_t series, std::uint64_t samples, bool counted) {
  return FormatCount(series) + " series" +
         (counted ? ", " + FormatCount(samples) + (samples == 1 ? " sample" : " samples") : "");
}

}  // namespace tsdb::cli
