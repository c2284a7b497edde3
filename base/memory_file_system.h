// MemoryFileSystem: a file system in memory that knows what was synced, counts operations and can fail or cut the power
// at any of them. For tests; also what the power-loss simulator runs on.
//
//   file     = durable bytes + unsynced appends behind them
//   entry    = name -> file, durable or not yet (create, rename and remove wait for SyncDirectory)
//
// Operations are numbered from 1: every OpenWritable, Append, Sync, Reserve, Rename, RemoveFile, RemoveAll,
// CreateDirectories, SyncDirectory counts one, under these names. Reads and Lock do not count.
//
// Not modelled: renaming a directory into another one (kNotSupported), hard and symbolic links, permissions.
//
// Thread safety: thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/file_system.h"

namespace tsdb {

class MemoryFileSystem final : public FileSystem {
 public:
  /// What a power cut leaves of bytes and entries that were not synced.
  enum class CutMode : unsigned char {
    kDropUnsynced,    // nothing of it
    kKeepUnsynced,    // all of it: as after a crash of the process
    kRandom,          // per file a random prefix, or any subset of the appends since the last sync (those that are
                      // missing read as zeros), any of it torn into zero or garbage 512-byte sectors, and reserved
                      // space possibly as zeros behind the end; a truncation that was not synced done or not; per
                      // directory a random subset of the unsynced entry changes
  };

  MemoryFileSystem();
  ~MemoryFileSystem() override;

  Result<std::unique_ptr<WritableFile>> OpenWritable(const std::string& path, OpenMode mode) override;
  Result<std::unique_ptr<RandomReadFile>> OpenReadable(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status RemoveFile(const std::string& path) override;
  Status RemoveAll(const std::string& path) override;
  Status CreateDirectories(const std::string& path) override;
  Status SyncDirectory(const std::string& path) override;
  Result<std::vector<DirectoryEntry>> List(const std::string& path) override;
  Result<bool> Exists(const std::string& path) override;
  Result<std::uint64_t> FileSize(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
  Result<std::uint64_t> FreeBytes(const std::string& path) override;

  /// Operations done so far.
  std::uint64_t operations() const;
  /// From operation number `n` on (1-based, counted over the life of this object) every operation fails with kIoError
  /// and has no effect: the moment of the power cut. An Append at that point writes the first half of its bytes. 0:
  /// never.
  void StopAt(std::uint64_t n);
  /// Called with the operation's number, its name and path before it runs; an error it returns becomes the operation's
  /// outcome without effect, but that bytes whose Sync failed are taken for clean, as operating systems do: readers see
  /// them, no later Sync makes them durable. Empty function: none. For error injection.
  void SetFault(std::function<Status(std::uint64_t number, std::string_view operation, const std::string& path)> fault);
  /// Bytes that may still be written or reserved before kNoSpace; default unlimited. What did fit of an Append is
  /// written. Removed, truncated and replaced files give theirs back.
  void SetFreeBytes(std::uint64_t bytes);

  /// A new file system holding what a power cut at this moment leaves, all of it durable: no locks, no faults, no stop,
  /// unlimited space, operations counted from 1. `seed` is used by kRandom.
  std::unique_ptr<MemoryFileSystem> AfterPowerCut(CutMode mode, std::uint64_t seed = 0) const;
  /// A copy of all files and directories, synced or not; otherwise as new.
  std::unique_ptr<MemoryFileSystem> Clone() const;

  /// Test access to a file's bytes, outside the operation count. Write makes the bytes and the entries on the way
  /// durable (parents are created); open readers see the new bytes.
  Result<std::string> ReadWhole(const std::string& path) const;
  void WriteWhole(const std::string& path, std::string data);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tsdb
