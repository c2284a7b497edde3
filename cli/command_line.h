// The command line: every command with its options, parsing, and what the shell gets back.
//
// Thread safety: none.
#pragma once

namespace tsdb::cli {

/// Runs the program and returns its exit code. Writes to stdout and stderr.
int RunCommandLine(int argc, char** argv);

}  // namespace tsdb::cli
