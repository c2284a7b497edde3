// FileSystem: the seam between the engine and the operating system. Everything of ours (not RocksDB's folder) is read
// and written through it.
//
// Two implementations: PosixFileSystem() and MemoryFileSystem (base/memory_file_system.h), which keeps synced and
// unsynced bytes and directory entries apart and can cut the power.
//
// What a power cut leaves: bytes of a file that were synced (Sync), and entries (create, rename, remove) whose
// directory was synced (SyncDirectory). Everything else may be there or not.
//
// Errors: kNotFound, kAlreadyExists, kNoSpace (ENOSPC, EDQUOT), kTooManyOpenFiles, kOutOfMemory, kBusy, kIoError. Every
// message names the path.
//
// Thread safety: FileSystem and RandomReadFile are thread-safe; a WritableFile belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tsdb/result.h"

namespace tsdb {

/// A file that grows at its end.
class WritableFile {
 public:
  virtual ~WritableFile() = default;  // closes without syncing
  /// Writes all of `data` at the end, repeating short writes. On error an unknown part of it was written.
  virtual Status Append(std::string_view data) = 0;
  /// Makes everything appended so far durable (fdatasync).
  virtual Status Sync() = 0;
  /// Reserves disk space so that the next appends up to `size` bytes in all cannot fail for want of space. Does not
  /// change size(). File systems without reservation: OK, without effect.
  virtual Status Reserve(std::uint64_t size) = 0;
  /// Gives back reserved space beyond size().
  virtual Status ReleaseReserved() = 0;
  virtual Status Close() = 0;
  /// Bytes appended (plus what the file held when opened).
  virtual std::uint64_t size() const = 0;
};

/// A file read at any offset.
class RandomReadFile {
 public:
  virtual ~RandomReadFile() = default;
  /// Reads up to `n` bytes at `offset` into `out`; returns how many there were (fewer only at the end of the file).
  virtual Result<std::size_t> ReadAt(std::uint64_t offset, std::size_t n, char* out) const = 0;
  /// Bytes when it was opened; ReadAt also sees what was appended since.
  virtual std::uint64_t size() const = 0;
  virtual const std::string& path() const = 0;
};

/// Held while the process owns the database; released by destruction.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

struct DirectoryEntry {
  std::string name;
  bool is_directory = false;
  std::uint64_t bytes = 0;
};

enum class OpenMode : unsigned char {
  kCreate,    // fails with kAlreadyExists when the file is there
  kTruncate,  // created or emptied
  kAppend,    // must exist (kNotFound); continues at the end
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<WritableFile>> OpenWritable(const std::string& path, OpenMode mode) = 0;
  virtual Result<std::unique_ptr<RandomReadFile>> OpenReadable(const std::string& path) = 0;
  /// Replaces `to` atomically when it exists. Handles opened before stay with their file, as after RemoveFile.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status RemoveFile(const std::string& path) = 0;
  /// Removes a directory with everything in it; OK when there is none.
  virtual Status RemoveAll(const std::string& path) = 0;
  /// Creates the directory and its parents; OK when it exists; kAlreadyExists when a file has the name.
  virtual Status CreateDirectories(const std::string& path) = 0;
  /// Makes the entries of a directory durable.
  virtual Status SyncDirectory(const std::string& path) = 0;
  /// Entries sorted by name, without "." and "..".
  virtual Result<std::vector<DirectoryEntry>> List(const std::string& path) = 0;
  virtual Result<bool> Exists(const std::string& path) = 0;
  virtual Result<std::uint64_t> FileSize(const std::string& path) = 0;
  /// Takes the lock file exclusively (created when missing) and writes our pid into it. kBusy names the holder's pid. A
  /// lock file left by a dead process is no obstacle.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path) = 0;
  /// Bytes this process may still write to the file system that holds `path`.
  virtual Result<std::uint64_t> FreeBytes(const std::string& path) = 0;
};

/// The operating system's; lives for the whole process.
FileSystem& PosixFileSystem();

/// Whole file as a string. kResourceExhausted when it is larger than `bytes_max`.
Result<std::string> ReadFile(FileSystem& fs, const std::string& path, std::uint64_t bytes_max = 1ull << 32);
/// Writes a new file under a temporary name, syncs it, renames it to `path` and syncs the directory.
Status WriteFileAtomically(FileSystem& fs, const std::string& path, std::string_view data);
/// "a/b" from "a" and "b".
std::string JoinPath(std::string_view directory, std::string_view name);
/// Directory part of a path ("." when there is none).
std::string ParentPath(std::string_view path);
/// Sum of the bytes of all files below a directory; 0 when it does not exist.
Result<std::uint64_t> TreeBytes(FileSystem& fs, const std::string& path);

}  // namespace tsdb
