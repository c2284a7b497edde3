// What a repair saves out of single files: the chunks of a damaged chunk file, the state of a damaged manifest, the
// definitions nobody else holds.
//
// Thread safety: pure functions over files that do not change meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/series_definition.h"
#include "chunk/manifest.h"
#include "tsdb/result.h"
#include "wal/log.h"

namespace tsdb::engine {

struct SalvagedChunks {
  /// Nothing when no chunk is whole.
  std::optional<chunk::ChunkFileMeta> meta;
  std::uint64_t samples_lost = 0;
  /// One line per damaged place.
  std::vector<std::string> damage;
};
/// Reads every chunk of the damaged file `path`; those that are whole are written, under the same commits, to the new
/// chunk file `number` of `database_path`, unless `dry_run`. Errors: those of writing; a file that cannot even be
/// opened is all damage.
Result<SalvagedChunks> SalvageChunkFile(FileSystem& fs, const std::string& database_path, const std::string& path,
                                        std::uint64_t number, bool dry_run);

/// The state of the manifest file `path` up to its first damaged edit; nothing when not even its first one is whole.
Result<std::optional<chunk::ManifestState>> ReadManifestPrefix(FileSystem& fs, const std::string& path);

/// The id of the database as its chunk files or log segments have it; nothing when none of them says.
Result<std::optional<wal::StoreId>> FindStoreId(FileSystem& fs, const std::string& database_path);

/// By id; the one of the highest commit stays.
using Definitions = std::map<std::uint64_t, SeriesDefinition>;
void KeepNewest(const SeriesDefinition& definition, Definitions* definitions);

}  // namespace tsdb::engine
