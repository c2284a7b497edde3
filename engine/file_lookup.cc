#include "engine/file_lookup.h"

#include <algorithm>

namespace tsdb::engine {

Result<const chunk::Columns*> FileLookup::ChunkAt(const chunk::ChunkFileReader& file, SeriesId id, Timestamp time) {
  if (const auto it = decoded_.find({&file, id.value}); it != decoded_.end()) {
    for (const chunk::Columns& columns : it->second) {
      if (time >= columns.times.front() && time <= columns.times.back()) {
        return &columns;
      }
    }
  }
  TSDB_RETURN_IF_ERROR(file.Find(id, {time, time}, &rows_));
  if (rows_.empty()) {
    return static_cast<const chunk::Columns*>(nullptr);
  }
  if (samples_ >= kSamplesMax) {
    decoded_.clear();
    samples_ = 0;
  }
  chunk::Columns columns;
  TSDB_RETURN_IF_ERROR(file.Read(rows_.entries.front(), &columns));
  samples_ += columns.size();
  return &decoded_[{&file, id.value}].emplace_back(std::move(columns));
}

Result<std::optional<double>> FileLookup::Find(SeriesId id, Timestamp time) {
  for (auto file = version_.files.rbegin(); file != version_.files.rend(); ++file) {
    const chunk::ChunkFileMeta& meta = (*file)->meta();
    if (time < meta.first_time || time > meta.last_time) {
      continue;
    }
    TSDB_ASSIGN_OR_RETURN(const chunk::Columns* columns, ChunkAt(**file, id, time));
    if (columns == nullptr) {
      continue;
    }
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
    const Timestamp from = newest ? newest->time : kTimestampMin;
    if (file->meta().last_time < from) {
      continue;
    }
    TSDB_RETURN_IF_ERROR(file->Find(id, {from, kTimestampMax}, &rows_));
    if (rows_.empty()) {
      continue;
    }
    const auto statistics = rows_.Statistics(rows_.size() - 1);
    TSDB_RETURN_IF_ERROR(statistics.status().WithContext(file->path()));
    newest = Sample{rows_.entries.back().last_time, statistics->last};
  }
  return newest;
}

}  // namespace tsdb::engine
