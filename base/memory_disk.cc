#include "base/memory_disk.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace tsdb {

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

MemoryDisk::Ticket MemoryDisk::Begin(std::string_view operation, const std::string& path) {
  Fault ask;
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

MemoryNode MemoryDisk::FindNode(std::string_view path) const {
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

Result<MemoryDisk::Place> MemoryDisk::FindPlace(const std::string& path) const {
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

Result<std::shared_ptr<MemoryFile>> MemoryDisk::FindFile(const std::string& path) const {
  const MemoryNode node = FindNode(path);
  if (node.directory) {
    return IsDirectoryError(path);
  }
  if (!node.file) {
    return NotFoundError(path);
  }
  return node.file;
}

MemoryNode MemoryDisk::NewNode(bool directory) {
  MemoryNode node;
  node.number = ++nodes;
  if (directory) {
    node.directory = std::make_shared<MemoryDirectory>();
  } else {
    node.file = std::make_shared<MemoryFile>();
  }
  return node;
}

void MemoryDisk::AddEntry(MemoryDirectory* directory, const std::string& name, const MemoryNode& node) {
  DoChange(directory, {.number = ++changes, .removed = {}, .set = name, .node = node, .peer = {}});
}

void MemoryDisk::RemoveEntry(MemoryDirectory* directory, const std::string& name) {
  DoChange(directory, {.number = ++changes, .removed = name, .set = {}, .node = {}, .peer = {}});
}

void MemoryDisk::GiveBack(std::uint64_t bytes) {
  if (free_bytes != kUnlimited) {
    free_bytes += bytes;
  }
}

std::uint64_t MemoryDisk::Take(std::uint64_t bytes) {
  if (free_bytes == kUnlimited) {
    return bytes;
  }
  const std::uint64_t taken = std::min(bytes, free_bytes);
  free_bytes -= taken;
  return taken;
}

void MemoryDisk::EmptyDirectory(MemoryDirectory* directory) {
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

Status MemoryDisk::RenameNode(const std::string& from, const std::string& to) {
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

}  // namespace tsdb
