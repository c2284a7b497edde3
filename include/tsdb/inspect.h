// Looking into files without opening a database for writing: dump and verify; repair; and holding merging back from
// outside. Used by tsdb-cli.
//
// Thread safety: the functions share no state. Dump and Verify take no lock and may run beside a writer; what the
// writer changes meanwhile may show up as a note.
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

struct RepairOptions {
  /// Tell what would be done, and do nothing.
  bool dry_run = false;
  /// Set the label index aside, so that it is built again.
  bool rebuild_index = false;
};

struct RepairReport {
  /// One line each: what was found, where, what was done about it. Empty when all was well.
  std::vector<std::string> actions;
  /// Of damaged chunk files: samples that are whole and were written anew, and those that were not.
  std::uint64_t samples_saved = 0;
  std::uint64_t samples_lost = 0;
  /// Files moved or copied into quarantine/.
  std::uint64_t files_set_aside = 0;
};

/// Saves everything in `path` that still verifies: whole chunks of damaged chunk files go into new files, definitions
/// come from damaged catalogue files, the log and the index, a damaged manifest is put together from its whole edits
/// and the files themselves, the log is replayed as far as it verifies and moved into files. Damaged files go to
/// quarantine/; nothing is deleted but leftovers of unfinished jobs. Afterwards Verify finds no damage and Open
/// succeeds.
/// Errors: kNotFound, kBusy (a process has it open), kNotSupported (of a later version), kNoSpace, kIoError;
/// kCorruption when no file says any more which database this was.
Result<RepairReport> Repair(const std::string& path, const RepairOptions& options = {});

/// Keeps background merges of the database in `path` from running until they are released, whichever process has it
/// open or will have: one that runs ends within a second or two. Stored in the folder; merges that are asked for run
/// all the same. Doing it again changes nothing. kNotFound (no database there), kIoError.
Status HoldMerging(const std::string& path);
Status ReleaseMerging(const std::string& path);
Result<bool> IsMergingHeld(const std::string& path);

}  // namespace tsdb
