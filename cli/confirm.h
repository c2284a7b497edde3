// Asking before something is taken away.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <string>

#include "cli/program.h"

namespace tsdb::cli {

/// With `yes`, or when standard input is no terminal (a script): true, without a question. Otherwise asks on stderr and
/// reads a line: true when it begins with y.
bool Confirm(const Program& program, bool yes, const std::string& question);

/// "1 series", "3 series", with ", 5 samples" when they were counted.
std::string DescribeLoss(std::uint64_t series, std::uint64_t samples, bool counted);

}  // namespace tsdb::cli
