// DirectoryCache: blocks of directories that were read last, for queries of many series: series that follow one another
// stand in the same block, which is then decoded once.
//
// Thread safety: none; one per thread.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "chunk/chunk_file.h"
#include "tsdb/status.h"

namespace tsdb::engine {

class DirectoryCache {
 public:
  /// Rows [begin, end) of a block.
  struct Rows {
    const chunk::ChunkRows* rows = nullptr;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  /// Replaces `found` by the chunks of one series that overlap `range`, in order; valid until EndSeries.
  Status Find(const chunk::ChunkFileReader& file, SeriesId id, TimeRange range, std::vector<Rows>* found);
  /// The rows given out so far are not used any more.
  void EndSeries();

 private:
  struct Block {
    std::size_t number = 0;
    std::unique_ptr<chunk::ChunkRows> rows;
  };
  struct File {
    std::vector<Block> blocks;  // ascending; the last one stays over EndSeries
  };
  std::unordered_map<const chunk::ChunkFileReader*, File> files_;
  std::vector<std::unique_ptr<chunk::ChunkRows>> spare_;
  std::vector<File*> touched_;
};

}  // namespace tsdb::engine
