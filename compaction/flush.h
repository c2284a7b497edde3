// Flush: the samples and definitions of everything up to one cut, from memory into files.
//
//   series ──► chunks/000007.chunk, chunks/000008.chunk …   ┐
//                                                           ├─► ManifestEdit, which the caller appends: the commit
//                                                           point
//   definitions ──► catalogue/000009.catalogue              ┘
//
// A pure job: it takes no lock, calls nothing back but its source, and changes no state but the files it writes.
//
// Thread safety: as its arguments.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/file_system.h"
#include "base/series_definition.h"
#include "chunk/columns.h"
#include "chunk/manifest.h"
#include "compaction/file_numbers.h"
#include "tsdb/result.h"
#include "tsdb/types.h"

namespace tsdb::compaction {

/// The series to be flushed, one after another; a long one in slices.
class SeriesSource {
 public:
  virtual ~SeriesSource() = default;
  /// Replaces `columns` by samples of the next series, or the next ones of the same: ids ascend, the times of each
  /// rise. Nothing is done where there are none. False at the end and on an error; status() tells which.
  virtual bool Next(SeriesId* id, chunk::Columns* columns) = 0;
  virtual Status status() const = 0;
};

struct FlushInput {
  std::string database_path;
  std::uint64_t store_high = 0;
  std::uint64_t store_low = 0;
  /// The commits whose effects are flushed; `last_commit` is the cut.
  CommitNumber first_commit;
  CommitNumber last_commit;
  /// Numbers the files. Not null; lives as long as the call.
  FileNumbers* file_numbers = nullptr;
  /// Null for none. Lives as long as the call.
  SeriesSource* samples = nullptr;
  /// Sorted by id, one per id.
  std::span<const SeriesDefinition> definitions;
  /// Longer series are cut into chunks of so many samples; 1 to chunk::kChunkSamplesMax.
  std::size_t chunk_samples = 1024;
  /// A file that reached this size is followed by another one.
  std::uint64_t file_bytes_max = 512ull << 20;
};

/// Writes the samples as sealed chunks to new chunk files and the definitions to a new catalogue file; files and their
/// folders are durable when it returns. The edit carries the files and flushed_commit. On error no file is left behind
/// (unless removing it fails too).
/// Errors: kInvalidArgument (input out of order), kInternal (an encoded column did not decode to the same bits), the
/// source's, and those of the file system.
Result<chunk::ManifestEdit> Flush(const FlushInput& input, FileSystem& fs);

}  // namespace tsdb::compaction
