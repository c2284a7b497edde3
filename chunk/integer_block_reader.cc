#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "chunk/bit_stream.h"
#include "chunk/decimal.h"
#include "chunk/integer_block_plan.h"
#include "chunk/integer_blocks.h"

namespace tsdb::chunk {
namespace {

/// Packed bits where a BitReader may read past them: in place when enough bytes follow, else a copy.
class PaddedBits {
 public:
  PaddedBits(std::string_view bytes, std::size_t bytes_behind) : data_(bytes.data()) {
    if (bytes_behind < kBitReaderPadding) {
      std::memcpy(copy_.data(), bytes.data(), bytes.size());
      std::memset(copy_.data() + bytes.size(), 0, kBitReaderPadding);
      data_ = copy_.data();
    }
  }
  PaddedBits(const PaddedBits&) = delete;
  PaddedBits& operator=(const PaddedBits&) = delete;

  /// Calls `take(k, value)` for `count` values of `width` bits.
  template <typename Take>
  void ForEach(std::size_t count, unsigned width, Take take) const {
    BitReader bits(data_);
    if (width <= kPeekBits) {
      const std::uint64_t mask = LowMask(width);
      for (std::size_t k = 0; k < count; ++k) {
        take(k, bits.Peek() & mask);
        bits.Skip(width);
      }
    } else {
      for (std::size_t k = 0; k < count; ++k) {
        take(k, bits.Get(width));
      }
    }
  }

 private:
  static constexpr unsigned kPeekBits = 57;
  const char* data_;
  std::array<char, kBlockValues * 8 + kBitReaderPadding> copy_;
};

/// A running sum of u, none of which is longer than this, fits in 31 bits.
constexpr unsigned kRunningSumBits = 22;

}  // namespace

bool IntegerBlockReader::Open(ByteReader* reader, int order) {
  reader_ = reader;
  order_ = order;
  value_ = 0;
  delta_ = 0;
  base_ = 0;
  std::int64_t v = 0;
  if (order >= 1) {
    if (!reader->ReadVarintSigned(&v)) {
      return false;
    }
    value_ = static_cast<std::uint64_t>(v);
  }
  if (order >= 2) {
    if (!reader->ReadVarintSigned(&v)) {
      return false;
    }
    delta_ = static_cast<std::uint64_t>(v);
  }
  return true;
}

bool IntegerBlockReader::Next(std::size_t count, std::uint64_t* out) {
  if (!ReadHeader()) {
    return false;
  }
  if (count != kBlockValues) {
    return ReadStream(count, out);
  }
  std::string_view packed;
  if (!ReadPacked(&packed)) {
    return false;
  }
  if (FitsInWords()) {
    alignas(32) std::uint32_t words[kBlockValues];
    UnpackWords(packed, words);
    WordsToIntegers(words, out);
  } else {
    LanesToIntegers(packed, out);
  }
  return true;
}

bool IntegerBlockReader::NextDecimals(std::size_t count, const DecimalScale& scale, double* out) {
  const CodecKernels& kernels = Kernels();
  alignas(32) std::uint64_t q[kBlockValues];
  if (count != kBlockValues) {
    if (!ReadHeader() || !ReadStream(count, q)) {
      return false;
    }
  } else {
    std::string_view packed;
    if (!ReadHeader() || !ReadPacked(&packed)) {
      return false;
    }
    if (FitsInWords()) {
      alignas(32) std::uint32_t words[kBlockValues];
      UnpackWords(packed, words);
      if (ExactInDoubles(scale)) {
        const auto base = static_cast<double>(static_cast<std::int64_t>(base_));
        if (order_ == 0) {
          kernels.base_to_decimals(words, base, scale, out);
        } else {
          const auto start = static_cast<double>(static_cast<std::int64_t>(value_));
          kernels.running_sum_to_decimals(words, base, start, scale, out);
          std::uint32_t sum = 0;
          for (const std::uint32_t word : words) {
            sum += word;
          }
          value_ += kBlockValues * base_ + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(sum)});
        }
        return true;
      }
      WordsToIntegers(words, q);
    } else {
      LanesToIntegers(packed, q);
    }
  }
  if (scale.factor == 1 && scale.offset == 0) {
    kernels.to_decimals(q, count, scale.power, out);
  } else {
    kernels.to_scaled_decimals(q, count, scale.factor, scale.offset, scale.power, out);
  }
  return true;
}

bool IntegerBlockReader::ReadHeader() {
  std::uint8_t header = 0;
  if (!reader_->ReadFixed(&header)) {
    return false;
  }
  patch_count_ = 0;
  patch_bits_ = 0;
  if (header == kRepeatBlock) {
    width_ = 0;
    patched_ = false;
    return true;
  }
  patched_ = (header & kPatchedBlock) != 0;
  width_ = header & ~kPatchedBlock;
  std::int64_t step = 0;
  if (width_ > 64 || (patched_ && width_ > 63) || !reader_->ReadVarintSigned(&step)) {
    return false;
  }
  base_ += static_cast<std::uint64_t>(step);
  return true;
}

