// InfoCache: what queries show of the series they were asked for lately, by a number that says which; a number means
// the same series, unchanged, as long as its cache is in use.
//
// Thread safety: thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "base/recent_cache.h"
#include "base/series_definition.h"
#include "tsdb/query.h"

namespace tsdb::index {

class InfoCache {
 public:
  explicit InfoCache(std::uint64_t bytes_max) : infos_(bytes_max) {}
  /// Null when it is not here.
  SeriesInfoPtr Find(std::uint64_t number) { return infos_.Find(number); }
  /// Remembers what is shown of `definition`, and returns it. Throws std::bad_alloc.
  SeriesInfoPtr Insert(std::uint64_t number, const SeriesDefinition& definition);
  std::uint64_t bytes() const { return infos_.bytes(); }

 private:
  RecentCache<std::uint64_t, SeriesInfoPtr> infos_;
};

using InfoCachePtr = std::shared_ptr<InfoCache>;

}  // namespace tsdb::index
