#include "base/memory_file_system.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/memory_tree.h"
#include "base/mutex.h"

namespace tsdb {

namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

// "a//b/./c" -> a, b, c. Absolute and relative paths start at the same root.
std::vector<std::string_view> SplitPath(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part == "..") {
      if (!parts.empty()) {
        parts.pop_back();
      }
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  return parts;
}

Status NotFoundError(std::string_view path) { return Status::NotFound(fmt::format("{}: no such file", path)); }
Status NotDirectoryError(std::string_view path) { return Status::IoError(fmt::format("{}: not a directory", path)); }
Status IsDirectoryError(std::string_view path) { return Status::IoError(fmt::format("{}: is a directory", path)); }
Status PowerCutError(std::string_view path, std::string_view operation) {
  return Status::IoError(fmt::format("{}: {}: the power is cut", path, operation));
}

}  // namespace

struct MemoryFileSystem::Impl {
  // Outcome of counting an operation.
  struct Ticket {
    Status status;
    bool at_cut = false;  // this very operation met the power cut
  };

  // A place in the tree: the directory and the name of the entry in it.
  struct Place {
    std::shared_ptr<MemoryDirectory> directory;
    std::string name;
    MemoryNode node;  // empty when there is no such entry
  };

  // Guards everything below and all nodes of the tree; a leaf.
  mutable Mutex mutex;
  std::shared_ptr<MemoryDirectory> root TSDB_GUARDED_BY(mutex) = std::make_shared<MemoryDirectory>();
  std::uint64_t nodes TSDB_GUARDED_BY(mutex) = 0;
  std::uint64_t changes TSDB_GUARDED_BY(mutex) = 0;
  std::uint64_t operations TSDB_GUARDED_BY(mutex) = 0;
  std::uint64_t stop_at TSDB_GUARDED_BY(mutex) = 0;
  std::uint64_t free_bytes TSDB_GUARDED_BY(mutex) = kUnlimited;
  std::function<Status(std::uint64_t, std::string_view, const std::string&)> fault TSDB_GUARDED_BY(mutex);
  std::set<const MemoryFile*> locked TSDB_GUARDED_BY(mutex);

  bool stopped() const TSDB_REQUIRES(mutex) { return stop_at != 0 && operations >= stop_at; }

  // Counts an operation and says whether it may run. The fault function runs without the lock, so it may look at the
  // file system.
  Ticket Begin(std::string_view operation, const std::string& path) TSDB_EXCLUDES(mutex) {
    std::function<Status(std::uint64_t, std::string_view, const std::string&)> ask;
    std::uint64_t number = 0;
    {
      MutexLock lock(mutex);
      number = ++operations;
      if (stopped()) {
        return {PowerCutError(path, operation), number == stop_at};
      }
      ask = fault;
    }
    return {ask ? ask(number, operation, path) : Status::Ok(), false};
  }

  MemoryNode FindNode(std::string_view path) const TSDB_REQUIRES(mutex) {
    MemoryNode node;
    node.directory = root;
    for (const std::string_view part : SplitPath(path)) {
      if (!node.directory) {
        return {};
      }
      const auto at = node.directory->entries.find(part);
      if (at == node.directory->entries.end()) {
        return {};
      }
      // Copied before it is assigned: `at` lives in the directory that `node` may be the last to hold.
      MemoryNode next = at->second;
      node = std::move(next);
    }
    return node;
  }

  Result<Place> FindPlace(const std::string& path) const TSDB_REQUIRES(mutex) {
    std::vector<std::string_view> parts = SplitPath(path);
    if (parts.empty()) {
      return IsDirectoryError(path);
    }
    Place place;
    place.name = parts.back();
    parts.pop_back();
    place.directory = root;
    for (const std::string_view part : parts) {
      const auto at = place.directory->entries.find(part);
      if (at == place.directory->entries.end()) {
        return NotFoundError(path);
      }
      if (!at->second.directory) {
        return NotDirectoryError(path);
      }
      std::shared_ptr<MemoryDirectory> next = at->second.directory;
      place.directory = std::move(next);
    }
    if (const auto at = place.directory->entries.find(place.name); at != place.directory->entries.end()) {
      place.node = at->second;
    }
    return place;
  }

