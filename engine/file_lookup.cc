#include "engine/file_lookup.h"

#include <algorithm>

namespace tsdb::engine {

Result<const chunk::Columns*> FileLookup::Decode(const chunk::ChunkFileReader& file, const chunk::ChunkEntry& entry) {
  if (const auto it = decoded_.find(&entry); it != decoded_.end()) {
    return &it->second;
  }
  if (decoded_.size() >= kChunksMax) {
    decoded_.clear();
  }
  chunk::Columns columns;
  TSDB_RETURN_IF_ERROR(file.Read(entry, &columns));
  return &decoded_.emplace(&entry, std::move(columns)).first->second;
}

Result<std::optional<double>> FileLookup::Find(SeriesId id, Timestamp time) {
  for (auto file = version_.files.rbegin(); file != version_.files.rend(); ++file) {
    const chunk::ChunkFileMeta& meta = (*file)->meta();
    if (time < meta.first_time || time > meta.last_time) {
      continue;
    }
    const auto entries = (*file)->Find(id);
    const auto entry = std::lower_bound(entries.begin(), entries.end(), time,
                                        [](const chunk::ChunkEntry& e, Timestamp t) { return e.last_time < t; });
    if (entry == entries.end() || time < entry->first_time) {
      continue;
    }
    TSDB_ASSIGN_OR_RETURN(const chunk::Columns* columns, Decode(**file, *entry));
    const auto it = std::lower_bound(columns->times.begin(), columns->times.end(), time);
    if (it != columns->times.end() && *it == time) {
      return std::optional<double>(columns->values[static_cast<std::size_t>(it - columns->times.begin())]);
    }
  }
  return std::optional<double>();
}

Result<std::optional<Sample>> FileLookup::Newest(SeriesId id) {
  std::optional<Sample> newest;
  for (const ChunkFilePtr& file : version_.files) {
    const auto entries = file->Find(id);
    if (entries.empty()) {
      continue;
    }
    const chunk::ChunkEntry& last = entries.back();
    if (!newest || last.last_time >= newest->time) {
      newest = Sample{last.last_time, last.statistics.last};
    }
  }
  return newest;
}

}  // namespace tsdb::engine