bool IntegerBlockReader::ReadPatchPositions(std::size_t count) {
  const std::size_t map_bytes = PackedBytes(count, 1);
  std::string_view bytes;
  if (patch_count_ <= map_bytes) {
    if (!reader_->ReadBytes(patch_count_, &bytes)) {
      return false;
    }
    std::memcpy(patch_at_, bytes.data(), patch_count_);
    return std::all_of(patch_at_, patch_at_ + patch_count_, [count](std::uint8_t at) { return at < count; });
  }
  if (!reader_->ReadBytes(map_bytes, &bytes)) {
    return false;
  }
  std::array<std::uint64_t, kBlockValues / 64> map{};
  std::memcpy(map.data(), bytes.data(), map_bytes);
  std::size_t ones = 0;
  for (const std::uint64_t word : map) {
    ones += static_cast<std::size_t>(std::popcount(word));
  }
  if (ones != patch_count_ || (count < kBlockValues && map[count / 64] >> (count % 64) != 0)) {
    return false;
  }
  std::size_t k = 0;
  for (std::size_t word = 0; word < map.size(); ++word) {
    for (std::uint64_t left = map[word]; left != 0; left &= left - 1) {
      patch_at_[k++] = static_cast<std::uint8_t>(64 * word + static_cast<std::size_t>(std::countr_zero(left)));
    }
  }
  return true;
}

bool IntegerBlockReader::ReadPatches(std::size_t count) {
  std::uint8_t last = 0;
  std::uint8_t width = 0;
  if (!reader_->ReadFixed(&last) || !reader_->ReadFixed(&width) || last >= count) {
    return false;
  }
  patch_count_ = std::size_t{last} + 1;
  if (!ReadPatchPositions(count)) {
    return false;
  }
  std::uint64_t all = 0;
  const auto take = [&](std::size_t k, std::uint64_t excess) {
    all |= excess;
    patch_[k] = static_cast<std::uint64_t>(UnZigZag(excess + 1)) << width_;
  };
  if (width == kVarintPatches) {
    for (std::size_t k = 0; k < patch_count_; ++k) {
      std::uint64_t excess = 0;
      if (!reader_->ReadVarint(&excess)) {
        return false;
      }
      take(k, excess);
    }
  } else {
    std::string_view bytes;
    if (width > 64 || !reader_->ReadBytes(PackedBytes(patch_count_, width), &bytes)) {
      return false;
    }
    PaddedBits(bytes, reader_->remaining()).ForEach(patch_count_, width, take);
  }
  patch_bits_ = BitLength(all) + 1;
  return true;
}

bool IntegerBlockReader::ReadPacked(std::string_view* packed) {
  return reader_->ReadBytes(kBlockValues / 8 * width_, packed) && (!patched_ || ReadPatches(kBlockValues));
}

/// What the block adds to its base, patches included, is a signed number of 32 bits, and so is its running sum.
bool IntegerBlockReader::FitsInWords() const {
  return order_ <= 1 && width_ + patch_bits_ <= (order_ == 0 ? 31u : kRunningSumBits);
}

void IntegerBlockReader::UnpackWords(std::string_view packed, std::uint32_t* words) const {
  Kernels().unpack(width_, packed.data(), words);
  for (std::size_t k = 0; k < patch_count_; ++k) {
    words[patch_at_[k]] += static_cast<std::uint32_t>(patch_[k]);
  }
}

void IntegerBlockReader::WordsToIntegers(const std::uint32_t* words, std::uint64_t* out) {
  if (order_ == 0) {
    Kernels().add_base_signed(words, base_, out);
  } else {
    Kernels().running_sum(words, base_, value_, out);
    value_ = out[kBlockValues - 1];
  }
}

/// No integer of a block that fits in words leaves the doubles' exact ones on the way to its value.
bool IntegerBlockReader::ExactInDoubles(const DecimalScale& scale) const {
  const double base = std::fabs(static_cast<double>(static_cast<std::int64_t>(base_)));
  const double start = order_ == 0 ? 0 : std::fabs(static_cast<double>(static_cast<std::int64_t>(value_)));
  const double most = start + static_cast<double>(kBlockValues) * base + 0x1p31;
  return most * std::fabs(scale.factor) + std::fabs(scale.offset) <= static_cast<double>(kDecimalMax / 2);
}

void IntegerBlockReader::LanesToIntegers(std::string_view packed, std::uint64_t* out) {
  const CodecKernels& kernels = Kernels();
  alignas(32) std::uint32_t low[kBlockValues];
  if (width_ <= 32) {
    kernels.unpack(width_, packed.data(), low);
    kernels.add_base(low, base_, out);
  } else {
    alignas(32) std::uint32_t high[kBlockValues];
    kernels.unpack(32, packed.data(), low);
    kernels.unpack(width_ - 32, packed.data() + kBlockValues / 8 * std::size_t{32}, high);
    kernels.join_halves(low, high, base_, out);
  }
  for (std::size_t k = 0; k < patch_count_; ++k) {
    out[patch_at_[k]] += patch_[k];
  }
  Integrate(kBlockValues, out);
}

bool IntegerBlockReader::ReadStream(std::size_t count, std::uint64_t* out) {
  std::string_view packed;
  if (!reader_->ReadBytes(PackedBytes(count, width_), &packed)) {
    return false;
  }
  if (width_ == 0) {
    std::fill_n(out, count, base_);
  } else {
    const std::uint64_t base = base_;
    PaddedBits(packed, reader_->remaining()).ForEach(count, width_, [=](std::size_t k, std::uint64_t v) {
      out[k] = base + v;
    });
  }
  if (patched_) {
    if (!ReadPatches(count)) {
      return false;
    }
    for (std::size_t k = 0; k < patch_count_; ++k) {
      out[patch_at_[k]] += patch_[k];
    }
  }
  Integrate(count, out);
  return true;
}

void IntegerBlockReader::Integrate(std::size_t count, std::uint64_t* out) {
  if (order_ == 0) {
    return;
  }
  if (order_ == 2) {
    Kernels().sum_up(out, count, delta_);
    delta_ = out[count - 1];
  }
  Kernels().sum_up(out, count, value_);
  value_ = out[count - 1];
}

}  // namespace tsdb::chunk
