// OpenIndex: what an index is filled from, and the index that fills itself again when it turns out damaged.
//
// Thread safety: pure functions; what they return is as SeriesIndex.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/file_system.h"
#include "base/series_definition.h"
#include "index/series_index.h"
#include "tsdb/result.h"

namespace tsdb::engine {

/// Visits the definitions in the catalogue files of the manifest on disk, older files first; damaged ones are visited
/// as far as they are whole. `through`: the manifest's position.
Status VisitCatalogue(FileSystem& fs, const std::string& path,
                      const std::function<void(const SeriesDefinition&)>& visit, CommitNumber* through);

/// `index`, which is replaced by what `reopen` gives, filled from the catalogue files, when it turns out damaged.
std::unique_ptr<index::SeriesIndex> MakeSelfHealing(std::unique_ptr<index::SeriesIndex> index, FileSystem& fs,
                                                    const std::string& path,
                                                    std::function<Result<std::unique_ptr<index::SeriesIndex>>()> reopen,
                                                    std::function<void(LogLevel, std::string_view)> log);

}  // namespace tsdb::engine
