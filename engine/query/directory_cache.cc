#include "engine/query/directory_cache.h"

#include <algorithm>
#include <utility>

namespace tsdb::engine {

Status DirectoryCache::Find(const chunk::ChunkFileReader& file, SeriesId id, TimeRange range,
                            std::vector<Rows>* found) {
  found->clear();
  File& cached = files_[&file];
  touched_.push_back(&cached);
  const std::size_t stop = std::min(file.FindBlock(id, range.to) + 1, file.blocks());
  for (std::size_t number = file.FindBlock(id, range.from); number < stop; ++number) {
    auto it = std::find_if(cached.blocks.begin(), cached.blocks.end(),
                           [&](const Block& block) { return block.number == number; });
    if (it == cached.blocks.end()) {
      Block block{number, nullptr};
      if (spare_.empty()) {
        block.rows = std::make_unique<chunk::ChunkRows>();
      } else {
        block.rows = std::move(spare_.back());
        spare_.pop_back();
      }
      TSDB_RETURN_IF_ERROR(file.ReadBlock(number, block.rows.get()));
      cached.blocks.push_back(std::move(block));
      it = cached.blocks.end() - 1;
    }
    const chunk::ChunkRows& rows = *it->rows;
    const auto begin = std::lower_bound(rows.entries.begin(), rows.entries.end(), std::pair(id, range.from),
                                        [](const chunk::ChunkEntry& entry, const auto& key) {
                                          return std::pair(entry.id, entry.last_time) < key;
                                        });
    const auto end = std::upper_bound(begin, rows.entries.end(), std::pair(id, range.to),
                                      [](const auto& key, const chunk::ChunkEntry& entry) {
                                        return key < std::pair(entry.id, entry.first_time);
                                      });
    if (begin != end) {
      found->push_back({&rows, static_cast<std::size_t>(begin - rows.entries.begin()),
                        static_cast<std::size_t>(end - rows.entries.begin())});
    }
  }
  return Status::Ok();
}

void DirectoryCache::EndSeries() {
  for (File* file : touched_) {
    while (file->blocks.size() > 1) {
      spare_.push_back(std::move(file->blocks.front().rows));
      file->blocks.erase(file->blocks.begin());
    }
  }
  touched_.clear();
}

}  // namespace tsdb::engine
