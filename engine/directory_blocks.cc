#include "engine/directory_blocks.h"

#include <utility>

namespace tsdb::engine {
namespace {

/// Blocks of a file are fewer: each holds a hundred chunks.
constexpr unsigned kBlockBits = 26;

}  // namespace

Result<DirectoryBlocks::RowsPtr> DirectoryBlocks::Read(const chunk::ChunkFileReader& file, std::size_t block) {
  const std::uint64_t key = (file.meta().number << kBlockBits) ^ block;
  if (RowsPtr rows = blocks_.Find(key)) {
    return rows;
  }
  auto read = std::make_shared<chunk::ChunkRows>();
  TSDB_RETURN_IF_ERROR(file.ReadBlock(block, read.get()));
  const RowsPtr rows = std::move(read);
  blocks_.Insert(key, rows,
                 sizeof *rows + rows->entries.capacity() * sizeof(chunk::ChunkEntry) + rows->statistics.capacity() +
                     rows->page_times.capacity() * sizeof(Timestamp));
  return rows;
}

}  // namespace tsdb::engine
