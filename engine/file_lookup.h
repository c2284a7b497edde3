// FileLookup: single samples out of chunk files, for writes that must know what is stored (policies, increments).
//
// Keeps decoded chunks, so that a batch decodes each at most once (while they fit the bound).
//
// Thread safety: none; one per batch. The version must outlive it.
#pragma once

#include <optional>
#include <unordered_map>

#include "chunk/columns.h"
#include "engine/version.h"
#include "tsdb/result.h"

namespace tsdb::engine {

class FileLookup {
 public:
  explicit FileLookup(const Version& version) : version_(version) {}

  /// Value of the series at `time`: the newest file that has one wins.
  Result<std::optional<double>> Find(SeriesId id, Timestamp time);
  /// Newest sample of the series in files.
  Result<std::optional<Sample>> Newest(SeriesId id);

 private:
  /// About 16 MiB of samples.
  static constexpr std::size_t kChunksMax = 1024;
  Result<const chunk::Columns*> Decode(const chunk::ChunkFileReader& file, const chunk::ChunkEntry& entry);

  const Version& version_;
  std::unordered_map<const chunk::ChunkEntry*, chunk::Columns> decoded_;
};

}  // namespace tsdb::engine
