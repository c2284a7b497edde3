#include "engine/lost_edits.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "chunk/catalogue_file.h"
#include "chunk/chunk_file.h"
#include "wal/replay.h"

namespace tsdb::engine {
namespace {

std::optional<std::uint64_t> NumberOf(std::string_view name, std::string_view suffix) {
  std::uint64_t number = 0;
  if (!name.ends_with(suffix)) {
    return std::nullopt;
  }
  name.remove_suffix(suffix.size());
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  return parsed.ec == std::errc() && parsed.ptr == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

/// Numbers of our files in a folder that are not in `named`, ascending.
Result<std::vector<std::uint64_t>> UnnamedNumbers(FileSystem& fs, const std::string& folder, std::string_view suffix,
                                                  const std::set<std::uint64_t>& named) {
  std::vector<std::uint64_t> numbers;
  auto entries = fs.List(folder);
  if (!entries.ok()) {
    return entries.status().code() == StatusCode::kNotFound ? Result(std::move(numbers)) : entries.status();
  }
  for (const DirectoryEntry& entry : *entries) {
    const auto number = NumberOf(entry.name, suffix);
    if (!entry.is_directory && number && !named.contains(*number)) {
      numbers.push_back(*number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

bool IsDamage(const Status& status) {
  return status.code() == StatusCode::kCorruption || status.code() == StatusCode::kNotFound ||
         status.code() == StatusCode::kNotSupported;
}

class NoVisitor final : public wal::ReplayVisitor {
 public:
  bool wants_puts() const override { return false; }
  Status OnCommit(CommitNumber, std::int64_t) override { return Status::Ok(); }
  Status OnPuts(std::span<const wal::Put>) override { return Status::Ok(); }
  Status OnDefinition(const SeriesDefinition&) override { return Status::Ok(); }
};

/// Whether the log lacks what followed the manifest's position: it begins behind it, or holds nothing at all. Damage in
/// its middle is no sign: that is rot.
Result<bool> LogWasLetGo(FileSystem& fs, const std::string& path, const chunk::ManifestState& state) {
  wal::ReplayOptions options;
  options.store_id = {state.store_high, state.store_low};
  options.after = state.flushed_commit;
  options.synced = state.flushed_commit;
  NoVisitor visitor;
  TSDB_ASSIGN_OR_RETURN(const wal::ReplayReport report, wal::Replay(fs, JoinPath(path, "wal"), options, visitor));
  return report.begins_late || report.last_valid_commit <= state.flushed_commit;
}

/// Names of files that `state` names and that are not there.
Result<std::vector<std::string>> MissingFiles(FileSystem& fs, const std::string& path,
                                              const chunk::ManifestState& state) {
  std::vector<std::string> names;
  for (const auto& meta : state.chunk_files) {
    names.push_back(chunk::ChunkFileName(meta.number));
  }
  for (const auto& meta : state.catalogue_files) {
    names.push_back(chunk::CatalogueFileName(meta.number));
  }
  std::vector<std::string> missing;
  for (std::string& name : names) {
    TSDB_ASSIGN_OR_RETURN(const bool exists, fs.Exists(JoinPath(path, name)));
    if (!exists) {
      missing.push_back(std::move(name));
    }
  }
  return missing;
}

struct NamedCommit {
  std::string name;
  CommitNumber last;
};

}  // namespace

Result<UnnamedFiles> FindUnnamedFiles(FileSystem& fs, const std::string& path, const chunk::ManifestState& state) {
  std::set<std::uint64_t> chunk_files;
  std::set<std::uint64_t> catalogue_files;
  for (const auto& meta : state.chunk_files) {
    chunk_files.insert(meta.number);
  }
  for (const auto& meta : state.catalogue_files) {
    catalogue_files.insert(meta.number);
  }
  UnnamedFiles unnamed;
  TSDB_ASSIGN_OR_RETURN(const auto chunk_numbers,
                        UnnamedNumbers(fs, JoinPath(path, "chunks"), ".chunk", chunk_files));
  for (const std::uint64_t number : chunk_numbers) {
    auto file = chunk::ChunkFileReader::Open(fs, JoinPath(path, chunk::ChunkFileName(number)));
    if (file.ok() && (*file)->options().store_high == state.store_high &&
        (*file)->options().store_low == state.store_low && (*file)->meta().number == number) {
      unnamed.chunk_files.push_back((*file)->meta());
    } else if (file.ok() || IsDamage(file.status())) {
      unnamed.damaged_chunk_files.push_back(number);
    } else {
      return file.status();
    }
  }
  TSDB_ASSIGN_OR_RETURN(const auto catalogue_numbers,
                        UnnamedNumbers(fs, JoinPath(path, "catalogue"), ".catalogue", catalogue_files));
  for (const std::uint64_t number : catalogue_numbers) {
    const std::string name = JoinPath(path, chunk::CatalogueFileName(number));
    Status status = chunk::ReadCatalogueFile(fs, name, state.store_high, state.store_low,
                                             [](const SeriesDefinition&) { return Status::Ok(); });
    if (status.ok()) {
      TSDB_ASSIGN_OR_RETURN(const chunk::CatalogueMeta meta, chunk::ReadCatalogueMeta(fs, name));
      unnamed.catalogue_files.push_back(meta);
    } else if (IsDamage(status)) {
      unnamed.damaged_catalogue_files.push_back(number);
    } else {
      return status;
    }
  }
  return unnamed;
}

Result<std::vector<std::string>> FindLostEdits(FileSystem& fs, const std::string& path,
                                               const chunk::ManifestState& state) {
  TSDB_ASSIGN_OR_RETURN(const UnnamedFiles unnamed, FindUnnamedFiles(fs, path, state));
  std::vector<NamedCommit> files;
  for (const auto& meta : unnamed.chunk_files) {
    files.push_back({chunk::ChunkFileName(meta.number), meta.last_commit});
  }
  for (const auto& meta : unnamed.catalogue_files) {
    files.push_back({chunk::CatalogueFileName(meta.number), meta.last_commit});
  }
  std::vector<std::string> signs;
  if (files.empty()) {
    return signs;
  }
  TSDB_ASSIGN_OR_RETURN(const auto missing, MissingFiles(fs, path, state));
  if (!missing.empty()) {
    signs.push_back(fmt::format("it names {}, which is gone, and does not name {}, which is there", missing.front(),
                                files.front().name));
  }
  std::optional<bool> let_go;
  for (const NamedCommit& file : files) {
    if (file.last <= state.flushed_commit) {
      continue;
    }
    if (!let_go) {
      TSDB_ASSIGN_OR_RETURN(let_go, LogWasLetGo(fs, path, state));
    }
    if (*let_go) {
      signs.push_back(fmt::format("it knows commits to {}, but {} holds commits to {} that the log no longer has",
                                  state.flushed_commit.value, file.name, file.last.value));
    }
  }
  return signs;
}

}  // namespace tsdb::engine
