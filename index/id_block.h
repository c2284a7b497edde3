// Id block: the bytes of one stored posting block, a set of 16-bit numbers (the low bits of ids that share the others).
//
//   form (1 byte) | 0 list:   varint first, then varint (gap to the previous - 1) ...
//                 | 1 bitmap: 8192 bytes, bit n of byte n / 8 is number n
//                 | 2 runs:   varint (gap to the end of the previous run), varint (length - 1) ...
//
// The shortest form is written. A block is never empty.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_set.h"

namespace tsdb::index {

/// Ids in a block.
inline constexpr std::uint64_t kBlockIds = 1ull << 16;

/// `lows` ascending, unique, not empty.
void EncodeIdBlock(const std::vector<std::uint16_t>& lows, std::string* out);
/// False when the bytes are not a block; they may come from a damaged disk.
bool DecodeIdBlock(std::string_view bytes, std::vector<std::uint16_t>* lows);
/// Adds the members of block number `block` to `ids`.
bool DecodeIdBlockInto(std::string_view bytes, std::uint64_t block, IdSet* ids);

}  // namespace tsdb::index
