#include "base/memory_file_system.h"

#include <unistd.h>

#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/memory_disk.h"
#include "base/memory_files.h"
#include "base/memory_tree.h"
#include "base/mutex.h"

namespace tsdb {

struct MemoryFileSystem::Impl : MemoryDisk {};

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
  return NewMemoryWritableFile(impl_, place.node.file, path);
}

Result<std::unique_ptr<RandomReadFile>> MemoryFileSystem::OpenReadable(const std::string& path) {
  MutexLock lock(impl_->mutex);
  TSDB_ASSIGN_OR_RETURN(auto file, impl_->FindFile(path));
  const std::uint64_t size = file->bytes.size();
  return NewMemoryRandomReadFile(impl_, std::move(file), path, size);
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
  const std::vector<std::string_view> parts = SplitPath(path);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    const auto at = directory->entries.find(part);
    MemoryNode node;
    if (at != directory->entries.end()) {
      node = at->second;
    } else {
      node = impl_->NewNode(/*directory=*/true);
      impl_->AddEntry(directory.get(), std::string(part), node);
    }
    if (!node.directory) {
      return i + 1 == parts.size() ? Status::AlreadyExists(fmt::format("{}: exists and is not a directory", path))
                                   : NotDirectoryError(path);
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
  place.node.file->Truncate();
  place.node.file->Append(fmt::format("{}\n", ::getpid()));
  return NewMemoryFileLock(impl_, place.node.file);
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
      node.file->lost.clear();
      node.file->Sync();
    } else {
      std::shared_ptr<MemoryDirectory> next = node.directory;
      directory = std::move(next);
    }
  }
}

}  // namespace tsdb