  Result<std::shared_ptr<MemoryFile>> FindFile(const std::string& path) const TSDB_REQUIRES(mutex) {
    const MemoryNode node = FindNode(path);
    if (node.directory) {
      return IsDirectoryError(path);
    }
    if (!node.file) {
      return NotFoundError(path);
    }
    return node.file;
  }

  MemoryNode NewNode(bool directory) TSDB_REQUIRES(mutex) {
    MemoryNode node;
    node.number = ++nodes;
    if (directory) {
      node.directory = std::make_shared<MemoryDirectory>();
    } else {
      node.file = std::make_shared<MemoryFile>();
    }
    return node;
  }

  void AddEntry(MemoryDirectory* directory, const std::string& name, const MemoryNode& node) TSDB_REQUIRES(mutex) {
    DoChange(directory, {.number = ++changes, .removed = {}, .set = name, .node = node, .peer = {}});
  }

  void RemoveEntry(MemoryDirectory* directory, const std::string& name) TSDB_REQUIRES(mutex) {
    DoChange(directory, {.number = ++changes, .removed = name, .set = {}, .node = {}, .peer = {}});
  }

  void GiveBack(std::uint64_t bytes) TSDB_REQUIRES(mutex) {
    if (free_bytes != kUnlimited) {
      free_bytes += bytes;
    }
  }

  // Takes up to `bytes`; returns how many there were.
  std::uint64_t Take(std::uint64_t bytes) TSDB_REQUIRES(mutex) {
    if (free_bytes == kUnlimited) {
      return bytes;
    }
    const std::uint64_t taken = std::min(bytes, free_bytes);
    free_bytes -= taken;
    return taken;
  }

  // Removes what is in a directory, file by file: a power cut may leave any part of it.
  void EmptyDirectory(MemoryDirectory* directory) TSDB_REQUIRES(mutex) {
    while (!directory->entries.empty()) {
      const auto [name, node] = *directory->entries.begin();
      if (node.directory) {
        EmptyDirectory(node.directory.get());
      } else {
        GiveBack(node.file->allocated());
      }
      RemoveEntry(directory, name);
    }
  }

  Status RenameNode(const std::string& from, const std::string& to) TSDB_REQUIRES(mutex) {
    TSDB_ASSIGN_OR_RETURN(const Place source, FindPlace(from));
    TSDB_ASSIGN_OR_RETURN(const Place target, FindPlace(to));
    if (!source.node) {
      return NotFoundError(from);
    }
    const bool same_directory = source.directory == target.directory;
    if (same_directory && source.name == target.name) {
      return {};
    }
    if (source.node.file) {
      if (target.node.directory) {
        return IsDirectoryError(to);
      }
    } else if (target.node) {
      return Status::IoError(fmt::format("{}: cannot be replaced by a directory", to));
    } else if (!same_directory) {
      return Status::NotSupported(fmt::format("{}: directories can only be renamed where they are", from));
    }
    if (target.node.file) {
      GiveBack(target.node.file->allocated());
    }
    const std::uint64_t number = ++changes;
    if (same_directory) {
      DoChange(source.directory.get(),
               {.number = number, .removed = source.name, .set = target.name, .node = source.node, .peer = {}});
    } else {
      DoChange(source.directory.get(),
               {.number = number, .removed = source.name, .set = {}, .node = {}, .peer = target.directory});
      DoChange(target.directory.get(),
               {.number = number, .removed = {}, .set = target.name, .node = source.node, .peer = source.directory});
    }
    return {};
  }
};

namespace {

// Members of MemoryFileSystem::Impl are reached through a template parameter, because Impl is private.
template <typename Impl>
class MemoryWritableFile final : public WritableFile {
 public:
  MemoryWritableFile(std::shared_ptr<Impl> fs, std::shared_ptr<MemoryFile> file, std::string path)
      : fs_(std::move(fs)), file_(std::move(file)), path_(std::move(path)) {}

  Status Append(std::string_view data) override {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    const auto ticket = fs_->Begin("Append", path_);
    MutexLock lock(fs_->mutex);
    if (!ticket.status.ok()) {
      if (ticket.at_cut) {
        file_->bytes.append(data.substr(0, data.size() / 2));
      }
      return ticket.status;
    }
    const std::uint64_t size = file_->bytes.size();
    const std::uint64_t room = file_->reserved > size ? file_->reserved - size : 0;
    const std::uint64_t needed = data.size() > room ? data.size() - room : 0;
    const std::uint64_t taken = fs_->Take(needed);
    file_->bytes.append(data.substr(0, data.size() - static_cast<std::size_t>(needed - taken)));
    return taken == needed ? Status::Ok() : NoSpace("write");
  }

