#include "tests/crash/faulty_file_system.h"

#include <utility>

namespace tsdb::engine {

struct FaultyFileSystem::State {
  MemoryFileSystem disk;
  Ask ask;
  std::uint64_t calls = 0;

  Fault Begin(Kind kind, std::string_view call, const std::string& path) {
    ++calls;
    return ask ? ask(calls, kind, call, path) : Fault();
  }
};

class FaultyFileSystem::Writer final : public WritableFile {
 public:
  Writer(std::shared_ptr<State> state, std::unique_ptr<WritableFile> file, std::string path)
      : state_(std::move(state)), file_(std::move(file)), path_(std::move(path)) {}

  Status Append(std::string_view data) override {
    const Fault fault = state_->Begin(Kind::kWrite, "Append", path_);
    if (fault.status.ok()) {
      return file_->Append(data);
    }
    if (fault.torn) {
      TSDB_RETURN_IF_ERROR(file_->Append(data.substr(0, data.size() / 2)));
    }
    return fault.status;
  }
  Status Sync() override {
    const Fault fault = state_->Begin(Kind::kSync, "Sync", path_);
    if (fault.status.ok()) {
      return file_->Sync();
    }
    // The disk must know: what was not synced counts as clean from now on and never reaches it.
    state_->disk.SetFault([&](std::uint64_t, std::string_view, const std::string&) { return fault.status; });
    Status status = file_->Sync();
    state_->disk.SetFault({});
    return status;
  }
  Status Reserve(std::uint64_t size) override {
    const Fault fault = state_->Begin(Kind::kWrite, "Reserve", path_);
    return fault.status.ok() ? file_->Reserve(size) : fault.status;
  }
  Status ReleaseReserved() override {
    const Fault fault = state_->Begin(Kind::kWrite, "ReleaseReserved", path_);
    return fault.status.ok() ? file_->ReleaseReserved() : fault.status;
  }
  Status Close() override {
    const Fault fault = state_->Begin(Kind::kWrite, "Close", path_);
    const Status closed = file_->Close();  // the descriptor is gone, error or not
    return fault.status.ok() ? closed : fault.status;
  }
  std::uint64_t size() const override { return file_->size(); }

 private:
  const std::shared_ptr<State> state_;
  const std::unique_ptr<WritableFile> file_;
  const std::string path_;
};

class FaultyFileSystem::Reader final : public RandomReadFile {
 public:
  Reader(std::shared_ptr<State> state, std::unique_ptr<RandomReadFile> file)
      : state_(std::move(state)), file_(std::move(file)) {}

  Result<std::size_t> ReadAt(std::uint64_t offset, std::size_t n, char* out) const override {
    const Fault fault = state_->Begin(Kind::kRead, "ReadAt", file_->path());
    return fault.status.ok() ? file_->ReadAt(offset, n, out) : fault.status;
  }
  std::uint64_t size() const override { return file_->size(); }
  const std::string& path() const override { return file_->path(); }

 private:
  const std::shared_ptr<State> state_;
  const std::unique_ptr<RandomReadFile> file_;
};

FaultyFileSystem::FaultyFileSystem() : state_(std::make_shared<State>()) {}
FaultyFileSystem::~FaultyFileSystem() = default;

void FaultyFileSystem::SetFault(Ask ask) { state_->ask = std::move(ask); }
std::uint64_t FaultyFileSystem::calls() const { return state_->calls; }
MemoryFileSystem& FaultyFileSystem::disk() { return state_->disk; }

Result<std::unique_ptr<WritableFile>> FaultyFileSystem::OpenWritable(const std::string& path, OpenMode mode) {
  TSDB_RETURN_IF_ERROR(state_->Begin(Kind::kOpen, "OpenWritable", path).status);
  TSDB_ASSIGN_OR_RETURN(auto file, state_->disk.OpenWritable(path, mode));
  return std::unique_ptr<WritableFile>(std::make_unique<Writer>(state_, std::move(file), path));
}

Result<std::unique_ptr<RandomReadFile>> FaultyFileSystem::OpenReadable(const std::string& path) {
  TSDB_RETURN_IF_ERROR(state_->Begin(Kind::kOpen, "OpenReadable", path).status);
  TSDB_ASSIGN_OR_RETURN(auto file, state_->disk.OpenReadable(path));
  return std::unique_ptr<RandomReadFile>(std::make_unique<Reader>(state_, std::move(file)));
}

Status FaultyFileSystem::Rename(const std::string& from, const std::string& to) {
  TSDB_RETURN_IF_ERROR(state_->Begin(Kind::kWrite, "Rename", from).status);
  return state_->disk.Rename(from, to);
}

Status FaultyFileSystem::RemoveFile(const std::string& path) {
  TSDB_RETURN_IF_ERROR(state_->Begin(Kind::kWrite, "RemoveFile", path).status);
  return state_->disk.RemoveFile(path);
}

Status FaultyFileSystem::RemoveAll(const std::string& path) {
  TSDB_RETURN_IF_ERROR(state_->Begin(Kind::kWrite, "RemoveAll", path).status);
  return state_->disk.RemoveAll(path);
}

Status FaultyFileSystem::CreateDirectories(const std::string& path) {
  TSDB_RETURN_IF_ERROR(state_->Begin(Kind::kWrite, "CreateDirectories", path).status);
  return state_->disk.CreateDirectories(path);
}

Status FaultyFileSystem::SyncDirectory(const std::string& path) {
  TSDB_RETURN_IF_ERROR(state_->Begin(Kind::kSync, "SyncDirectory", path).status);
  return state_->disk.SyncDirectory(path);
}

Result<std::vector<DirectoryEntry>> FaultyFileSystem::List(const std::string& path) {
  TSDB_RETURN_IF_ERROR(state_->Begin(Kind::kOpen, "List", path).status);
  return state_->disk.List(path);
}

Result<bool> FaultyFileSystem::Exists(const std::string& path) {
  TSDB_RETURN_IF_ERROR(state_->Begin(Kind::kRead, "Exists", path).status);
  return state_->disk.Exists(path);
}

Result<std::uint64_t> FaultyFileSystem::FileSize(const std::string& path) {
  TSDB_RETURN_IF_ERROR(state_->Begin(Kind::kRead, "FileSize", path).status);
  return state_->disk.FileSize(path);
}

Result<std::unique_ptr<FileLock>> FaultyFileSystem::Lock(const std::string& path) {
  TSDB_RETURN_IF_ERROR(state_->Begin(Kind::kOpen, "Lock", path).status);
  return state_->disk.Lock(path);
}

Result<std::uint64_t> FaultyFileSystem::FreeBytes(const std::string& path) {
  TSDB_RETURN_IF_ERROR(state_->Begin(Kind::kRead, "FreeBytes", path).status);
  return state_->disk.FreeBytes(path);
}

}  // namespace tsdb::engine
