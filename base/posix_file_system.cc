#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include <boost/filesystem/directory.hpp>
#include <boost/filesystem/operations.hpp>
#include <fmt/format.h>

#include "base/file_system.h"

namespace tsdb {

namespace {

namespace bfs = boost::filesystem;

constexpr std::size_t kCallBytesMax = std::size_t{1} << 30;  // per read or write call; Linux stops at 2 GiB
constexpr std::uint64_t kOffsetMax = std::numeric_limits<off_t>::max();

StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT: return StatusCode::kNotFound;
    case EEXIST: return StatusCode::kAlreadyExists;
    case ENOSPC:
    case EDQUOT: return StatusCode::kNoSpace;
    case EMFILE:
    case ENFILE: return StatusCode::kTooManyOpenFiles;
    case ENOMEM: return StatusCode::kOutOfMemory;
    default: return StatusCode::kIoError;
  }
}

Status ErrorStatus(std::string_view path, std::string_view operation, int error) {
  return {CodeOf(error), fmt::format("{}: {}: {}", path, operation, std::generic_category().message(error))};
}

Status ErrorStatus(std::string_view path, std::string_view operation, const boost::system::error_code& error) {
  return ErrorStatus(path, operation, error.value());
}

// Repeats a system call that a signal interrupted.
template <typename Call>
auto Uninterrupted(Call call) {
  while (true) {
    const auto result = call();
    if (result != -1 || errno != EINTR) {
      return result;
    }
  }
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

Result<FileDescriptor> OpenDescriptor(const std::string& path, int flags, std::string_view operation) {
  const int fd = Uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0644); });
  if (fd < 0) {
    return ErrorStatus(path, operation, errno);
  }
  return FileDescriptor(fd);
}

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(std::string path, FileDescriptor fd, std::uint64_t size, std::uint64_t reserved)
      : path_(std::move(path)), fd_(std::move(fd)), size_(size), reserved_(reserved) {}

  Status Append(std::string_view data) override {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    while (!data.empty()) {
      const std::size_t n = std::min(data.size(), kCallBytesMax);
      const ssize_t written =
          Uninterrupted([&] { return ::pwrite(fd_.get(), data.data(), n, static_cast<off_t>(size_)); });
      if (written <= 0) {
        return ErrorStatus(path_, "write", written < 0 ? errno : EIO);
      }
      size_ += static_cast<std::uint64_t>(written);
      data.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  Status Sync() override {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    if (Uninterrupted([&] { return ::fdatasync(fd_.get()); }) != 0) {
      return ErrorStatus(path_, "sync", errno);
    }
    return {};
  }

  Status Reserve(std::uint64_t size) override {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    const std::uint64_t have = std::max(size_, reserved_);
    if (size <= have) {
      return {};
    }
    if (size > kOffsetMax) {
      return ErrorStatus(path_, "reserve space", EFBIG);
    }
    const int result = Uninterrupted([&] {
      return ::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(have), static_cast<off_t>(size - have));
    });
    if (result != 0) {
      // Without reservation in the file system the contract says: OK, without effect.
      return errno == EOPNOTSUPP || errno == ENOSYS ? Status::Ok() : ErrorStatus(path_, "reserve space", errno);
    }
    reserved_ = size;
    return {};
  }

  Status ReleaseReserved() override {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    if (reserved_ <= size_) {
      return {};
    }
    // Cutting a file to the size it has frees the blocks behind its end.
    if (Uninterrupted([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size_)); }) != 0) {
      return ErrorStatus(path_, "release reserved space", errno);
    }
    reserved_ = 0;
    return {};
  }

  Status Close() override {
    const int fd = fd_.Release();
    // After EINTR the descriptor is closed on Linux: nothing to repeat.
    if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) {
      return ErrorStatus(path_, "close", errno);
    }
    return {};
  }

  std::uint64_t size() const override { return size_; }

 private:
  Status CheckOpen() const {
    return fd_.get() >= 0 ? Status::Ok() : Status::Closed(fmt::format("{}: the file was closed", path_));
  }

  const std::string path_;
  FileDescriptor fd_;
  std::uint64_t size_;      // where the next byte goes; exact also after a failed Append
  std::uint64_t reserved_;  // blocks are allocated up to here
};

