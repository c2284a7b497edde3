// IdSet: a set of series ids that counts its members. Ids are dense, so a block of bits per 64 Ki ids is small: an
// import of a million series costs about 128 KiB.
//
// Thread safety: none.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "tsdb/types.h"

namespace tsdb::cli {

class IdSet {
 public:
  void Insert(SeriesId id) {
    std::unique_ptr<Block>& block = blocks_[id.value >> kBlockBits];
    if (block == nullptr) {
      block = std::make_unique<Block>();
    }
    const std::size_t bit = id.value & (kBlockIds - 1);
    size_ += !block->test(bit);
    block->set(bit);
  }
  std::uint64_t size() const { return size_; }

 private:
  static constexpr unsigned kBlockBits = 16;
  static constexpr std::size_t kBlockIds = std::size_t{1} << kBlockBits;
  using Block = std::bitset<kBlockIds>;
  std::unordered_map<std::uint64_t, std::unique_ptr<Block>> blocks_;
  std::uint64_t size_ = 0;
};

}  // namespace tsdb::cli
