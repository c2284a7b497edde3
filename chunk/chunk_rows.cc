#include "chunk/chunk_rows.h"

#include "chunk/chunk_columns.h"
#include "chunk/statistics_codec.h"

namespace tsdb::chunk {

Result<ChunkStatistics> ChunkRows::Statistics(std::size_t index) const {
  const ChunkEntry& entry = entries[index];
  if (entry.value_encoding == kValuesInDirectory) {
    return ConstantStatistics(entry.constant, entry.count);
  }
  const auto bytes = std::string_view(statistics).substr(entry.statistics_at, entry.statistics_bytes);
  ChunkStatistics result;
  if (!DecodeStatistics(bytes, entry.count, &result)) {
    return Status::Corruption("the statistics are damaged");
  }
  return result;
}

Timestamp ChunkRows::PageTime(std::size_t index, std::size_t page) const {
  const ChunkEntry& entry = entries[index];
  if (page == 0) {
    return entry.first_time;
  }
  return entry.time_encoding == kTimesInDirectory
             ? LineTime(entry.first_time, entry.last_time, entry.count, page * kPageSamples)
             : page_times[entry.page_times_at + page - 1];
}

}  // namespace tsdb::chunk