class PosixRandomReadFile final : public RandomReadFile {
 public:
  PosixRandomReadFile(std::string path, FileDescriptor fd, std::uint64_t size)
      : path_(std::move(path)), fd_(std::move(fd)), size_(size) {}

  Result<std::size_t> ReadAt(std::uint64_t offset, std::size_t n, char* out) const override {
    std::size_t done = 0;
    while (done < n && offset <= kOffsetMax - done) {
      const std::size_t want = std::min(n - done, kCallBytesMax);
      const ssize_t got =
          Uninterrupted([&] { return ::pread(fd_.get(), out + done, want, static_cast<off_t>(offset + done)); });
      if (got < 0) {
        return ErrorStatus(path_, fmt::format("read at {}", offset + done), errno);
      }
      if (got == 0) {
        break;
      }
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  std::uint64_t size() const override { return size_; }
  const std::string& path() const override { return path_; }

 private:
  const std::string path_;
  const FileDescriptor fd_;
  const std::uint64_t size_;
};

class PosixFileLock final : public FileLock {
 public:
  explicit PosixFileLock(FileDescriptor fd) : fd_(std::move(fd)) {}
  ~PosixFileLock() override {
    // So that nobody is told our pid later; the lock itself goes with the descriptor.
    static_cast<void>(!::ftruncate(fd_.get(), 0));
  }

 private:
  const FileDescriptor fd_;
};

std::string HolderText(int fd) {
  char text[24] = {};
  const ssize_t n = Uninterrupted([&] { return ::pread(fd, text, sizeof(text), 0); });
  std::int64_t pid = 0;
  if (n > 0 && std::from_chars(text, text + n, pid).ec == std::errc() && pid > 0) {
    return fmt::format("process {}", pid);
  }
  return "another process";
}

class PosixFileSystemImpl final : public FileSystem {
 public:
  Result<std::unique_ptr<WritableFile>> OpenWritable(const std::string& path, OpenMode mode) override {
    const int flags = mode == OpenMode::kCreate     ? O_WRONLY | O_CREAT | O_EXCL
                      : mode == OpenMode::kTruncate ? O_WRONLY | O_CREAT | O_TRUNC
                                                    : O_WRONLY;
    TSDB_ASSIGN_OR_RETURN(FileDescriptor fd, OpenDescriptor(path, flags, "open for writing"));
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) {
      return ErrorStatus(path, "stat", errno);
    }
    const auto size = static_cast<std::uint64_t>(info.st_size);
    // What an earlier process reserved and did not give back can be given back through this handle.
    const std::uint64_t allocated = static_cast<std::uint64_t>(info.st_blocks) * 512;
    return std::unique_ptr<WritableFile>(new PosixWritableFile(path, std::move(fd), size, allocated));
  }

  Result<std::unique_ptr<RandomReadFile>> OpenReadable(const std::string& path) override {
    TSDB_ASSIGN_OR_RETURN(FileDescriptor fd, OpenDescriptor(path, O_RDONLY, "open for reading"));
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) {
      return ErrorStatus(path, "stat", errno);
    }
    if (S_ISDIR(info.st_mode)) {
      return ErrorStatus(path, "open for reading", EISDIR);
    }
    return std::unique_ptr<RandomReadFile>(
        new PosixRandomReadFile(path, std::move(fd), static_cast<std::uint64_t>(info.st_size)));
  }

