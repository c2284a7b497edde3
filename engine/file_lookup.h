// FileLookup: single samples out of chunk files, for writes that must know what is stored (policies, increments).
//
// Keeps decoded pages, so that a batch decodes each at most once (while they fit the bound).
//
// Thread safety: none; one per batch. The version must outlive it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "chunk/column_buffer.h"
#include "chunk/columns.h"
#include "engine/query/directory_cache.h"
#include "engine/version.h"
#include "tsdb/result.h"

namespace tsdb::engine {

class FileLookup {
 public:
  FileLookup(const Version& version, DirectoryBlocks& blocks) : version_(version), directory_(blocks) {}

  using Masks = std::vector<chunk::DeletedRange>;

  /// Value of the series at `time`: the newest file that has one wins. `masks`: the deletes of the series (masks.h).
  Result<std::optional<double>> Find(SeriesId id, Timestamp time, const Masks& masks = {});
  /// Newest sample of the series in files.
  Result<std::optional<Sample>> Newest(SeriesId id, const Masks& masks = {});

 private:
  /// About 16 MiB of samples.
  static constexpr std::size_t kSamplesMax = 1 << 20;
  using Place = std::pair<const chunk::ChunkFileReader*, std::uint64_t>;  // file and series id
  struct Hash {
    std::size_t operator()(const Place& place) const {
      return std::hash<const void*>()(place.first) ^ (place.second * 0x9E3779B97F4A7C15ull);
    }
  };

  /// Newest sample of the rows at hand that is not deleted.
  Result<std::optional<Sample>> NewestOfRows(const chunk::ChunkFileReader& file, const Masks& masks);
  /// The page of a file that covers `time`, or lies before it in the chunk that does; null when it has none.
  Result<const chunk::Columns*> PageAt(const chunk::ChunkFileReader& file, SeriesId id, Timestamp time);

  const Version& version_;
  std::unordered_map<Place, std::deque<chunk::Columns>, Hash> decoded_;
  std::size_t samples_ = 0;  // in decoded_
  DirectoryCache directory_;
  std::vector<DirectoryCache::Rows> rows_;
  chunk::ColumnBuffer page_;
};

}  // namespace tsdb::engine
