// SharedTimes: the time columns a chunk file writer has written lately, to store equal ones once.
//
//   hash of the times ──► column (ordinal, entry, encoded bytes)      oldest forgotten first
//
// A candidate found by its hash is decoded and compared with the times themselves: what is shared is equal, and the
// comparison is at the same time the check of what was encoded.
//
// Thread safety: none; belongs to a writer.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "chunk/chunk_rows.h"

namespace tsdb::chunk {

class SharedTimes {
 public:
  struct Column {
    std::uint64_t hash = 0;
    std::uint64_t ordinal = 0;
    ChunkEntry entry;  // its times' part
    std::string data;  // encoded
  };

  static std::uint64_t Hash(std::span<const Timestamp> times);

  /// The column that holds exactly `times`; null when none is remembered. Valid until Remember.
  const Column* Find(std::uint64_t hash, std::span<const Timestamp> times);
  void Remember(Column column);

 private:
  std::deque<Column> columns_;                                  // by ordinal, ascending
  std::unordered_map<std::uint64_t, std::uint64_t> by_hash_;    // to the ordinal of the newest
  std::uint64_t bytes_ = 0;
  std::vector<Timestamp> scratch_;
};

}  // namespace tsdb::chunk
