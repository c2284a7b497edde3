// FileLookup: single samples out of chunk files, for writes that must know what is stored (policies, increments).
//
// Keeps the last decoded chunk, so that neighbouring look-ups decode once.
//
// Thread safety: none; one per batch. The version must outlive it.
#pragma once

#include <optional>

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
  const Version& version_;
  const chunk::ChunkEntry* cached_entry_ = nullptr;
  chunk::Columns cached_;
};

}  // namespace tsdb::engine