  Status Sync() override {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    TSDB_RETURN_IF_ERROR(fs_->Begin("Sync", path_).status);
    MutexLock lock(fs_->mutex);
    file_->Sync();
    return {};
  }

  Status Reserve(std::uint64_t size) override {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    TSDB_RETURN_IF_ERROR(fs_->Begin("Reserve", path_).status);
    MutexLock lock(fs_->mutex);
    const std::uint64_t have = file_->allocated();
    if (size <= have) {
      return {};
    }
    const std::uint64_t taken = fs_->Take(size - have);
    if (taken < size - have) {
      fs_->GiveBack(taken);
      return NoSpace("reserve space");
    }
    file_->reserved = size;
    return {};
  }

  Status ReleaseReserved() override {
    TSDB_RETURN_IF_ERROR(CheckOpen());
    MutexLock lock(fs_->mutex);
    if (fs_->stopped()) {
      return PowerCutError(path_, "ReleaseReserved");
    }
    fs_->GiveBack(file_->allocated() - file_->bytes.size());
    file_->reserved = 0;
    return {};
  }

  Status Close() override {
    closed_ = true;
    return {};
  }

  std::uint64_t size() const override {
    MutexLock lock(fs_->mutex);
    return file_->bytes.size();
  }

 private:
  Status CheckOpen() const {
    return closed_ ? Status::Closed(fmt::format("{}: the file was closed", path_)) : Status::Ok();
  }
  Status NoSpace(std::string_view operation) const {
    return Status::NoSpace(fmt::format("{}: {}: no space left", path_, operation));
  }

  const std::shared_ptr<Impl> fs_;
  const std::shared_ptr<MemoryFile> file_;
  const std::string path_;
  bool closed_ = false;
};

template <typename Impl>
class MemoryRandomReadFile final : public RandomReadFile {
 public:
  MemoryRandomReadFile(std::shared_ptr<const Impl> fs, std::shared_ptr<const MemoryFile> file, std::string path,
                       std::uint64_t size)
      : fs_(std::move(fs)), file_(std::move(file)), path_(std::move(path)), size_(size) {}

  Result<std::size_t> ReadAt(std::uint64_t offset, std::size_t n, char* out) const override {
    MutexLock lock(fs_->mutex);
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
  const std::shared_ptr<const Impl> fs_;
  const std::shared_ptr<const MemoryFile> file_;
  const std::string path_;
  const std::uint64_t size_;
};

template <typename Impl>
class MemoryFileLock final : public FileLock {
 public:
  MemoryFileLock(std::shared_ptr<Impl> fs, std::shared_ptr<MemoryFile> file)
      : fs_(std::move(fs)), file_(std::move(file)) {}
  ~MemoryFileLock() override {
    MutexLock lock(fs_->mutex);
    fs_->locked.erase(file_.get());
  }

