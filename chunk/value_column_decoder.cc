#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "base/coding.h"
#include "chunk/bit_stream.h"
#include "chunk/column_codec.h"
#include "chunk/column_layout.h"
#include "chunk/decimal.h"
#include "chunk/integer_blocks.h"
#include "chunk/integer_tokens.h"

namespace tsdb::chunk {
namespace {

Status Damaged(const char* what) { return Status::Corruption(std::string("value column: ") + what); }

/// The samples that are wanted: those of whole pages.
struct Window {
  std::size_t first = 0;  // sample
  std::size_t end = 0;
  PageRange pages;
};

struct ColumnHeader {
  unsigned exponent = 0;
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
  header->exponent = first & kExponentMask;
  header->order = first >> kOrderShift;
  header->flags = flags;
  if (header->order > 2 || flags > (kFlagDivisor | kFlagUlps | kFlagExceptions)) {
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

bool ReadUlps(ByteReader* reader, std::size_t count, const Window& window, double* out) {
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
    if (i < window.first || i >= window.end) {
      continue;
    }
    double* at = out + (i - window.first);
    for (std::size_t k = 0; k < here; ++k) {
      at[k] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(at[k]) + ulps[k]);
    }
  }
  return true;
}

bool ReadExceptions(ByteReader* reader, std::size_t count, const Window& window, double* out) {
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
    if (next >= window.first && next < window.end) {
      out[next - window.first] = std::bit_cast<double>(bits);
    }
    ++next;
  }
  return true;
}

Status ReadCorrections(ByteReader* reader, unsigned flags, std::size_t count, const Window& window, double* out) {
  if ((flags & kFlagUlps) != 0 && !ReadUlps(reader, count, window, out)) {
    return Damaged("its corrections are damaged");
  }
  if ((flags & kFlagExceptions) != 0 && !ReadExceptions(reader, count, window, out)) {
    return Damaged("its exceptions are damaged");
  }
  return reader->empty() ? Status::Ok() : Damaged("bytes are left over");
}

/// Integers of a column to its values.
class ToValues {
 public:
  ToValues(const ColumnHeader& header, bool bits) : bits_(bits), factor_(header.divisor), offset_(header.offset) {
    if (!bits) {
      scale_ = {.factor = static_cast<double>(header.divisor),
                .offset = static_cast<double>(static_cast<std::int64_t>(header.offset)),
                .power = kPowersOfTen[header.exponent]};
    }
  }

  void operator()(const std::uint64_t* q, std::size_t count, double* out) const {
    if (bits_) {
      kernels_.to_ordered(q, count, factor_, offset_, out);
    } else if (factor_ == 1 && offset_ == 0) {
      kernels_.to_decimals(q, count, scale_.power, out);
    } else {
      kernels_.to_scaled_decimals(q, count, scale_.factor, scale_.offset, scale_.power, out);
    }
  }
  /// The next values of a sequence of blocks. False when the bytes are damaged.
  bool Next(IntegerBlockReader* blocks, std::size_t count, double* out) const {
    if (!bits_) {
      return blocks->NextDecimals(count, scale_, out);
    }
    alignas(32) std::array<std::uint64_t, kBlockValues> q;
    if (!blocks->Next(count, q.data())) {
      return false;
    }
    (*this)(q.data(), count, out);
    return true;
  }

