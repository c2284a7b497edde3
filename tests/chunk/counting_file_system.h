// CountingFileSystem: hands everything to a MemoryFileSystem and counts what is read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_file_system.h"

namespace tsdb::chunk {

class CountingFileSystem final : public FileSystem {
 public:
  MemoryFileSystem& under() { return under_; }
  /// Reads and bytes read since the last call.
  struct Count {
    std::uint64_t reads = 0;
    std::uint64_t bytes = 0;
  };
  Count TakeCount() { return std::exchange(count_, {}); }

  Result<std::unique_ptr<RandomReadFile>> OpenReadable(const std::string& path) override {
    TSDB_ASSIGN_OR_RETURN(auto file, under_.OpenReadable(path));
    return std::unique_ptr<RandomReadFile>(std::make_unique<File>(std::move(file), &count_));
  }
  Result<std::unique_ptr<WritableFile>> OpenWritable(const std::string& path, OpenMode mode) override {
    return under_.OpenWritable(path, mode);
  }
  Status Rename(const std::string& from, const std::string& to) override { return under_.Rename(from, to); }
  Status RemoveFile(const std::string& path) override { return under_.RemoveFile(path); }
  Status RemoveAll(const std::string& path) override { return under_.RemoveAll(path); }
  Status CreateDirectories(const std::string& path) override { return under_.CreateDirectories(path); }
  Status SyncDirectory(const std::string& path) override { return under_.SyncDirectory(path); }
  Result<std::vector<DirectoryEntry>> List(const std::string& path) override { return under_.List(path); }
  Result<bool> Exists(const std::string& path) override { return under_.Exists(path); }
  Result<std::uint64_t> FileSize(const std::string& path) override { return under_.FileSize(path); }
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override { return under_.Lock(path); }
  Result<std::uint64_t> FreeBytes(const std::string& path) override { return under_.FreeBytes(path); }

 private:
  class File final : public RandomReadFile {
   public:
    File(std::unique_ptr<RandomReadFile> under, Count* count) : under_(std::move(under)), count_(count) {}
    Result<std::size_t> ReadAt(std::uint64_t offset, std::size_t n, char* out) const override {
      ++count_->reads;
      count_->bytes += n;
      return under_->ReadAt(offset, n, out);
    }
    std::uint64_t size() const override { return under_->size(); }
    const std::string& path() const override { return under_->path(); }

   private:
    const std::unique_ptr<RandomReadFile> under_;
    Count* const count_;
  };

  MemoryFileSystem under_;
  Count count_;
};

}  // namespace tsdb::chunk
