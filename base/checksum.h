// Checksum: XXH3 with a seed, the one checksum of all our files. The seed is the place (file number, offset), so that
// bytes copied to another place do not verify.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace tsdb {

/// XXH3-64 of `data` with `seed`.
std::uint64_t Checksum64(std::string_view data, std::uint64_t seed);
/// Low 32 bits of Checksum64.
std::uint32_t Checksum32(std::string_view data, std::uint64_t seed);

}  // namespace tsdb
