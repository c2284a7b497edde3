#include "engine/look.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compaction/partition.h"
#include "engine/file_stats.h"

namespace tsdb::engine {

Result<SeriesInfo> SeriesById(const Core& core, SeriesId id) {
  TSDB_ASSIGN_OR_RETURN(const auto found, core.index->FindByIds({&id, 1}));
  if (!found[0]) {
    return Status::NotFound(fmt::format("no series with id {}", id.value));
  }
  return found[0]->ToInfo();
}

Result<std::vector<SeriesInfo>> SeriesOf(const Core& core, const Selector& selector, std::uint64_t limit) {
  TSDB_ASSIGN_OR_RETURN(std::vector<SeriesId> ids, core.index->Select(selector));
  if (limit != 0 && ids.size() > limit) {
    ids.resize(limit);
  }
  TSDB_ASSIGN_OR_RETURN(const auto found, core.index->FindByIds(ids));
  std::vector<SeriesInfo> series;
  series.reserve(found.size());
  for (const auto& definition : found) {
    if (definition) {
      series.push_back(definition->ToInfo());
    }
  }
  return series;
}

std::uint64_t BytesBelow(const Core& core, std::string_view name) {
  const auto bytes = TreeBytes(*core.fs, name.empty() ? core.path : JoinPath(core.path, name));
  return bytes.ok() ? *bytes : 0;
}

void FillStats(const Core& core, Stats* stats) {
  const VersionPtr version = core.versions.Pin();
  if (auto count = core.index->Count(); count.ok()) {
    stats->series = *count;
  }
  stats->series_in_memory = core.registry.size();
  stats->tombstones = version->tombstones->all().size();
  stats->dropped_series = core.dropped.Count();
  stats->expired_files = core.expired_files.load(std::memory_order_relaxed);
  stats->samples_in_head = version->mutable_generation->samples();
  const MemoryUse memory = core.Memory();
  stats->head_bytes = static_cast<std::uint64_t>(memory.head);
  stats->registry_bytes = static_cast<std::uint64_t>(memory.registry);
  stats->index_memory_bytes = static_cast<std::uint64_t>(memory.index);
  stats->file_memory_bytes = static_cast<std::uint64_t>(memory.files);
  stats->memory_bytes = static_cast<std::uint64_t>(memory.total());
  for (const auto& generation : version->sealed) {
    stats->samples_in_head += generation->samples();
  }
  AddFileStats(*version, stats);
  for (const ChunkFilePtr& file : version->files) {
    const auto level = std::min<std::size_t>(file->meta().level, compaction::kLevelLongest);
    stats->chunk_files_by_level.resize(std::max(stats->chunk_files_by_level.size(), level + 1));
    ++stats->chunk_files_by_level[level];
  }
  stats->chunk_files_skipped = version->files_skipped;
  stats->samples_skipped = version->samples_skipped;
  if (const auto quarantined = core.fs->List(JoinPath(core.path, "quarantine")); quarantined.ok()) {
    stats->files_quarantined = quarantined->size();
  }
  stats->index_rebuilds = core.index->rebuilds();
  stats->catalogue_bytes = BytesBelow(core, "catalogue");
  stats->index_bytes = BytesBelow(core, "index");
  stats->bytes_on_disk = BytesBelow(core, "");
  stats->flushed_commit = CommitNumber{core.flushed_commit.load(std::memory_order_relaxed)};
  stats->unit = core.settings.unit;
  stats->durability = core.settings.durability;
  stats->duplicates = core.settings.duplicates;
}

}  // namespace tsdb::engine
