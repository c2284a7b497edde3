#include "engine/file_stats.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "chunk/chunk_columns.h"

namespace tsdb::engine {
namespace {

void AddTotals(std::span<const chunk::EncodingTotals> totals, std::string_view (*name)(std::uint8_t),
               std::vector<EncodingStats>* stats) {
  for (const chunk::EncodingTotals& total : totals) {
    const std::string_view wanted = name(total.encoding);
    auto it = std::ranges::find(*stats, wanted, &EncodingStats::name);
    if (it == stats->end()) {
      it = stats->insert(it, EncodingStats{std::string(wanted), 0, 0, 0});
    }
    it->columns += total.columns;
    it->samples += total.samples;
    it->bytes += total.bytes;
  }
}

}  // namespace

void AddFileStats(const Version& version, Stats* stats) {
  stats->chunk_files = version.files.size();
  for (const ChunkFilePtr& file : version.files) {
    stats->samples_in_files += file->meta().samples;
    stats->chunk_file_bytes += file->meta().bytes;
    stats->chunks += file->meta().chunks;
    stats->directory_bytes += file->totals().directory_bytes;
    AddTotals(file->totals().times, chunk::TimesName, &stats->time_encodings);
    AddTotals(file->totals().values, chunk::ValuesName, &stats->value_encodings);
  }
}

}  // namespace tsdb::engine
