#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/file_system.h"
#include "base/safeguard.h"

namespace tsdb {

namespace {

constexpr std::size_t kReadBytes = 1 << 20;
// A path deeper than this is taken for a loop.
constexpr int kTreeDepthMax = 64;

Status WriteAndClose(FileSystem& fs, const std::string& path, std::string_view data) {
  TSDB_ASSIGN_OR_RETURN(auto file, fs.OpenWritable(path, OpenMode::kTruncate));
  TSDB_RETURN_IF_ERROR(file->Append(data));
  TSDB_RETURN_IF_ERROR(TSDB_SYNC("atomic-file/bytes", file->Sync()));
  return file->Close();
}

Status AddTreeBytes(FileSystem& fs, const std::string& path, int depth, std::uint64_t* total) {
  if (depth > kTreeDepthMax) {
    return Status::IoError(fmt::format("{}: folders nest more than {} deep", path, kTreeDepthMax));
  }
  auto entries = fs.List(path);
  if (!entries.ok()) {
    // Files come and go while the database works.
    return entries.status().code() == StatusCode::kNotFound ? Status::Ok() : entries.status();
  }
  for (const DirectoryEntry& entry : *entries) {
    if (entry.is_directory) {
      TSDB_RETURN_IF_ERROR(AddTreeBytes(fs, JoinPath(path, entry.name), depth + 1, total));
    } else {
      *total += entry.bytes;
    }
  }
  return {};
}

}  // namespace

Result<std::string> ReadFile(FileSystem& fs, const std::string& path, std::uint64_t bytes_max) {
  TSDB_ASSIGN_OR_RETURN(auto file, fs.OpenReadable(path));
  const auto too_large = [&] {
    return Status::ResourceExhausted(fmt::format("{}: has more than {} bytes", path, bytes_max));
  };
  if (file->size() > bytes_max) {
    return too_large();
  }
  try {
    std::string data;
    data.resize(static_cast<std::size_t>(file->size()));
    std::size_t filled = 0;
    // One byte more than the size is asked for at the end, so that a file that grew meanwhile is read whole too.
    while (true) {
      if (filled == data.size()) {
        char probe = 0;
        TSDB_ASSIGN_OR_RETURN(const std::size_t more, file->ReadAt(filled, 1, &probe));
        if (more == 0) {
          return data;
        }
        if (filled == bytes_max) {
          return too_large();
        }
        data.resize(filled + static_cast<std::size_t>(std::min<std::uint64_t>(kReadBytes, bytes_max - filled)));
      }
      TSDB_ASSIGN_OR_RETURN(const std::size_t got, file->ReadAt(filled, data.size() - filled, data.data() + filled));
      filled += got;
      if (filled < data.size()) {
        data.resize(filled);
        return data;
      }
    }
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory(fmt::format("{}: no memory for its {} bytes", path, file->size()));
  }
}

Status WriteFileAtomically(FileSystem& fs, const std::string& path, std::string_view data) {
  const std::string temporary = path + ".tmp";
  Status status = WriteAndClose(fs, temporary, data);
  if (status.ok()) {
    status = fs.Rename(temporary, path);
  }
  if (!status.ok()) {
    // The first error is the one to tell; a temporary file left behind is overwritten next time.
    static_cast<void>(fs.RemoveFile(temporary));
    return status;
  }
  return TSDB_SYNC("atomic-file/folder", fs.SyncDirectory(ParentPath(path)));
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty() && path.back() != '/') {
    path.push_back('/');
  }
  path.append(name);
  return path;
}

std::string ParentPath(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') {
    path.remove_suffix(1);
  }
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) {
    return ".";
  }
  path = path.substr(0, slash);
  while (path.size() > 1 && path.back() == '/') {
    path.remove_suffix(1);
  }
  return path.empty() ? "/" : std::string(path);
}

Result<std::uint64_t> TreeBytes(FileSystem& fs, const std::string& path) {
  std::uint64_t total = 0;
  TSDB_RETURN_IF_ERROR(AddTreeBytes(fs, path, 0, &total));
  return total;
}

}  // namespace tsdb
