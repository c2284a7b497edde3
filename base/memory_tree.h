// MemoryTree: the nodes under MemoryFileSystem: files that know which bytes are durable and directories that know which
// entry changes are not, and what a power cut leaves of them.
//
//   MemoryFile       bytes [0, synced) durable, but for `lost` ones; the rest are writes of which any part may survive;
//                    before a synced truncation also the old durable bytes
//   MemoryDirectory  entries (as processes see them) = durable_entries + pending changes, oldest first
//
// Thread safety: none; MemoryFileSystem guards the whole tree with one mutex.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/memory_file_system.h"

namespace tsdb {

struct MemoryDirectory;

/// Bytes [begin, end) of a file.
struct ByteSpan {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct MemoryFile {
  std::string bytes;
  std::uint64_t synced = 0;
  /// Appends behind `synced`, oldest first: a power cut may keep any of them and drop the others.
  std::vector<ByteSpan> unsynced;
  /// Parts of bytes below `synced` that a failed sync gave up: readers see them until the power goes, and a later sync
  /// does not bring them to the disk.
  std::vector<ByteSpan> lost;
  /// Durable contents that an unsynced truncation replaced.
  std::optional<std::string> replaced;
  std::uint64_t reserved = 0;
  /// Space it takes while it has a name.
  std::uint64_t allocated() const { return bytes.size() > reserved ? bytes.size() : reserved; }

  void Append(std::string_view data);
  void Truncate();
  void Sync();
  /// A sync that failed: what was not synced counts as clean from now on, but never reached the disk.
  void FailSync();
};

/// A file or a directory.
struct MemoryNode {
  /// Number of the node in order of creation: makes random choices independent of the order of a walk.
  std::uint64_t number = 0;
  std::shared_ptr<MemoryFile> file;
  std::shared_ptr<MemoryDirectory> directory;
  explicit operator bool() const { return file != nullptr || directory != nullptr; }
};

using MemoryEntries = std::map<std::string, MemoryNode, std::less<>>;

/// One change of a directory: what `set` names gets, after `removed` lost what it named.
struct MemoryChange {
  /// Number of the operation it belongs to; both sides of a rename between directories have the same.
  std::uint64_t number = 0;
  std::string removed;  // empty: none
  std::string set;      // empty: none
  MemoryNode node;      // what `set` names
  /// Rename between directories: the other one. A file system does both sides at once.
  std::weak_ptr<MemoryDirectory> peer;
};

struct MemoryDirectory {
  MemoryEntries entries;
  MemoryEntries durable_entries;
  std::vector<MemoryChange> pending;

  /// Makes all entries durable, and the other side of renames between directories.
  void Sync();
};

/// Applies a change to entries.
void ApplyChange(const MemoryChange& change, MemoryEntries* entries);
/// Does a change that processes see at once and that is durable after the next Sync.
void DoChange(MemoryDirectory* directory, MemoryChange change);

/// A copy that shares nothing with the original, synced or not as it was.
std::shared_ptr<MemoryDirectory> CopyTree(const MemoryDirectory& root);
/// A copy with what a power cut leaves; everything in it is durable.
std::shared_ptr<MemoryDirectory> CutTree(const MemoryDirectory& root, MemoryFileSystem::CutMode mode,
                                         std::uint64_t seed);

}  // namespace tsdb
