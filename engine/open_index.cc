#include "engine/open_index.h"

#include <algorithm>
#include <utility>

#include "chunk/catalogue_file.h"
#include "chunk/manifest.h"
#include "index/healing_index.h"

namespace tsdb::engine {

Status VisitCatalogue(FileSystem& fs, const std::string& path,
                      const std::function<void(const SeriesDefinition&)>& visit, CommitNumber* through) {
  TSDB_ASSIGN_OR_RETURN(chunk::ManifestState state, chunk::Manifest::Load(fs, path));
  std::stable_sort(state.catalogue_files.begin(), state.catalogue_files.end(),
                   [](const auto& a, const auto& b) { return a.last_commit < b.last_commit; });
  for (const chunk::CatalogueMeta& meta : state.catalogue_files) {
    const Status status = chunk::ReadCatalogueFile(fs, JoinPath(path, chunk::CatalogueFileName(meta.number)),
                                                   state.store_high, state.store_low,
                                                   [&](const SeriesDefinition& definition) {
                                                     visit(definition);
                                                     return Status::Ok();
                                                   });
    // Damage was told when the database was opened.
    if (!status.ok() && status.code() != StatusCode::kCorruption && status.code() != StatusCode::kNotFound) {
      return status;
    }
  }
  *through = state.flushed_commit;
  return Status::Ok();
}

std::unique_ptr<index::SeriesIndex> MakeSelfHealing(std::unique_ptr<index::SeriesIndex> index, FileSystem& fs,
                                                    const std::string& path,
                                                    std::function<Result<std::unique_ptr<index::SeriesIndex>>()> reopen,
                                                    std::function<void(LogLevel, std::string_view)> log) {
  index::HealingOptions options;
  options.reopen = std::move(reopen);
  options.refill = [&fs, path](const std::function<void(const SeriesDefinition&)>& visit, CommitNumber* through) {
    return VisitCatalogue(fs, path, visit, through);
  };
  options.log = std::move(log);
  return index::MakeHealingIndex(std::move(index), std::move(options));
}

}  // namespace tsdb::engine
