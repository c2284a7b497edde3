// tsdb-cli: see docs/cli.md.
#include "cli/command_line.h"

int main(int argc, char** argv) { return tsdb::cli::RunCommandLine(argc, argv); }
