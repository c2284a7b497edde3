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
inline constexpr unsigned kPatchedBlock = 0x80;  // flag beside a width of 0..63
inline constexpr unsigned kRepeatBlock = 0x7f;   // width 0, the base as before, no patches; nothing follows
inline constexpr unsigned kVarintPatches = 0x80; // in place of a patch width: each patch is a varint

inline constexpr std::size_t VarintBytes(std::uint64_t v) { return (BitLength(v | 1) + 6) / 7; }

struct BlockPlan {
  std::uint64_t base = 0;
  unsigned width = 0;
  bool patched = false;
};

/// The cheapest layout found for 1 to 256 integers.
BlockPlan PlanBlock(std::span<const std::uint64_t> r);

/// About the bytes such a block takes, without planning it to the end.
std::size_t EstimateBlock(std::span<const std::uint64_t> r);

}  // namespace tsdb::chunk
