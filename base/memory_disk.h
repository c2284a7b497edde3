// MemoryDisk: the state behind a MemoryFileSystem: the tree, the counters, free space and locks, and the steps the file
// system and its open files are made of.
//
// Thread safety: `mutex` guards everything, the nodes of the tree included; functions say whether they want it held.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_tree.h"
#include "base/mutex.h"
#include "tsdb/result.h"

namespace tsdb {

struct MemoryDisk {
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
  using Fault = std::function<Status(std::uint64_t number, std::string_view operation, const std::string& path)>;

  /// Outcome of counting an operation.
  struct Ticket {
    Status status;
    bool at_cut = false;  // this very operation met the power cut
  };
  /// A place in the tree: the directory and the name of the entry in it.
  struct Place {
    std::shared_ptr<MemoryDirectory> directory;
    std::string name;
    MemoryNode node;  // empty when there is no such entry
  };

  /// A leaf in the lock order.
  mutable Mutex mutex;
  std::shared_ptr<MemoryDirectory> root TSDB_GUARDED_BY(mutex) = std::make_shared<MemoryDirectory>();
  std::uint64_t nodes TSDB_GUARDED_BY(mutex) = 0;    // numbers given to nodes
  std::uint64_t changes TSDB_GUARDED_BY(mutex) = 0;  // numbers given to entry changes
  std::uint64_t operations TSDB_GUARDED_BY(mutex) = 0;
  std::uint64_t stop_at TSDB_GUARDED_BY(mutex) = 0;
  std::uint64_t free_bytes TSDB_GUARDED_BY(mutex) = kUnlimited;
  Fault fault TSDB_GUARDED_BY(mutex);
  std::set<const MemoryFile*> locked TSDB_GUARDED_BY(mutex);

  bool stopped() const TSDB_REQUIRES(mutex) { return stop_at != 0 && operations >= stop_at; }
  /// Counts an operation and says whether it may run. The fault function runs without the lock, so it may look at the
  /// file system.
  Ticket Begin(std::string_view operation, const std::string& path) TSDB_EXCLUDES(mutex);

  /// Empty when there is nothing of that name.
  MemoryNode FindNode(std::string_view path) const TSDB_REQUIRES(mutex);
  /// kNotFound or kIoError when the parent is missing or a file.
  Result<Place> FindPlace(const std::string& path) const TSDB_REQUIRES(mutex);
  Result<std::shared_ptr<MemoryFile>> FindFile(const std::string& path) const TSDB_REQUIRES(mutex);

  MemoryNode NewNode(bool directory) TSDB_REQUIRES(mutex);
  void AddEntry(MemoryDirectory* directory, const std::string& name, const MemoryNode& node) TSDB_REQUIRES(mutex);
  void RemoveEntry(MemoryDirectory* directory, const std::string& name) TSDB_REQUIRES(mutex);
  /// Removes what is in a directory, file by file: a power cut may leave any part of it.
  void EmptyDirectory(MemoryDirectory* directory) TSDB_REQUIRES(mutex);
  Status RenameNode(const std::string& from, const std::string& to) TSDB_REQUIRES(mutex);

  void GiveBack(std::uint64_t bytes) TSDB_REQUIRES(mutex);
  /// Takes up to `bytes` of the free space; returns how many there were.
  std::uint64_t Take(std::uint64_t bytes) TSDB_REQUIRES(mutex);
};

/// "a//b/./c" -> a, b, c. Absolute and relative paths start at the same root.
std::vector<std::string_view> SplitPath(std::string_view path);

Status NotFoundError(std::string_view path);
Status NotDirectoryError(std::string_view path);
Status IsDirectoryError(std::string_view path);
Status PowerCutError(std::string_view path, std::string_view operation);

}  // namespace tsdb