 private:
  const std::shared_ptr<Impl> fs_;
  const std::shared_ptr<MemoryFile> file_;
};

}  // namespace

MemoryFileSystem::MemoryFileSystem() : impl_(std::make_shared<Impl>()) {}
MemoryFileSystem::~MemoryFileSystem() = default;

Result<std::unique_ptr<WritableFile>> MemoryFileSystem::OpenWritable(const std::string& path, OpenMode mode) {
  TSDB_RETURN_IF_ERROR(impl_->Begin("OpenWritable", path).status);
  MutexLock lock(impl_->mutex);
  TSDB_ASSIGN_OR_RETURN(Impl::Place place, impl_->FindPlace(path));
  if (place.node.directory) {
    return IsDirectoryError(path);
  }
  if (place.node && mode == OpenMode::kCreate) {
    return Status::AlreadyExists(fmt::format("{}: exists already", path));
  }
  if (!place.node && mode == OpenMode::kAppend) {
    return NotFoundError(path);
  }
  if (!place.node) {
    place.node = impl_->NewNode(/*directory=*/false);
    impl_->AddEntry(place.directory.get(), place.name, place.node);
  } else if (mode == OpenMode::kTruncate) {
    impl_->GiveBack(place.node.file->allocated());
    place.node.file->Truncate();
  }
  return std::unique_ptr<WritableFile>(new MemoryWritableFile<Impl>(impl_, place.node.file, path));
}

Result<std::unique_ptr<RandomReadFile>> MemoryFileSystem::OpenReadable(const std::string& path) {
  MutexLock lock(impl_->mutex);
  TSDB_ASSIGN_OR_RETURN(auto file, impl_->FindFile(path));
  const std::uint64_t size = file->bytes.size();
  return std::unique_ptr<RandomReadFile>(new MemoryRandomReadFile<Impl>(impl_, std::move(file), path, size));
}

Status MemoryFileSystem::Rename(const std::string& from, const std::string& to) {
  TSDB_RETURN_IF_ERROR(impl_->Begin("Rename", from).status);
  MutexLock lock(impl_->mutex);
  return impl_->RenameNode(from, to);
}

Status MemoryFileSystem::RemoveFile(const std::string& path) {
  TSDB_RETURN_IF_ERROR(impl_->Begin("RemoveFile", path).status);
  MutexLock lock(impl_->mutex);
  TSDB_ASSIGN_OR_RETURN(const Impl::Place place, impl_->FindPlace(path));
  if (!place.node) {
    return NotFoundError(path);
  }
  if (place.node.directory) {
    return IsDirectoryError(path);
  }
  impl_->GiveBack(place.node.file->allocated());
  impl_->RemoveEntry(place.directory.get(), place.name);
  return {};
}

Status MemoryFileSystem::RemoveAll(const std::string& path) {
  TSDB_RETURN_IF_ERROR(impl_->Begin("RemoveAll", path).status);
  MutexLock lock(impl_->mutex);
  auto found = impl_->FindPlace(path);
  if (!found.ok()) {
    return found.status().code() == StatusCode::kNotFound ? Status::Ok() : found.status();
  }
  const Impl::Place& place = *found;
  if (!place.node) {
    return {};
  }
  if (place.node.directory) {
    impl_->EmptyDirectory(place.node.directory.get());
  } else {
    impl_->GiveBack(place.node.file->allocated());
  }
  impl_->RemoveEntry(place.directory.get(), place.name);
  return {};
}

Status MemoryFileSystem::CreateDirectories(const std::string& path) {
  TSDB_RETURN_IF_ERROR(impl_->Begin("CreateDirectories", path).status);
  MutexLock lock(impl_->mutex);
  std::shared_ptr<MemoryDirectory> directory = impl_->root;
  for (const std::string_view part : SplitPath(path)) {
    const auto at = directory->entries.find(part);
    MemoryNode node;
    if (at != directory->entries.end()) {
      node = at->second;
    } else {
      node = impl_->NewNode(/*directory=*/true);
      impl_->AddEntry(directory.get(), std::string(part), node);
    }
    if (!node.directory) {
      return NotDirectoryError(path);
    }
    directory = node.directory;
  }
  return {};
}

Status MemoryFileSystem::SyncDirectory(const std::string& path) {
  TSDB_RETURN_IF_ERROR(impl_->Begin("SyncDirectory", path).status);
  MutexLock lock(impl_->mutex);
  const MemoryNode node = impl_->FindNode(path);
  if (!node) {
    return NotFoundError(path);
  }
  if (!node.directory) {
    return NotDirectoryError(path);
  }
  node.directory->Sync();
  return {};
}

Result<std::vector<DirectoryEntry>> MemoryFileSystem::List(const std::string& path) {
  MutexLock lock(impl_->mutex);
  const MemoryNode node = impl_->FindNode(path);
  if (!node) {
    return NotFoundError(path);
  }
  if (!node.directory) {
    return NotDirectoryError(path);
  }
  std::vector<DirectoryEntry> entries;
  for (const auto& [name, child] : node.directory->entries) {
    entries.push_back({name, child.directory != nullptr, child.file ? child.file->bytes.size() : 0});
  }
  return entries;
}

Result<bool> MemoryFileSystem::Exists(const std::string& path) {
  MutexLock lock(impl_->mutex);
  return static_cast<bool>(impl_->FindNode(path));
}

Result<std::uint64_t> MemoryFileSystem::FileSize(const std::string& path) {
  MutexLock lock(impl_->mutex);
  TSDB_ASSIGN_OR_RETURN(const auto file, impl_->FindFile(path));
  return static_cast<std::uint64_t>(file->bytes.size());
}

Result<std::unique_ptr<FileLock>> MemoryFileSystem::Lock(const std::string& path) {
  MutexLock lock(impl_->mutex);
  if (impl_->stopped()) {
    return PowerCutError(path, "Lock");
  }
  TSDB_ASSIGN_OR_RETURN(Impl::Place place, impl_->FindPlace(path));
  if (place.node.directory) {
    return IsDirectoryError(path);
  }
  if (!place.node) {
    place.node = impl_->NewNode(/*directory=*/false);
    impl_->AddEntry(place.directory.get(), place.name, place.node);
  }
  if (!impl_->locked.insert(place.node.file.get()).second) {
    return Status::Busy(fmt::format("{}: is used by process {}; close it or open read-only", path, ::getpid()));
  }
  place.node.file->bytes = fmt::format("{}\n", ::getpid());
  place.node.file->synced = 0;
  return std::unique_ptr<FileLock>(new MemoryFileLock<Impl>(impl_, place.node.file));
}

Result<std::uint64_t> MemoryFileSystem::FreeBytes(const std::string& path) {
  MutexLock lock(impl_->mutex);
  if (!impl_->FindNode(path)) {
    return NotFoundError(path);
  }
  return impl_->free_bytes;
}

std::uint64_t MemoryFileSystem::operations() const {
  MutexLock lock(impl_->mutex);
  return impl_->operations;
}

void MemoryFileSystem::StopAt(std::uint64_t n) {
  MutexLock lock(impl_->mutex);
  impl_->stop_at = n;
}

void MemoryFileSystem::SetFault(std::function<Status(std::uint64_t, std::string_view, const std::string&)> fault) {
  MutexLock lock(impl_->mutex);
  impl_->fault = std::move(fault);
}

void MemoryFileSystem::SetFreeBytes(std::uint64_t bytes) {
  MutexLock lock(impl_->mutex);
  impl_->free_bytes = bytes;
}

std::unique_ptr<MemoryFileSystem> MemoryFileSystem::AfterPowerCut(CutMode mode, std::uint64_t seed) const {
  auto copy = std::make_unique<MemoryFileSystem>();
  MutexLock lock(impl_->mutex);
  auto tree = CutTree(*impl_->root, mode, seed);
  MutexLock copy_lock(copy->impl_->mutex);
  copy->impl_->root = std::move(tree);
  copy->impl_->nodes = impl_->nodes;
  return copy;
}

std::unique_ptr<MemoryFileSystem> MemoryFileSystem::Clone() const {
  auto copy = std::make_unique<MemoryFileSystem>();
  MutexLock lock(impl_->mutex);
  auto tree = CopyTree(*impl_->root);
  MutexLock copy_lock(copy->impl_->mutex);
  copy->impl_->root = std::move(tree);
  copy->impl_->nodes = impl_->nodes;
  copy->impl_->changes = impl_->changes;
  return copy;
}

Result<std::string> MemoryFileSystem::ReadWhole(const std::string& path) const {
  MutexLock lock(impl_->mutex);
  TSDB_ASSIGN_OR_RETURN(const auto file, impl_->FindFile(path));
  return file->bytes;
}

void MemoryFileSystem::WriteWhole(const std::string& path, std::string data) {
  MutexLock lock(impl_->mutex);
  const std::vector<std::string_view> parts = SplitPath(path);
  std::shared_ptr<MemoryDirectory> directory = impl_->root;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    const std::string name(parts[i]);
    MemoryNode& node = directory->entries[name];
    if (last ? node.file == nullptr : node.directory == nullptr) {
      node = impl_->NewNode(/*directory=*/!last);
    }
    // The entry is durable too: nothing pending can take it back.
    std::erase_if(directory->pending, [&](const MemoryChange& change) {
      const bool about_name = change.set == name || (change.set.empty() && change.removed == name);
      if (about_name && !change.removed.empty()) {
        directory->durable_entries.erase(change.removed);
      }
      return about_name;
    });
    directory->durable_entries[name] = node;
    if (last) {
      node.file->bytes = std::move(data);
      node.file->Sync();
    } else {
      std::shared_ptr<MemoryDirectory> next = node.directory;
      directory = std::move(next);
    }
  }
}

}  // namespace tsdb
