// DirectoryBlocks: blocks of the directories of chunk files that queries read lately, decoded, for all threads.
//
// Thread safety: thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/recent_cache.h"
#include "chunk/chunk_file.h"
#include "tsdb/result.h"

namespace tsdb::engine {

class DirectoryBlocks {
 public:
  using RowsPtr = std::shared_ptr<const chunk::ChunkRows>;

  /// The rows of a block of `file`, whose number no other file of this database ever had. Errors as
  /// ChunkFileReader::ReadBlock. Throws std::bad_alloc.
  Result<RowsPtr> Read(const chunk::ChunkFileReader& file, std::size_t block);
  std::uint64_t memory_bytes() const { return blocks_.bytes(); }

 private:
  static constexpr std::uint64_t kBytesMax = 32 << 20;

  RecentCache<std::uint64_t, RowsPtr> blocks_{kBytesMax};
};

}  // namespace tsdb::engine
