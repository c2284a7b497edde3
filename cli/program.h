// Program: what every command gets: where the database is, and where its output goes.
//
// Thread safety: none, but see Messages.
#pragma once

#include <unistd.h>

#include <string>

#include "cli/text/messages.h"
#include "cli/text/output.h"

namespace tsdb::cli {

struct Program {
  std::string db_path;
  /// Nothing is to be changed: the database is opened read-only.
  bool read_only = false;
  /// Whether results on stdout may use colour.
  bool color = false;
  /// Whether results are to be ASCII: no colour was asked for, or the terminal does not speak UTF-8.
  bool ascii = false;
  Output out{STDOUT_FILENO};
  Messages messages{STDERR_FILENO};
};

}  // namespace tsdb::cli
