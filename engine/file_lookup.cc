#include "engine/file_lookup.h"

#include <algorithm>

namespace tsdb::engine {

Result<const chunk::Columns*> FileLookup::PageAt(const chunk::ChunkFileReader& file, SeriesId id, Timestamp time) {
  if (const auto it = decoded_.find({&file, id.value}); it != decoded_.end()) {
    for (const chunk::Columns& columns : it->second) {
      if (time >= columns.times.front() && time <= columns.times.back()) {
        return &columns;
      }
    }
  }
  directory_.EndSeries();
  TSDB_RETURN_IF_ERROR(directory_.Find(file, id, {time, time}, &rows_));
  if (rows_.empty()) {
    return static_cast<const chunk::Columns*>(nullptr);
  }
  if (samples_ >= kSamplesMax) {
    decoded_.clear();
    samples_ = 0;
  }
  const DirectoryCache::Rows& rows = rows_.front();
  page_.Clear();
  TSDB_RETURN_IF_ERROR(file.ReadPages(*rows.rows, rows.begin, rows.begin + 1, {time, time}, &page_));
  const chunk::ColumnsView view = page_.view();
  chunk::Columns columns{{view.times.begin(), view.times.end()}, {view.values.begin(), view.values.end()}};
  samples_ += columns.size();
  return &decoded_[{&file, id.value}].emplace_back(std::move(columns));
}

Result<std::optional<double>> FileLookup::Find(SeriesId id, Timestamp time, const Masks& masks) {
  for (auto file = version_.files.rbegin(); file != version_.files.rend(); ++file) {
    const chunk::ChunkFileMeta& meta = (*file)->meta();
    if (time < meta.first_time || time > meta.last_time) {
      continue;
    }
    if (chunk::IsDeleted(masks, meta.last_commit, time)) {
      break;  // what takes it from this file takes it from older ones as well
    }
    TSDB_ASSIGN_OR_RETURN(const chunk::Columns* columns, PageAt(**file, id, time));
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

Result<std::optional<Sample>> FileLookup::Newest(SeriesId id, const Masks& masks) {
  std::optional<Sample> newest;
  for (const ChunkFilePtr& file : version_.files) {
    const Timestamp from = newest ? newest->time : kTimestampMin;
    if (file->meta().last_time < from) {
      continue;
    }
    directory_.EndSeries();
    TSDB_RETURN_IF_ERROR(directory_.Find(*file, id, {from, kTimestampMax}, &rows_));
    if (rows_.empty()) {
      continue;
    }
    TSDB_ASSIGN_OR_RETURN(const auto found, NewestOfRows(*file, masks));
    if (found && (!newest || found->time >= newest->time)) {
      newest = found;
    }
  }
  return newest;
}

Result<std::optional<Sample>> FileLookup::NewestOfRows(const chunk::ChunkFileReader& file, const Masks& masks) {
  for (auto part = rows_.rbegin(); part != rows_.rend(); ++part) {
    for (std::size_t row = part->end; row-- > part->begin;) {
      const chunk::ChunkEntry& entry = part->rows->entries[row];
      if (!chunk::Touches(masks, file.meta().last_commit, {entry.first_time, entry.last_time})) {
        const auto statistics = part->rows->Statistics(row);
        TSDB_RETURN_IF_ERROR(statistics.status().WithContext(file.path()));
        return std::optional(Sample{entry.last_time, statistics->last});
      }
      chunk::Columns columns;
      TSDB_RETURN_IF_ERROR(file.Read(entry, &columns));
      chunk::RemoveDeleted(masks, file.meta().last_commit, &columns);
      if (!columns.empty()) {
        return std::optional(Sample{columns.times.back(), columns.values.back()});
      }
    }
  }
  return std::optional<Sample>();
}

}  // namespace tsdb::engine