 private:
  const CodecKernels& kernels_ = Kernels();
  const bool bits_;
  const std::uint64_t factor_;
  const std::uint64_t offset_;
  DecimalScale scale_;
};

bool ReadBlocks(ByteReader* reader, int order, std::size_t count, const ToValues& to_values, double* out) {
  IntegerBlockReader blocks;
  if (!blocks.Open(reader, order)) {
    return false;
  }
  for (std::size_t i = 0; i < count; i += kBlockValues) {
    if (!to_values.Next(&blocks, std::min(kBlockValues, count - i), out + i)) {
      return false;
    }
  }
  return true;
}

/// Where each page's blocks stand in a column of several pages.
bool ReadPageTable(ByteReader* reader, std::size_t pages, std::array<std::string_view, kPagesMax>* bodies) {
  std::array<std::uint64_t, kPagesMax> sizes;
  for (std::size_t page = 0; page < pages; ++page) {
    if (!reader->ReadVarint(&sizes[page]) || sizes[page] > reader->remaining()) {
      return false;
    }
  }
  for (std::size_t page = 0; page < pages; ++page) {
    if (!reader->ReadBytes(static_cast<std::size_t>(sizes[page]), &(*bodies)[page])) {
      return false;
    }
  }
  return true;
}

Status DecodeConstant(std::string_view data, const Window& window, double* out) {
  if (data.size() != sizeof(double)) {
    return Damaged("a constant takes 8 bytes");
  }
  std::fill_n(out, window.end - window.first, LoadFixed<double>(data.data()));
  return Status::Ok();
}

Status DecodeBlocks(bool bits, std::string_view data, std::size_t count, const Window& window, double* out) {
  ByteReader reader(data);
  ColumnHeader header;
  if (!ReadColumnHeader(&reader, &header) ||
      (bits ? header.exponent != 0 || (header.flags & ~kFlagDivisor) != 0 : header.exponent > kDecimalExponentMax)) {
    return Damaged("its header is damaged");
  }
  const ToValues to_values(header, bits);
  if (count <= kPageSamples) {
    if (!ReadBlocks(&reader, header.order, count, to_values, out)) {
      return Damaged("a block is damaged");
    }
  } else {
    std::array<std::string_view, kPagesMax> bodies;
    if (!ReadPageTable(&reader, (count + kPageSamples - 1) / kPageSamples, &bodies)) {
      return Damaged("its page table is damaged");
    }
    for (std::size_t i = window.first; i < window.end; i += kPageSamples) {
      ByteReader body(bodies[i / kPageSamples]);
      if (!ReadBlocks(&body, header.order, std::min(kPageSamples, count - i), to_values, out + (i - window.first)) ||
          !body.empty()) {
        return Damaged("a page is damaged");
      }
    }
  }
  return ReadCorrections(&reader, header.flags, count, window, out);
}

Status DecodeTokens(std::string_view data, std::size_t count, const Window& window, double* out) {
  ByteReader reader(data);
  ColumnHeader header;
  IntegerTokenReader tokens;  // some 80 KiB
  if (!ReadColumnHeader(&reader, &header) || header.order != 0 ||
      (header.exponent > kDecimalExponentMax && header.exponent != kExponentBits) ||
      !tokens.Open(&reader, count)) {
    return Damaged("its header is damaged");
  }
  const ToValues to_values(header, header.exponent == kExponentBits);
  tokens.Seek(window.pages);
  alignas(32) std::array<std::uint64_t, kPageSamples> q;
  for (std::size_t i = window.first; i < window.end; i += kPageSamples) {
    if (!tokens.Next(q.data())) {
      return Damaged("a page is damaged");
    }
    to_values(q.data(), std::min(kPageSamples, count - i), out + (i - window.first));
  }
  return ReadCorrections(&reader, header.flags, count, window, out);
}

Status DecodeApart(std::string_view data, std::size_t count, const Window& window, double* out);

Status Decode(std::uint8_t encoding, std::string_view data, std::size_t count, const Window& window, double* out) {
  if (count > kPagesMax * kPageSamples) {
    return Status::InvalidArgument("value column: " + std::to_string(count) + " samples are more than a column holds");
  }
  switch (static_cast<ValueEncoding>(encoding)) {
    case ValueEncoding::kConstant:
      return DecodeConstant(data, window, out);
    case ValueEncoding::kDecimalBlocks:
      return DecodeBlocks(false, data, count, window, out);
    case ValueEncoding::kBits:
      return DecodeBlocks(true, data, count, window, out);
    case ValueEncoding::kTokens:
      return DecodeTokens(data, count, window, out);
    case ValueEncoding::kApart:
      return DecodeApart(data, count, window, out);
  }
  return Status::NotSupported("value encoding " + std::to_string(encoding) + " is not known to this version");
}

Status DecodeApart(std::string_view data, std::size_t count, const Window& window, double* out) {
  if (count <= kPageSamples) {
    return Damaged("a single page stands apart");
  }
  struct Page {
    std::uint8_t encoding = 0;
    std::uint64_t bytes = 0;
  };
  std::array<Page, kPagesMax> pages;
  const std::size_t page_count = (count + kPageSamples - 1) / kPageSamples;
  ByteReader reader(data);
  for (Page& page : std::span(pages).first(page_count)) {
    if (!reader.ReadFixed(&page.encoding) || !reader.ReadVarint(&page.bytes) || page.bytes > reader.remaining() ||
        page.encoding == static_cast<std::uint8_t>(ValueEncoding::kApart)) {
      return Damaged("its page table is damaged");
    }
  }
  for (std::size_t page = 0; page < page_count; ++page) {
    std::string_view body;
    if (!reader.ReadBytes(static_cast<std::size_t>(pages[page].bytes), &body)) {
      return Damaged("its page table is damaged");
    }
    const std::size_t begin = page * kPageSamples;
    if (begin >= window.first && begin < window.end) {
      const std::size_t here = std::min(kPageSamples, count - begin);
      TSDB_RETURN_IF_ERROR(
          Decode(pages[page].encoding, body, here, {0, here, {0, 1}}, out + (begin - window.first)));
    }
  }
  return reader.empty() ? Status::Ok() : Damaged("bytes are left over");
}

}  // namespace

Status DecodeValues(std::uint8_t encoding, std::string_view data, std::size_t count, double* out) {
  return Decode(encoding, data, count, {0, count, {0, kPagesMax}}, out);
}

Status DecodeValuePages(std::uint8_t encoding, std::string_view data, std::size_t count, PageRange pages, double* out) {
  const std::size_t samples = SamplesInPages(count, pages);
  if (samples == 0) {
    return Status::InvalidArgument("value column: none of its " + std::to_string(count) +
                                   " samples is in the pages asked for");
  }
  const std::size_t first = pages.first * kPageSamples;
  return Decode(encoding, data, count, {first, first + samples, pages}, out);
}

}  // namespace tsdb::chunk
