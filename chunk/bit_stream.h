// Bit streams: values of 0 to 64 bits, least significant bit first, in little-endian bytes.
//
// Thread safety: none.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/coding.h"

namespace tsdb::chunk {

/// Ones in the low `width` bits, 0 <= width <= 64.
inline constexpr std::uint64_t LowMask(unsigned width) {
  return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

/// Bits needed for `v`: 0 for 0.
inline constexpr unsigned BitLength(std::uint64_t v) { return static_cast<unsigned>(std::bit_width(v)); }

/// Bytes of `count` values of `width` bits.
inline constexpr std::size_t PackedBytes(std::size_t count, unsigned width) { return (count * width + 7) / 8; }

/// Appends bits to a string; Finish() pads the last byte with zeros.
class BitWriter {
 public:
  explicit BitWriter(std::string* out) : out_(out) {}
  /// `v` must fit in `width` bits.
  void Put(std::uint64_t v, unsigned width) {
    if (width == 0) {
      return;
    }
    accumulator_ |= v << used_;
    if (used_ + width < 64) {
      used_ += width;
      return;
    }
    PutFixed64(out_, accumulator_);
    const unsigned rest = 64 - used_;
    accumulator_ = rest < 64 ? v >> rest : 0;
    used_ = used_ + width - 64;
  }
  void Finish() {
    for (; used_ > 0; used_ = used_ > 8 ? used_ - 8 : 0) {
      out_->push_back(static_cast<char>(accumulator_ & 255));
      accumulator_ >>= 8;
    }
  }

 private:
  std::string* out_;
  std::uint64_t accumulator_ = 0;
  unsigned used_ = 0;
};

/// Bytes that must be readable behind the last one a BitReader may need.
inline constexpr std::size_t kBitReaderPadding = 16;

/// Reads bits without looking for the end: the owner of the bytes pads them by kBitReaderPadding and checks position()
/// often enough.
class BitReader {
 public:
  explicit BitReader(const char* data, std::uint64_t position = 0) : data_(data), position_(position) {}

  std::uint64_t position() const { return position_; }
  /// The next bits, at least 57 of them valid, without moving on.
  std::uint64_t Peek() const { return LoadFixed<std::uint64_t>(data_ + (position_ >> 3)) >> (position_ & 7); }
  void Skip(unsigned width) { position_ += width; }
  std::uint64_t Get(unsigned width) {
    std::uint64_t v = Peek();
    const auto shift = static_cast<unsigned>(position_ & 7);
    if (shift + width > 64) {
      v |= static_cast<std::uint64_t>(static_cast<unsigned char>(data_[(position_ >> 3) + 8])) << (64 - shift);
    }
    position_ += width;
    return v & LowMask(width);
  }

 private:
  const char* data_;
  std::uint64_t position_;
};

}  // namespace tsdb::chunk
