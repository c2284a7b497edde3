// How a block of up to 256 integers is laid out: base, bit width, and whether values outside the window
// [base, base + 2^width) are patched.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "chunk/bit_stream.h"

namespace tsdb::chunk {

/// Block header bytes, docs/format/encodings.md.
inline constexpr unsigned kPatchedBlock = 0x80;  // flag beside a width of 0..64
inline constexpr unsigned kRepeatBlock = 0x7f;   // width 0, the base as before, no patches; nothing follows
inline constexpr unsigned kVarintPatches = 0x80; // in place of a patch width: each patch is a varint

inline constexpr std::size_t VarintBytes(std::uint64_t v) { return (BitLength(v | 1) + 6) / 7; }

struct BlockPlan {
  std::uint64_t base = 0;
  unsigned width = 0;
  bool patched = false;
  /// Estimated bytes of the block without its header.
  std::size_t bytes = 0;
};

/// The cheapest layout found for 1 to 256 integers.
BlockPlan PlanBlock(std::span<const std::uint64_t> r);

}  // namespace tsdb::chunk
