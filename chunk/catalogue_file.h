// Catalogue file: the definitions created, changed or dropped between two flush cuts, sorted by id. Immutable; the
// index is rebuilt from all of them in order. Byte layout: docs/format/catalogue.md.
//
// Thread safety: pure functions.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/file_system.h"
#include "base/series_definition.h"
#include "tsdb/result.h"

namespace tsdb::chunk {

struct CatalogueMeta {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  CommitNumber first_commit;
  CommitNumber last_commit;
  std::uint64_t definitions = 0;
  friend bool operator==(const CatalogueMeta&, const CatalogueMeta&) = default;
};

/// Writes and syncs `path` (definitions in blocks of about 64 KiB, each compressed and checksummed). The caller syncs
/// the folder. `definitions` sorted by id, one per id.
Result<CatalogueMeta> WriteCatalogueFile(FileSystem& fs, const std::string& path, std::uint64_t number,
                                         std::uint64_t store_high, std::uint64_t store_low,
                                         std::span<const SeriesDefinition> definitions);
/// What the header says. kCorruption, kNotSupported (newer version).
Result<CatalogueMeta> ReadCatalogueMeta(FileSystem& fs, const std::string& path);
/// Visits every definition in order; an error of `visit` ends it and is returned. kCorruption names path@offset; what
/// came before was visited.
Status ReadCatalogueFile(FileSystem& fs, const std::string& path, std::uint64_t store_high, std::uint64_t store_low,
                         const std::function<Status(const SeriesDefinition&)>& visit);

}  // namespace tsdb::chunk
