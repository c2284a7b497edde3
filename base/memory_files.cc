#include "base/memory_files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tsdb {

namespace {

class MemoryWritableFile final : public WritableFile {
 public:
  MemoryWritableFile(std::shared_ptr<MemoryDisk> disk, std::shared_ptr<MemoryFile> file, std::string path)
      : disk_(std::move(disk)), file_(std::move(file)), path_(std::move(path)) {}

  Status Append(std::string_view data) override {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    const auto ticket = disk_->Begin("Append", path_);
    MutexLock lock(disk_->mutex);
    if (!ticket.status.ok()) {
      if (ticket.at_cut) {
        file_->Append(data.substr(0, data.size() / 2));
      }
      return ticket.status;
    }
    const std::uint64_t size = file_->bytes.size();
    const std::uint64_t room = file_->reserved > size ? file_->reserved - size : 0;
    const std::uint64_t needed = data.size() > room ? data.size() - room : 0;
    const std::uint64_t taken = disk_->Take(needed);
    file_->Append(data.substr(0, data.size() - static_cast<std::size_t>(needed - taken)));
    return taken == needed ? Status::Ok() : NoSpace("write");
  }

  Status Sync() override {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    auto ticket = disk_->Begin("Sync", path_);
    MutexLock lock(disk_->mutex);
    if (ticket.status.ok()) {
      file_->Sync();
    } else if (!disk_->stopped()) {
      file_->FailSync();
    }
    return std::move(ticket.status);
  }

  Status Reserve(std::uint64_t size) override {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    TSDB_RETURN_IF_ERROR(disk_->Begin("Reserve", path_).status);
    MutexLock lock(disk_->mutex);
    const std::uint64_t have = file_->allocated();
    if (size <= have) {
      return {};
    }
    const std::uint64_t taken = disk_->Take(size - have);
    if (taken < size - have) {
      disk_->GiveBack(taken);
      return NoSpace("reserve space");
    }
    file_->reserved = size;
    return {};
  }

  Status ReleaseReserved() override {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    MutexLock lock(disk_->mutex);
    if (disk_->stopped()) {
      return PowerCutError(path_, "ReleaseReserved");
    }
    disk_->GiveBack(file_->allocated() - file_->bytes.size());
    file_->reserved = 0;
    return {};
  }

  Status Close() override {
    closed_ = true;
    return {};
  }

  std::uint64_t size() const override {
    MutexLock lock(disk_->mutex);
    return file_->bytes.size();
  }

 private:
  Status CheckOpen() const {
    return closed_ ? Status::Closed(fmt::format("{}: the file was closed", path_)) : Status::Ok();
  }
  Status NoSpace(std::string_view operation) const {
    return Status::NoSpace(fmt::format("{}: {}: no space left", path_, operation));
  }

  const std::shared_ptr<MemoryDisk> disk_;
  const std::shared_ptr<MemoryFile> file_;
  const std::string path_;
  bool closed_ = false;
};

class MemoryRandomReadFile final : public RandomReadFile {
 public:
  MemoryRandomReadFile(std::shared_ptr<const MemoryDisk> disk, std::shared_ptr<const MemoryFile> file, std::string path,
                       std::uint64_t size)
      : disk_(std::move(disk)), file_(std::move(file)), path_(std::move(path)), size_(size) {}

  Result<std::size_t> ReadAt(std::uint64_t offset, std::size_t n, char* out) const override {
    MutexLock lock(disk_->mutex);
    if (offset >= file_->bytes.size()) {
      return std::size_t{0};
    }
    const auto at = static_cast<std::size_t>(offset);
    const std::size_t got = std::min(n, file_->bytes.size() - at);
    std::copy_n(file_->bytes.data() + at, got, out);
    return got;
  }
  std::uint64_t size() const override { return size_; }
  const std::string& path() const override { return path_; }

 private:
  const std::shared_ptr<const MemoryDisk> disk_;
  const std::shared_ptr<const MemoryFile> file_;
  const std::string path_;
  const std::uint64_t size_;
};

class MemoryFileLock final : public FileLock {
 public:
  MemoryFileLock(std::shared_ptr<MemoryDisk> disk, std::shared_ptr<MemoryFile> file)
      : disk_(std::move(disk)), file_(std::move(file)) {}
  ~MemoryFileLock() override {
    MutexLock lock(disk_->mutex);
    disk_->locked.erase(file_.get());
  }

 private:
  const std::shared_ptr<MemoryDisk> disk_;
  const std::shared_ptr<MemoryFile> file_;
};

}  // namespace

std::unique_ptr<WritableFile> NewMemoryWritableFile(std::shared_ptr<MemoryDisk> disk, std::shared_ptr<MemoryFile> file,
                                                    std::string path) {
  return std::make_unique<MemoryWritableFile>(std::move(disk), std::move(file), std::move(path));
}

std::unique_ptr<RandomReadFile> NewMemoryRandomReadFile(std::shared_ptr<MemoryDisk> disk,
                                                        std::shared_ptr<MemoryFile> file, std::string path,
                                                        std::uint64_t size) {
  return std::make_unique<MemoryRandomReadFile>(std::move(disk), std::move(file), std::move(path), size);
}

std::unique_ptr<FileLock> NewMemoryFileLock(std::shared_ptr<MemoryDisk> disk, std::shared_ptr<MemoryFile> file) {
  return std::make_unique<MemoryFileLock>(std::move(disk), std::move(file));
}

}  // namespace tsdb
