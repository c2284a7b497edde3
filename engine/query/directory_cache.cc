#include "engine/query/directory_cache.h"

#include <algorithm>
#include <utility>

namespace tsdb::engine {

Status DirectoryCache::Find(const chunk::ChunkFileReader& file, SeriesId id, TimeRange range,
                            std::vector<Rows>* found) {
  found->clear();
  Block& last = last_[&file];
  const std::size_t stop = std::min(file.FindBlock(id, range.to) + 1, file.blocks());
  for (std::size_t number = file.FindBlock(id, range.from); number < stop; ++number) {
    if (last.rows == nullptr || last.number != number) {
      TSDB_ASSIGN_OR_RETURN(last.rows, blocks_.Read(file, number));
      last.number = number;
    }
    const std::vector<chunk::ChunkEntry>& entries = last.rows->entries;
    const auto begin =
        std::lower_bound(entries.begin(), entries.end(), std::pair(id, range.from),
                         [](const chunk::ChunkEntry& entry, const auto& key) {
                           return std::pair(entry.id, entry.last_time) < key;
                         });
    const auto end = std::upper_bound(begin, entries.end(), std::pair(id, range.to),
                                      [](const auto& key, const chunk::ChunkEntry& entry) {
                                        return key < std::pair(entry.id, entry.first_time);
                                      });
    if (begin != end) {
      given_.push_back(last.rows);
      found->push_back({last.rows.get(), static_cast<std::size_t>(begin - entries.begin()),
                        static_cast<std::size_t>(end - entries.begin())});
    }
  }
  return Status::Ok();
}

}  // namespace tsdb::engine
