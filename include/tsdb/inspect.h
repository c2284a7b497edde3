// Looking into files without opening a database for writing: dump and verify. Used by tsdb-cli.
//
// Thread safety: the functions share no state. They take no lock and may run beside a writer; what the writer changes
// meanwhile may show up as a note.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tsdb/result.h"

namespace tsdb {

/// Receives one line of text without a newline.
using LineSink = std::function<void(std::string_view)>;

/// Prints a log segment (file) or all segments of a folder: header, each group with offset, commits and operations.
/// Damage is printed in place and makes the result kCorruption after everything readable was printed.
Status DumpWal(const std::string& path, const LineSink& line);
/// Prints a chunk file: header, each chunk (series, times, count, encodings, bytes, statistics), footer.
Status DumpChunkFile(const std::string& path, const LineSink& line);
/// Prints every edit of a manifest file.
Status DumpManifest(const std::string& path, const LineSink& line);

struct VerifyReport {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t chunks = 0;
  std::uint64_t samples = 0;
  /// One line per damaged place: file@offset: what.
  std::vector<std::string> damage;
  /// Things that are fine but worth saying (a log tail that the next open will cut).
  std::vector<std::string> notes;
};

/// Reads every byte of the database in `path` and checks it. A Status only when nothing could be checked (kNotFound).
Result<VerifyReport> Verify(const std::string& path);

}  // namespace tsdb
