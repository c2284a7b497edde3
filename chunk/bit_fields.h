// Fields of bits in small records: BitFields collects them, so that their size is known before they are written;
// CheckedBits reads them back from untrusted bytes. Least significant bit first, as in chunk/bit_stream.h. Codes of
// numbers without a known bound: docs/format/chunk-file.md, "Statistics".
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/coding.h"
#include "chunk/bit_stream.h"

namespace tsdb::chunk {

/// Bits that say how many bits a number takes, less one.
inline constexpr unsigned kSizeBits = 6;
/// Ones at most in front of a gamma code.
inline constexpr unsigned kGammaOnesMax = 12;

class BitFields {
 public:
  /// `v` must fit in `width` bits, 0 to 64.
  void Add(std::uint64_t v, unsigned width) {
    fields_.push_back({v, width});
    bits_ += width;
  }
  /// A number of any size: its bits less one, then its bits.
  void AddSized(std::uint64_t v) {
    const unsigned width = std::max(1u, BitLength(v));
    Add(width - 1, kSizeBits);
    Add(v, width);
  }
  /// A small number from 1 on.
  void AddGamma(std::uint64_t v) {
    const unsigned below = BitLength(v) - 1;
    Add(LowMask(below), below + 1);
    Add(v & LowMask(below), below);
  }
  void Append(const BitFields& other) {
    fields_.insert(fields_.end(), other.fields_.begin(), other.fields_.end());
    bits_ += other.bits_;
  }
  std::size_t bits() const { return bits_; }
  std::size_t bytes() const { return (bits_ + 7) / 8; }
  /// Appends the fields, padded with zeros to a byte.
  void WriteTo(std::string* out) const {
    BitWriter writer(out);
    for (const Field& field : fields_) {
      writer.Put(field.bits, field.width);
    }
    writer.Finish();
  }

 private:
  struct Field {
    std::uint64_t bits;
    unsigned width;
  };
  std::vector<Field> fields_;
  std::size_t bits_ = 0;
};

/// Every Get returns false when the bytes do not hold what was asked for.
class CheckedBits {
 public:
  explicit CheckedBits(std::string_view data) : data_(data) {}

  bool Get(unsigned width, std::uint64_t* v) {
    if (width > data_.size() * 8 - position_) {
      return false;
    }
    const std::size_t byte = position_ / 8;
    const auto shift = static_cast<unsigned>(position_ % 8);
    char copy[16] = {};
    const char* p = data_.data() + byte;
    if (data_.size() - byte <= sizeof(std::uint64_t)) {
      std::memcpy(copy, p, data_.size() - byte);
      p = copy;
    }
    std::uint64_t bits = LoadFixed<std::uint64_t>(p) >> shift;
    if (shift + width > 64) {
      bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(p[8])) << (64 - shift);
    }
    *v = bits & LowMask(width);
    position_ += width;
    return true;
  }
  bool GetSized(std::uint64_t* v) {
    std::uint64_t width = 0;
    return Get(kSizeBits, &width) && Get(static_cast<unsigned>(width) + 1, v);
  }
  bool GetGamma(std::uint64_t* v) {
    unsigned below = 0;
    std::uint64_t one = 1;
    while (Get(1, &one) && one != 0 && below < kGammaOnesMax) {
      ++below;
    }
    std::uint64_t low = 0;
    if (one != 0 || !Get(below, &low)) {
      return false;
    }
    *v = std::uint64_t{1} << below | low;
    return true;
  }
  /// True when nothing is left but the zeros of the last byte.
  bool AtEnd() const {
    const std::size_t left = data_.size() * 8 - position_;
    return left < 8 && (left == 0 || static_cast<unsigned char>(data_.back()) >> (8 - left) == 0);
  }

 private:
  const std::string_view data_;
  std::size_t position_ = 0;
};

}  // namespace tsdb::chunk
