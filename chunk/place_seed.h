// PlaceSeed: the seed of a checksum from the place of the bytes, so that bytes that verify are the bytes of this file
// at this offset and not of another.
//
// Thread safety: pure function.
#pragma once

#include <cstdint>

namespace tsdb::chunk {

/// file number · 0x9E3779B97F4A7C15 + offset, modulo 2^64.
inline constexpr std::uint64_t PlaceSeed(std::uint64_t file_number, std::uint64_t offset) {
  return file_number * 0x9E3779B97F4A7C15ull + offset;
}

}  // namespace tsdb::chunk
