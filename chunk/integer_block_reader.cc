#include <array>
#include <cstring>

#include "chunk/bit_stream.h"
#include "chunk/integer_block_plan.h"
#include "chunk/integer_blocks.h"

namespace tsdb::chunk {
namespace {

/// Up to 256 values of up to 64 bits, copied to where a BitReader may read past them.
class PaddedBits {
 public:
  explicit PaddedBits(std::string_view bytes) {
    std::memcpy(bytes_.data(), bytes.data(), bytes.size());
    std::memset(bytes_.data() + bytes.size(), 0, kBitReaderPadding);
  }
  BitReader reader() const { return BitReader(bytes_.data()); }

 private:
  std::array<char, kBlockValues * 8 + kBitReaderPadding> bytes_;
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
  if (!ReadHeader(count)) {
    return false;
  }
  return count == kBlockValues ? ReadLanes(out) : ReadStream(count, out);
}

bool IntegerBlockReader::ReadHeader(std::size_t /*count*/) {
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

bool IntegerBlockReader::ReadPatches(std::size_t count) {
  std::uint8_t last = 0;
  std::uint8_t bits = 0;
  if (!reader_->ReadFixed(&last) || !reader_->ReadFixed(&bits) || last >= count) {
    return false;
  }
  patch_count_ = std::size_t{last} + 1;
  const std::size_t map_bytes = PackedBytes(count, 1);
  std::string_view bytes;
  if (patch_count_ <= map_bytes) {
    if (!reader_->ReadBytes(patch_count_, &bytes)) {
      return false;
    }
    std::memcpy(patch_at_, bytes.data(), patch_count_);
    for (std::size_t k = 0; k < patch_count_; ++k) {
      if (patch_at_[k] >= count) {
        return false;
      }
    }
  } else {
    if (!reader_->ReadBytes(map_bytes, &bytes)) {
      return false;
    }
    std::size_t k = 0;
    for (std::size_t byte = 0; byte < map_bytes; ++byte) {
      for (auto map = static_cast<unsigned char>(bytes[byte]); map != 0; map = static_cast<unsigned char>(map & (map - 1))) {
        const std::size_t at = 8 * byte + static_cast<std::size_t>(std::countr_zero(map));
        if (k == patch_count_ || at >= count) {
          return false;
        }
        patch_at_[k++] = static_cast<std::uint8_t>(at);
      }
    }
    if (k != patch_count_) {
      return false;
    }
  }
  std::uint64_t all = 0;
  if (bits == kVarintPatches) {
    for (std::size_t k = 0; k < patch_count_; ++k) {
      std::uint64_t excess = 0;
      if (!reader_->ReadVarint(&excess)) {
        return false;
      }
      all |= excess;
      patch_[k] = static_cast<std::uint64_t>(UnZigZag(excess + 1)) << width_;
    }
  } else {
    if (bits > 64 || !reader_->ReadBytes(PackedBytes(patch_count_, bits), &bytes)) {
      return false;
    }
    const PaddedBits padded(bytes);
    BitReader reader = padded.reader();
    for (std::size_t k = 0; k < patch_count_; ++k) {
      const std::uint64_t excess = reader.Get(bits);
      all |= excess;
      patch_[k] = static_cast<std::uint64_t>(UnZigZag(excess + 1)) << width_;
    }
  }
  patch_bits_ = BitLength(all) + 1;
  return true;
}

bool IntegerBlockReader::ReadLanes(std::uint64_t* out) {
  const CodecKernels& kernels = Kernels();
  std::string_view packed;
  if (!reader_->ReadBytes(kBlockValues / 8 * width_, &packed) || (patched_ && !ReadPatches(kBlockValues))) {
    return false;
  }
  alignas(32) std::uint32_t low[kBlockValues];
  if (width_ + patch_bits_ <= (order_ == 0 ? 31u : kRunningSumBits) && order_ <= 1) {
    kernels.unpack(width_, packed.data(), low);
    for (std::size_t k = 0; k < patch_count_; ++k) {
      low[patch_at_[k]] += static_cast<std::uint32_t>(patch_[k]);
    }
    if (order_ == 0) {
      kernels.add_base_signed(low, base_, out);
    } else {
      kernels.running_sum(low, base_, value_, out);
      value_ = out[kBlockValues - 1];
    }
    return true;
  }
  if (width_ <= 32) {
    kernels.unpack(width_, packed.data(), low);
    kernels.add_base(low, base_, out);
  } else {
    alignas(32) std::uint32_t high[kBlockValues];
    kernels.unpack(32, packed.data(), low);
    kernels.unpack(width_ - 32, packed.data() + kBlockValues / 8 * std::size_t{32}, high);
    for (std::size_t i = 0; i < kBlockValues; ++i) {
      out[i] = base_ + (std::uint64_t{low[i]} | std::uint64_t{high[i]} << 32);
    }
  }
  for (std::size_t k = 0; k < patch_count_; ++k) {
    out[patch_at_[k]] += patch_[k];
  }
  Integrate(kBlockValues, out);
  return true;
}

bool IntegerBlockReader::ReadStream(std::size_t count, std::uint64_t* out) {
  std::string_view packed;
  if (!reader_->ReadBytes(PackedBytes(count, width_), &packed)) {
    return false;
  }
  if (width_ == 0) {
    std::fill_n(out, count, base_);
  } else {
    const PaddedBits padded(packed);
    BitReader bits = padded.reader();
    if (width_ <= 56) {
      const std::uint64_t mask = LowMask(width_);
      for (std::size_t i = 0; i < count; ++i) {
        out[i] = base_ + (bits.Peek() & mask);
        bits.Skip(width_);
      }
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        out[i] = base_ + bits.Get(width_);
      }
    }
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
  std::uint64_t value = value_;
  if (order_ == 1) {
    for (std::size_t i = 0; i < count; ++i) {
      value += out[i];
      out[i] = value;
    }
  } else {
    std::uint64_t delta = delta_;
    for (std::size_t i = 0; i < count; ++i) {
      delta += out[i];
      value += delta;
      out[i] = value;
    }
    delta_ = delta;
  }
  value_ = value;
}

}  // namespace tsdb::chunk
