// Manifest: the list of live files and positions, as a log of edits. Appending and syncing an edit is the only commit
// point of flush, merge, retention and rollup. Byte layout: docs/format/manifest.md.
//
//   CURRENT ──► manifest/000003: edit (whole state) · edit · edit …
//
// A damaged or torn last edit that was not acknowledged is cut off; damage before a valid later edit is kCorruption.
// When a manifest grows past a bound it is written anew as one edit into the next number, and CURRENT is replaced
// atomically.
//
// Thread safety: Manifest is guarded by its owner.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "chunk/catalogue_file.h"
#include "chunk/chunk_file.h"
#include "chunk/tombstone.h"
#include "tsdb/options.h"
#include "tsdb/result.h"
#include "tsdb/retention.h"

namespace tsdb::chunk {

/// Series that ended together; their samples stay until they cannot come back any more.
struct Drop {
  CommitNumber commit;
  std::int64_t until_wall_nanos = 0;  // 0: they do not come back
  /// Files with this number or a higher one were written when the series could not come back any more: they hold
  /// nothing of them. 0: they still can.
  std::uint64_t dead_from_file = 0;
  IdSet ids;
  friend bool operator==(const Drop&, const Drop&) = default;
};

/// What retention keeps between openings, beside the settings.
struct RetentionPositions {
  std::vector<RetentionClass> classes;
  /// Samples below it are gone for good, but of series with a retention of their own.
  Timestamp floor = kTimestampMin;
  /// Samples below it are gone for good, of all series.
  Timestamp bytes_floor = kTimestampMin;
  /// Newest time of all samples there ever were; kTimestampMin while retention does not ask.
  Timestamp newest = kTimestampMin;
  /// "Now" as far as samples may be removed by it; never goes back.
  Timestamp trusted_now = kTimestampMin;
  /// Series with a retention or an expiry of their own.
  IdSet own_settings;
  friend bool operator==(const RetentionPositions&, const RetentionPositions&) = default;
};

/// Everything the manifest knows at one moment.
struct ManifestState {
  std::uint64_t store_high = 0;
  std::uint64_t store_low = 0;
  CreateOptions settings;
  std::vector<ChunkFileMeta> chunk_files;       // ascending by number
  std::vector<CatalogueMeta> catalogue_files;   // ascending by number
  /// Everything up to here is in files.
  CommitNumber flushed_commit;
  /// Next unused numbers.
  std::uint64_t next_file_number = 1;
  std::uint64_t next_series_id = 1;
  /// No commit number up to here is given again.
  CommitNumber last_commit;
  std::uint64_t last_segment = 0;
  /// Newest wall time seen; never goes back.
  std::int64_t last_wall_nanos = 0;
  /// Deletes of commits up to flushed_commit that some file must still be read under; ascending by commit.
  std::vector<TombstonePtr> tombstones;
  std::vector<Drop> drops;
  RetentionPositions retention;
};

/// A change of the state; absent numbers (0) leave the old ones.
struct ManifestEdit {
  std::vector<ChunkFileMeta> added_chunk_files;
  std::vector<std::uint64_t> removed_chunk_files;
  std::vector<CatalogueMeta> added_catalogue_files;
  std::vector<std::uint64_t> removed_catalogue_files;
  CommitNumber flushed_commit;
  std::uint64_t next_file_number = 0;
  std::uint64_t next_series_id = 0;
  CommitNumber last_commit;
  std::uint64_t last_segment = 0;
  std::int64_t last_wall_nanos = 0;
  std::vector<TombstonePtr> added_tombstones;
  /// Commits of tombstones that go.
  std::vector<CommitNumber> removed_tombstones;
  /// Each replaces the old value as a whole.
  std::optional<CreateOptions> settings;
  std::optional<std::vector<Drop>> drops;
  std::optional<RetentionPositions> retention;
};

/// The state after the edit: files are removed, then added; positions and numbers only go forward (the larger one
/// stays), and next_file_number passes the files added. kCorruption when the edit does not fit (a file added twice, one
/// removed that is not there); the state is then as before.
Status ApplyEdit(const ManifestEdit& edit, ManifestState* state);

class Manifest {
 public:
  /// Writes the manifest of a new database (synced, with CURRENT and folders).
  static Result<std::unique_ptr<Manifest>> Create(FileSystem& fs, const std::string& database_path,
                                                  const ManifestState& initial);
  /// Reads the current one and makes it ready for appending (a torn tail is not appended to: the state is written into
  /// a new manifest first). kNotFound when there is no database. `notes` receives what was cut off.
  static Result<std::unique_ptr<Manifest>> Open(FileSystem& fs, const std::string& database_path,
                                                std::vector<std::string>* notes);
  /// Reads only; for readers and dump.
  static Result<ManifestState> Load(FileSystem& fs, const std::string& database_path);
  /// Path of the manifest file that CURRENT names, for messages.
  static Result<std::string> CurrentPath(FileSystem& fs, const std::string& database_path);
  /// Writes `state` into a new manifest file and makes that the current one, whatever stands there: for repair. Other
  /// manifest files stay.
  static Status Replace(FileSystem& fs, const std::string& database_path, const ManifestState& state);
  virtual ~Manifest() = default;

  virtual const ManifestState& state() const = 0;
  /// Appends and syncs; the state changes only on success. After an error the outcome is unknown (the edit may be on
  /// the disk): files it adds or removes must stay until a later Append succeeded, which writes the whole state into a
  /// new manifest file.
  virtual Status Append(const ManifestEdit& edit) = 0;
  /// Name of the file in use, relative to the database: "manifest/000003".
  virtual std::string file_name() const = 0;
};

/// Paths relative to a database: "chunks/000007.chunk", "catalogue/000003.catalogue".
std::string ChunkFileName(std::uint64_t number);
std::string CatalogueFileName(std::uint64_t number);
/// "manifest/000003".
std::string ManifestFileName(std::uint64_t number);

}  // namespace tsdb::chunk
