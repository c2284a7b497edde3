// The ways to come by an index over RocksDB, or over nothing: for the writer, for readers beside it, in memory.
#include <algorithm>

#include "base/file_system.h"
#include "index/empty_store.h"
#include "index/rocks_index.h"

namespace tsdb::index {

namespace {

// Opens what is there. kCorruption and kNotSupported: it cannot be used.
Result<std::unique_ptr<SeriesIndex>> OpenExisting(const std::string& directory, const IndexOptions& options,
                                                  bool expect_tables) {
  TSDB_ASSIGN_OR_RETURN(std::unique_ptr<RocksStore> store, RocksStore::Open(directory, options.log));
  TSDB_ASSIGN_OR_RETURN(std::unique_ptr<StoredView> stored, StoredView::Load(store->TakeSnapshot()));
  const IndexMeta& meta = stored->meta();
  if (stored->is_new()) {
    if (expect_tables) {
      return Status::Corruption(directory + ": index: there are tables, but nothing that names them");
    }
  } else if (meta.store_high != options.store_high || meta.store_low != options.store_low) {
    return Status::Corruption(directory + ": index: belongs to another database");
  } else if (meta.applied_commit > options.known_commit) {
    return Status::Corruption(directory + ": index: claims commit " + std::to_string(meta.applied_commit.value) +
                              ", the database knows " + std::to_string(options.known_commit.value));
  }
  return MakeRocksIndex(options, std::move(store), std::move(stored));
}

}  // namespace

Result<std::unique_ptr<SeriesIndex>> OpenRocksIndexReadOnly(const std::string& directory,
                                                            const IndexOptions& options) {
  TSDB_ASSIGN_OR_RETURN(std::unique_ptr<RocksStore> store, RocksStore::OpenReadOnly(directory, options.log));
  TSDB_ASSIGN_OR_RETURN(std::unique_ptr<StoredView> stored, StoredView::Load(store->TakeSnapshot()));
  const IndexMeta& meta = stored->meta();
  if (!stored->is_new() && (meta.store_high != options.store_high || meta.store_low != options.store_low)) {
    return Status::Corruption(directory + ": index: belongs to another database");
  }
  if (meta.applied_commit > options.known_commit) {
    return Status::OutOfRange(directory + ": index: is at commit " + std::to_string(meta.applied_commit.value) +
                              ", the manifest that was read at " + std::to_string(options.known_commit.value));
  }
  return MakeRocksIndex(options, std::move(store), std::move(stored));
}

std::unique_ptr<SeriesIndex> NewOverlayIndex() {
  std::unique_ptr<RocksStore> store = NewEmptyStore();
  auto stored = std::make_unique<StoredView>(store->TakeSnapshot(), IndexMeta(), /*is_new=*/true, IdSet());
  return MakeRocksIndex(IndexOptions(), std::move(store), std::move(stored));
}

Result<std::unique_ptr<SeriesIndex>> OpenRocksIndex(const std::string& directory, const IndexOptions& options,
                                                    bool* rebuilt) {
  FileSystem& fs = PosixFileSystem();
  *rebuilt = false;
  TSDB_RETURN_IF_ERROR(fs.CreateDirectories(directory));
  TSDB_ASSIGN_OR_RETURN(const std::vector<DirectoryEntry> entries, fs.List(directory));
  const bool has_tables = std::any_of(entries.begin(), entries.end(),
                                      [](const DirectoryEntry& entry) { return entry.name.ends_with(".sst"); });
  Result<std::unique_ptr<SeriesIndex>> opened = OpenExisting(directory, options, has_tables);
  if (opened.ok() || (opened.status().code() != StatusCode::kCorruption &&
                      opened.status().code() != StatusCode::kNotSupported)) {
    return opened;
  }
  if (options.log) {
    options.log(LogLevel::kWarning, "discarding the index: " + opened.status().ToString());
  }
  TSDB_RETURN_IF_ERROR(fs.RemoveAll(directory));
  TSDB_RETURN_IF_ERROR(fs.CreateDirectories(directory));
  *rebuilt = true;
  opened = OpenExisting(directory, options, /*expect_tables=*/false);
  if (!opened.ok() && opened.status().code() == StatusCode::kCorruption) {
    // An empty directory cannot be damaged: this is the disk.
    return Status::IoError(std::string(opened.status().message()));
  }
  return opened;
}

}  // namespace tsdb::index
