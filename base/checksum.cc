#include "base/checksum.h"

#include <xxhash.h>

namespace tsdb {

std::uint64_t Checksum64(std::string_view data, std::uint64_t seed) {
  return XXH3_64bits_withSeed(data.data(), data.size(), seed);
}

std::uint32_t Checksum32(std::string_view data, std::uint64_t seed) {
  return static_cast<std::uint32_t>(Checksum64(data, seed));
}

}  // namespace tsdb
