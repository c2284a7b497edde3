// Gorilla's XOR coding of doubles (VLDB'15, section 4.1.2), values only: the yardstick of the codec benchmark.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "chunk/bit_stream.h"

namespace tsdb::chunk {

class GorillaEncoder {
 public:
  explicit GorillaEncoder(std::string* out) : bits_(out) {}
  void PutValues(std::span<const double> values) {
    std::uint64_t previous = std::bit_cast<std::uint64_t>(values[0]);
    unsigned leading = 64;
    unsigned trailing = 0;
    bits_.Put(previous, 64);
    for (const double value : values.subspan(1)) {
      const auto now = std::bit_cast<std::uint64_t>(value);
      const std::uint64_t x = now ^ previous;
      previous = now;
      if (x == 0) {
        bits_.Put(0, 1);
        continue;
      }
      const unsigned lead = std::min<unsigned>(31, static_cast<unsigned>(std::countl_zero(x)));
      const auto trail = static_cast<unsigned>(std::countr_zero(x));
      if (leading != 64 && lead >= leading && trail >= trailing) {
        bits_.Put(1, 2);
        bits_.Put(x >> trailing, 64 - leading - trailing);
      } else {
        leading = lead;
        trailing = trail;
        const unsigned size = 64 - lead - trail;
        bits_.Put(3 | lead << 2 | std::uint64_t{size & 63} << 7, 13);
        bits_.Put(x >> trail, size);
      }
    }
    bits_.Finish();
  }

 private:
  BitWriter bits_;
};

/// `padded` has kBitReaderPadding bytes behind its end.
inline void GorillaDecode(const char* padded, std::size_t count, double* out) {
  BitReader bits(padded);
  std::uint64_t previous = bits.Get(64);
  unsigned size = 0;
  unsigned trailing = 0;
  out[0] = std::bit_cast<double>(previous);
  for (std::size_t i = 1; i < count; ++i) {
    if (bits.Get(1) != 0) {
      if (bits.Get(1) != 0) {
        const auto lead = static_cast<unsigned>(bits.Get(5));
        size = static_cast<unsigned>(bits.Get(6));
        size = size == 0 ? 64 : size;
        trailing = 64 - lead - size;
      }
      previous ^= bits.Get(size) << trailing;
    }
    out[i] = std::bit_cast<double>(previous);
  }
}

}  // namespace tsdb::chunk
