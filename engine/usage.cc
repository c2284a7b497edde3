#include "engine/usage.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "chunk/chunk_columns.h"

namespace tsdb::engine {
namespace {

EncodingUsage& FindEncoding(std::uint8_t encoding, SeriesUsage* usage) {
  const std::string name(chunk::ValuesName(encoding));
  const auto found = std::ranges::find(usage->encodings, name, &EncodingUsage::name);
  if (found != usage->encodings.end()) {
    return *found;
  }
  usage->encodings.push_back({name, 0, 0, 0});
  return usage->encodings.back();
}

void AddChunk(const chunk::ChunkEntry& entry, std::uint64_t directory_bytes, SeriesUsage* usage) {
  const std::uint64_t samples = entry.count;
  ++usage->chunks;
  usage->samples += samples;
  // Times that are shared lie elsewhere.
  usage->time_bytes += entry.value_offset == entry.time_offset + entry.time_bytes ? entry.time_bytes : 0;
  usage->value_bytes += entry.value_bytes;
  usage->directory_bytes += directory_bytes;
  EncodingUsage& encoding = FindEncoding(entry.value_encoding, usage);
  ++encoding.chunks;
  encoding.samples += samples;
  encoding.bytes += entry.value_bytes;
}

}  // namespace

Result<std::vector<SeriesUsage>> MeasureUsage(Core& core, const Selector& selector) {
  TSDB_ASSIGN_OR_RETURN(const std::vector<SeriesId> ids, core.index->Select(selector));
  std::unordered_map<std::uint64_t, SeriesUsage> by_id;
  for (const SeriesId id : ids) {
    by_id[id.value].series.id = id;
  }
  const VersionPtr version = core.versions.Pin();
  chunk::ChunkRows rows;
  for (const ChunkFilePtr& file : version->files) {
    const std::uint64_t directory_bytes =
        file->totals().directory_bytes / std::max<std::uint64_t>(1, file->meta().chunks);
    for (std::size_t block = 0; block < file->blocks(); ++block) {
      TSDB_RETURN_IF_ERROR(file->ReadBlock(block, &rows));
      for (const chunk::ChunkEntry& entry : rows.entries) {
        if (const auto found = by_id.find(entry.id.value); found != by_id.end()) {
          AddChunk(entry, directory_bytes, &found->second);
        }
      }
    }
  }
  TSDB_ASSIGN_OR_RETURN(const auto definitions, core.index->FindByIds(ids));
  std::vector<SeriesUsage> usage;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    SeriesUsage& series = by_id[ids[i].value];
    if (definitions[i] && series.chunks != 0) {
      series.series = definitions[i]->ToInfo();
      usage.push_back(std::move(series));
    }
  }
  std::ranges::stable_sort(usage, std::greater(), &SeriesUsage::bytes);
  return usage;
}

}  // namespace tsdb::engine
