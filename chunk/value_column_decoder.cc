#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "base/coding.h"
#include "chunk/bit_stream.h"
#include "chunk/column_codec.h"
#include "chunk/column_layout.h"
#include "chunk/decimal.h"
#include "chunk/integer_blocks.h"

namespace tsdb::chunk {
namespace {

Status Damaged(const char* what) { return Status::Corruption(std::string("value column: ") + what); }

struct ColumnHeader {
  int exponent = 0;
  int order = 0;
  unsigned flags = 0;
  std::uint64_t divisor = 1;
  std::uint64_t offset = 0;
};

bool ReadColumnHeader(ByteReader* reader, ColumnHeader* header) {
  std::uint8_t first = 0;
  std::uint8_t flags = 0;
  if (!reader->ReadFixed(&first) || !reader->ReadFixed(&flags)) {
    return false;
  }
  header->exponent = static_cast<int>(first & kExponentMask);
  header->order = first >> kOrderShift;
  header->flags = flags;
  if (header->exponent > kDecimalExponentMax || header->order > 2 ||
      flags > (kFlagDivisor | kFlagUlps | kFlagExceptions)) {
    return false;
  }
  if ((flags & kFlagDivisor) != 0) {
    std::int64_t offset = 0;
    if (!reader->ReadVarint(&header->divisor) || !reader->ReadVarintSigned(&offset)) {
      return false;
    }
    header->offset = static_cast<std::uint64_t>(offset);
  }
  return true;
}

bool ReadUlps(ByteReader* reader, std::size_t count, double* out) {
  IntegerBlockReader blocks;
  std::array<std::uint64_t, kBlockValues> ulps;
  if (!blocks.Open(reader, 0)) {
    return false;
  }
  for (std::size_t i = 0; i < count; i += kBlockValues) {
    const std::size_t here = std::min(kBlockValues, count - i);
    if (!blocks.Next(here, ulps.data())) {
      return false;
    }
    for (std::size_t k = 0; k < here; ++k) {
      out[i + k] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(out[i + k]) + ulps[k]);
    }
  }
  return true;
}

bool ReadExceptions(ByteReader* reader, std::size_t count, double* out) {
  std::uint64_t exceptions = 0;
  if (!reader->ReadVarint(&exceptions) || exceptions > count) {
    return false;
  }
  ByteReader positions = *reader;  // the raw values stand behind all the positions
  std::uint64_t gap = 0;
  for (std::uint64_t k = 0; k < exceptions; ++k) {
    if (!reader->ReadVarint(&gap)) {
      return false;
    }
  }
  std::size_t next = 0;
  for (std::uint64_t k = 0; k < exceptions; ++k) {
    std::uint64_t bits = 0;
    if (!positions.ReadVarint(&gap) || gap >= count - next || !reader->ReadFixed(&bits)) {
      return false;
    }
    next += static_cast<std::size_t>(gap);
    out[next++] = std::bit_cast<double>(bits);
  }
  return true;
}

Status DecodeConstant(std::string_view data, std::size_t count, double* out) {
  if (data.size() != sizeof(double)) {
    return Damaged("a constant takes 8 bytes");
  }
  std::fill_n(out, count, LoadFixed<double>(data.data()));
  return Status::Ok();
}

Status DecodeDecimals(std::string_view data, std::size_t count, double* out) {
  ByteReader reader(data);
  ColumnHeader header;
  IntegerBlockReader blocks;
  if (!ReadColumnHeader(&reader, &header) || !blocks.Open(&reader, header.order)) {
    return Damaged("its header is damaged");
  }
  const CodecKernels& kernels = Kernels();
  const double power = kPowersOfTen[static_cast<std::size_t>(header.exponent)];
  const auto factor = static_cast<double>(header.divisor);
  const auto offset = static_cast<double>(static_cast<std::int64_t>(header.offset));
  alignas(32) std::array<std::uint64_t, kBlockValues> q;
  for (std::size_t i = 0; i < count; i += kBlockValues) {
    const std::size_t here = std::min(kBlockValues, count - i);
    if (!blocks.Next(here, q.data())) {
      return Damaged("a block is damaged");
    }
    if (header.divisor == 1) {
      kernels.to_decimals(q.data(), here, power, out + i);
    } else {
      kernels.to_scaled_decimals(q.data(), here, factor, offset, power, out + i);
    }
  }
  if ((header.flags & kFlagUlps) != 0 && !ReadUlps(&reader, count, out)) {
    return Damaged("its corrections are damaged");
  }
  if ((header.flags & kFlagExceptions) != 0 && !ReadExceptions(&reader, count, out)) {
    return Damaged("its exceptions are damaged");
  }
  return reader.empty() ? Status::Ok() : Damaged("bytes are left over");
}

Status DecodeBits(std::string_view data, std::size_t count, double* out) {
  ByteReader reader(data);
  ColumnHeader header;
  IntegerBlockReader blocks;
  if (!ReadColumnHeader(&reader, &header) || header.exponent != 0 || (header.flags & ~kFlagDivisor) != 0 ||
      !blocks.Open(&reader, header.order)) {
    return Damaged("its header is damaged");
  }
  alignas(32) std::array<std::uint64_t, kBlockValues> q;
  for (std::size_t i = 0; i < count; i += kBlockValues) {
    const std::size_t here = std::min(kBlockValues, count - i);
    if (!blocks.Next(here, q.data())) {
      return Damaged("a block is damaged");
    }
    for (std::size_t k = 0; k < here; ++k) {
      out[i + k] = FromOrderedBits(q[k] * header.divisor + header.offset);
    }
  }
  return reader.empty() ? Status::Ok() : Damaged("bytes are left over");
}

}  // namespace

Status DecodeValues(std::uint8_t encoding, std::string_view data, std::size_t count, double* out) {
  switch (static_cast<ValueEncoding>(encoding)) {
    case ValueEncoding::kConstant:
      return DecodeConstant(data, count, out);
    case ValueEncoding::kDecimalBlocks:
      return DecodeDecimals(data, count, out);
    case ValueEncoding::kBits:
      return DecodeBits(data, count, out);
  }
  return Status::NotSupported("value encoding " + std::to_string(encoding) + " is not known to this version");
}

Status DecodeValuePages(std::uint8_t encoding, std::string_view data, std::size_t count, PageRange pages, double* out) {
  const std::size_t samples = SamplesInPages(count, pages);
  if (samples == 0) {
    return Status::InvalidArgument("value column: none of its " + std::to_string(count) +
                                   " samples is in the pages asked for");
  }
  if (samples == count) {
    return DecodeValues(encoding, data, count, out);
  }
  std::vector<double> all(count);
  TSDB_RETURN_IF_ERROR(DecodeValues(encoding, data, count, all.data()));
  std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(pages.first * kPageSamples), samples, out);
  return Status::Ok();
}

}  // namespace tsdb::chunk
