// HealingIndex: an index that is discarded and built again when its stored part turns out damaged while it is in use.
//
//   call ──► current index ──► kCorruption ──► closed, discarded, opened anew, filled from the files ─► call again
//                                              └─ changes not yet persisted are taken over
//
// The call that met the damage waits for this, and so do others that need the stored part meanwhile.
//
// Thread safety: as SeriesIndex.
#pragma once

#include <functional>
#include <memory>

#include "index/series_index.h"

namespace tsdb::index {

struct HealingOptions {
  /// Discards what is stored and opens an empty index in its place.
  std::function<Result<std::unique_ptr<SeriesIndex>>()> reopen;
  /// Visits every definition that is in files, older ones first; `through` is the commit up to which these are.
  std::function<Status(const std::function<void(const SeriesDefinition&)>& visit, CommitNumber* through)> refill;
  std::function<void(LogLevel, std::string_view)> log;
};

std::unique_ptr<SeriesIndex> MakeHealingIndex(std::unique_ptr<SeriesIndex> index, HealingOptions options);

}  // namespace tsdb::index