  Status Rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) {
      return ErrorStatus(from, fmt::format("rename to {}", to), errno);
    }
    return {};
  }

  Status RemoveFile(const std::string& path) override {
    if (::unlink(path.c_str()) != 0) {
      return ErrorStatus(path, "remove", errno);
    }
    return {};
  }

  Status RemoveAll(const std::string& path) override {
    boost::system::error_code error;
    bfs::remove_all(path, error);
    return error ? ErrorStatus(path, "remove with all files", error) : Status::Ok();
  }

  Status CreateDirectories(const std::string& path) override {
    boost::system::error_code error;
    bfs::create_directories(path, error);
    return error ? ErrorStatus(path, "create directory", error) : Status::Ok();
  }

  Status SyncDirectory(const std::string& path) override {
    TSDB_ASSIGN_OR_RETURN(FileDescriptor fd, OpenDescriptor(path, O_RDONLY | O_DIRECTORY, "open directory"));
    // EINVAL: the file system cannot sync directories; nothing better can be done there.
    if (Uninterrupted([&] { return ::fsync(fd.get()); }) != 0 && errno != EINVAL) {
      return ErrorStatus(path, "sync directory", errno);
    }
    return {};
  }

  Result<std::vector<DirectoryEntry>> List(const std::string& path) override {
    boost::system::error_code error;
    bfs::directory_iterator next(path, error);
    std::vector<DirectoryEntry> entries;
    while (!error && next != bfs::directory_iterator()) {
      AddEntry(*next, &entries);
      next.increment(error);
    }
    if (error) {
      return ErrorStatus(path, "list", error);
    }
    std::sort(entries.begin(), entries.end(),
              [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
    return entries;
  }

  Result<bool> Exists(const std::string& path) override {
    boost::system::error_code error;
    const bfs::file_status status = bfs::status(path, error);
    if (status.type() == bfs::file_not_found) {
      return false;
    }
    if (status.type() == bfs::status_error) {
      return ErrorStatus(path, "stat", error);
    }
    return true;
  }

  Result<std::uint64_t> FileSize(const std::string& path) override {
    boost::system::error_code error;
    const std::uint64_t size = bfs::file_size(path, error);
    if (error) {
      return ErrorStatus(path, "size", error);
    }
    return size;
  }

  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    TSDB_ASSIGN_OR_RETURN(FileDescriptor fd, OpenDescriptor(path, O_RDWR | O_CREAT, "open lock file"));
    // A lock of the open file description: a second one in this process conflicts too, and closing another descriptor
    // of the file does not give it up.
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (Uninterrupted([&] { return ::fcntl(fd.get(), F_OFD_SETLK, &whole); }) != 0) {
      if (errno == EAGAIN || errno == EACCES) {
        return Status::Busy(
            fmt::format("{}: is used by {}; close it or open read-only", path, HolderText(fd.get())));
      }
      return ErrorStatus(path, "lock", errno);
    }
    WritePid(fd.get());
    return std::unique_ptr<FileLock>(new PosixFileLock(std::move(fd)));
  }

  Result<std::uint64_t> FreeBytes(const std::string& path) override {
    struct statvfs info {};
    if (Uninterrupted([&] { return ::statvfs(path.c_str(), &info); }) != 0) {
      return ErrorStatus(path, "free space", errno);
    }
    return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
  }

 private:
  static void AddEntry(const bfs::directory_entry& found, std::vector<DirectoryEntry>* entries) {
    boost::system::error_code error;
    DirectoryEntry entry;
    entry.name = found.path().filename().string();
    // Links are not followed into directories, so that a walk over a tree ends.
    const bfs::file_status status = bfs::symlink_status(found.path(), error);
    if (status.type() == bfs::file_not_found) {
      return;  // removed since the directory was read
    }
    entry.is_directory = status.type() == bfs::directory_file;
    if (!entry.is_directory) {
      const std::uint64_t bytes = bfs::file_size(found.path(), error);
      entry.bytes = error ? 0 : bytes;  // sockets, dangling links and the like hold no bytes of their own
    }
    entries->push_back(std::move(entry));
  }

  // For the message of the next one who asks. The lock holds without it, so that a full disk does not keep a database
  // from being opened for reading.
  static void WritePid(int fd) {
    const std::string pid = fmt::format("{}\n", ::getpid());
    static_cast<void>(!::pwrite(fd, pid.data(), pid.size(), 0));
    static_cast<void>(!::ftruncate(fd, static_cast<off_t>(pid.size())));
  }
};

}  // namespace

FileSystem& PosixFileSystem() {
  static PosixFileSystemImpl* const fs = new PosixFileSystemImpl;  // never destroyed: threads may outlive main()
  return *fs;
}

}  // namespace tsdb
