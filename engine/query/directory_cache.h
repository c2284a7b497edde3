// DirectoryCache: the block of each directory that a query looked at last: series that follow one another stand in the
// same one.
//
//   series ─► block at hand ─► blocks of all queries (DirectoryBlocks) ─► file
//
// Thread safety: none; one per thread.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "chunk/chunk_file.h"
#include "engine/directory_blocks.h"
#include "tsdb/status.h"

namespace tsdb::engine {

class DirectoryCache {
 public:
  explicit DirectoryCache(DirectoryBlocks& blocks) : blocks_(blocks) {}

  /// Rows [begin, end) of a block.
  struct Rows {
    const chunk::ChunkRows* rows = nullptr;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  /// Replaces `found` by the chunks of one series that overlap `range`, in order; valid until EndSeries.
  Status Find(const chunk::ChunkFileReader& file, SeriesId id, TimeRange range, std::vector<Rows>* found);
  /// The rows given out so far are not used any more.
  void EndSeries() { given_.clear(); }

 private:
  struct Block {
    std::size_t number = 0;
    DirectoryBlocks::RowsPtr rows;
  };

  DirectoryBlocks& blocks_;
  std::unordered_map<const chunk::ChunkFileReader*, Block> last_;
  std::vector<DirectoryBlocks::RowsPtr> given_;
};

}  // namespace tsdb::engine
