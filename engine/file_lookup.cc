#include "engine/file_lookup.h"

#include <algorithm>

namespace tsdb::engine {

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
    if (cached_entry_ != &*entry) {
      cached_entry_ = nullptr;
      TSDB_RETURN_IF_ERROR((*file)->Read(*entry, &cached_));
      cached_entry_ = &*entry;
    }
    const auto it = std::lower_bound(cached_.times.begin(), cached_.times.end(), time);
    if (it != cached_.times.end() && *it == time) {
      return std::optional<double>(cached_.values[static_cast<std::size_t>(it - cached_.times.begin())]);
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
