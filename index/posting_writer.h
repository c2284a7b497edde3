// PostingWriter: writes posting lists, block by block, as stored list - removed + added.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "index/rocks_store.h"
#include "index/stored_view.h"

namespace tsdb::index {

class PostingWriter {
 public:
  PostingWriter(const StoredView& stored, RocksStore::TableSet* tables) : stored_(stored), tables_(tables) {}

  /// Changes the list whose keys begin with `posting_key`; lists come in key order. An id that is in both stays. Sorts
  /// what it is given.
  Status Change(std::string_view posting_key, std::vector<std::uint64_t>* added, std::vector<std::uint64_t>* removed);
  /// Writes what is pending; to be called before anything else is written to the tables.
  Status Flush();

 private:
  struct Block {
    std::string key;
    std::vector<std::uint16_t> added;
    std::vector<std::uint16_t> removed;
    bool is_stored = false;  // may be in the stored index
  };

  /// Whether any series of the block is stored: if not, neither is the block of any posting list.
  bool HasStoredIds(std::uint64_t block);
  Status Write(const Block& block, std::string_view old);

  const StoredView& stored_;
  RocksStore::TableSet* const tables_;
  std::unordered_map<std::uint64_t, bool> has_stored_ids_;
  std::vector<Block> pending_;
};

}  // namespace tsdb::index
