// FaultyFileSystem: a MemoryFileSystem each call of which may fail, reads as well as writes.
//
// Calls are numbered from 1, whatever they do: one for each function of FileSystem and of the files it opens.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_file_system.h"

namespace tsdb::engine {

class FaultyFileSystem final : public FileSystem {
 public:
  /// What a call does: opens or lists, reads, changes something, or syncs.
  enum class Kind : unsigned char { kOpen, kRead, kWrite, kSync };
  struct Fault {
    Status status;
    bool torn = false;  // an Append writes half of its bytes before it fails
  };
  using Ask = std::function<Fault(std::uint64_t number, Kind kind, std::string_view call, const std::string& path)>;

  FaultyFileSystem();
  ~FaultyFileSystem() override;

  /// Asked before each call; an error becomes its outcome. Empty: none.
  void SetFault(Ask ask);
  std::uint64_t calls() const;
  /// Where everything is.
  MemoryFileSystem& disk();

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

 private:
  class Writer;
  class Reader;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tsdb::engine
