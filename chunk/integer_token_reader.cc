#include <algorithm>
#include <cstring>

#include "chunk/bit_instructions.h"
#include "chunk/bit_stream.h"
#include "chunk/integer_blocks.h"
#include "chunk/integer_tokens.h"

namespace tsdb::chunk {
namespace {

/// A state that carries 16 bits is 2^16 + those.
constexpr std::uint32_t kCarrier = 1u << 16;
/// Widths up to this can be read with one look.
constexpr unsigned kPeekBits = 57;

/// Sums differences up as they come; what it holds stays in registers.
template <int kOrder>
struct Sums {
  std::uint64_t value;
  std::uint64_t delta;

  std::uint64_t Next(std::uint64_t residual) {
    if constexpr (kOrder == 0) {
      return residual;
    } else if constexpr (kOrder == 1) {
      return value += residual;
    } else {
      delta += residual;
      return value += delta;
    }
  }
};

/// What the tokens of a stream stand for, without raw bits.
template <int kOrder>
void TakeBases(const TokenSet& set, const std::uint8_t* tokens, std::size_t count, Sums<kOrder>* sums,
               std::uint64_t* out) {
  Sums<kOrder> sum = *sums;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = sum.Next(set.base[tokens[i]]);
  }
  *sums = sum;
}

/// With raw bits from `raw`, which are padded; returns how many there were.
template <int kOrder>
TSDB_BOTH_WAYS std::uint64_t TakeRaw(const TokenSet& set, const std::uint8_t* tokens, std::size_t count,
                                     const char* raw, Sums<kOrder>* sums, std::uint64_t* out) {
  Sums<kOrder> sum = *sums;
  BitReader bits(raw);
  if (set.bits_max <= kPeekBits) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t token = tokens[i];
      const unsigned width = set.bits[token];
      out[i] = sum.Next(set.base[token] + (bits.Peek() & ((std::uint64_t{1} << width) - 1)));
      bits.Skip(width);
    }
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t token = tokens[i];
      out[i] = sum.Next(set.base[token] + bits.Get(set.bits[token]));
    }
  }
  *sums = sum;
  return bits.position();
}
template <int kOrder>
TSDB_BIT_INSTRUCTIONS std::uint64_t TakeRawWithBitInstructions(const TokenSet& set, const std::uint8_t* tokens,
                                                               std::size_t count, const char* raw,
                                                               Sums<kOrder>* sums, std::uint64_t* out) {
  return TakeRaw(set, tokens, count, raw, sums, out);
}

/// The integers of one stream, behind those summed up so far. False when its bytes do not fit its tokens.
template <int kOrder>
bool ReadIntegers(const TokenSet& set, const rans::Stream& stream, Sums<kOrder>* sums, std::uint64_t* out) {
  if (set.bits_max == 0) {
    TakeBases(set, stream.tokens, stream.count, sums, out);
    return stream.state == 1 && stream.used == stream.bytes.size();
  }
  // The raw bits: 16 in the state, the rest behind the words.
  std::array<char, kPageSamples * 8 + 2 + kBitReaderPadding> raw;
  const std::size_t behind = stream.bytes.size() - stream.used;
  if (stream.state >> 16 != kCarrier >> 16 || behind > kPageSamples * 8) {
    return false;
  }
  StoreFixed(raw.data(), static_cast<std::uint16_t>(stream.state));
  std::memcpy(raw.data() + 2, stream.bytes.data() + stream.used, behind);
  std::memset(raw.data() + 2 + behind, 0, kBitReaderPadding);
  // The tokens of a page cannot ask for more than `raw` holds; whether they asked for what is there shows in the end.
  const std::uint64_t needed =
      UseBitInstructions() ? TakeRawWithBitInstructions(set, stream.tokens, stream.count, raw.data(), sums, out)
                           : TakeRaw(set, stream.tokens, stream.count, raw.data(), sums, out);
  return behind == (needed > 16 ? PackedBytes(needed - 16, 1) : 0);
}

}  // namespace

bool IntegerTokenReader::Open(ByteReader* reader, std::size_t count) {
  count_ = count;
  Seek({0, 0});
  return ReadModel(reader) && ReadPages(reader);
}

bool IntegerTokenReader::ReadModel(ByteReader* reader) {
  std::uint8_t shape = 0;
  std::uint8_t layout = 0;
  if (!reader->ReadFixed(&shape) || !reader->ReadFixed(&layout)) {
    return false;
  }
  order_ = static_cast<int>(shape & kTokenOrderMask);
  split_ = layout >> kTokenSplitShift;
  const std::size_t contexts = (layout & kTokenContextsMask) + 1u;
  tables_.log = rans::kLogMin + (shape >> kTokenLogShift);
  tables_.contexts = contexts;
  if (order_ > 2 || tables_.log > rans::kLogMax || (contexts << tables_.log) > rans::kEntriesMax ||
      split_ > kTokenSplitMax || (split_ > 0 && count_ > kPageSamples)) {
    return false;
  }
  return ReadTokenSet(reader, (shape & kTokenDictionary) != 0) &&
         ReadFrequencies(reader, contexts, shape >> kTokenPrecisionShift & kPrecisionMax);
}

bool IntegerTokenReader::ReadTokenSet(ByteReader* reader, bool dictionary) {
  std::uint8_t last = 0;
  if (!reader->ReadFixed(&last)) {
    return false;
  }
  const std::size_t size = std::size_t{last} + 1;
  if (dictionary) {
    std::array<std::uint64_t, rans::kTokensMax> integers;
    IntegerBlockReader blocks;
    if (!blocks.Open(reader, 1) || !blocks.Next(size, integers.data())) {
      return false;
    }
    set_.SetDictionary(std::span(integers).first(size));
    return true;
  }
  std::uint8_t kind = 0;
  std::int64_t centre = 0;
  std::int64_t first = 0;
  if (!reader->ReadFixed(&kind) || !reader->ReadVarintSigned(&centre) || !reader->ReadVarintSigned(&first)) {
    return false;
  }
  const GradedTokens graded = {.direct = kind & 15u, .mantissa = unsigned{kind} >> 4,
                               .centre = static_cast<std::uint64_t>(centre)};
  if (graded.direct > kDirectBitsMax || graded.mantissa > kMantissaBitsMax || graded.mantissa > graded.direct ||
      first < -graded.StepMax() || first > graded.StepMax() - static_cast<int>(last)) {
    return false;
  }
  set_.SetGraded(graded, static_cast<int>(first), size);
  return true;
}

bool IntegerTokenReader::ReadFrequencies(ByteReader* reader, std::size_t contexts, unsigned precision) {
  ByteReader ahead = *reader;
  std::string_view rest;
  if (!ahead.ReadBytes(ahead.remaining(), &rest)) {
    return false;
  }
  HeaderBits bits(rest);
  tables_.next.fill(0);
  if (contexts > 1) {
    const unsigned width = BitLength(contexts - 1);
    for (std::size_t t = 0; t < set_.size;) {
      const std::uint32_t context = bits.Get(width);
      const std::uint32_t run = bits.GetGamma();
      if (!bits.ok() || context >= contexts || run > set_.size - t) {
        return false;
      }
      std::fill_n(tables_.next.begin() + static_cast<std::ptrdiff_t>(t), run, context << tables_.log);
      t += run;
    }
  }
  Levels levels;
  rans::Frequencies frequencies;
  for (std::size_t context = 0; context < contexts; ++context) {
    if (!ReadLevels(&bits, set_.size, tables_.log, precision, &levels) ||
        !FrequenciesOf(levels, set_.size, tables_.log, precision, &frequencies)) {
      return false;
    }
    tables_.SetContext(context, frequencies);
  }
  std::string_view used;
  return reader->ReadBytes(bits.bytes_used(), &used);
}

bool IntegerTokenReader::ReadPages(ByteReader* reader) {
  const std::size_t pages = (count_ + kPageSamples - 1) / kPageSamples;
  if (pages > pages_.size()) {
    return false;
  }
  std::uint64_t start = 0;
  for (std::size_t page = 0; page < pages && order_ > 0; ++page) {
    std::int64_t step = 0;
    if (!reader->ReadVarintSigned(&step)) {
      return false;
    }
    start += static_cast<std::uint64_t>(step);
    pages_[page].start = start;
    if (order_ == 2) {
      if (!reader->ReadVarintSigned(&step)) {
        return false;
      }
      pages_[page].delta = static_cast<std::uint64_t>(step);
    }
  }
  const std::size_t streams = pages << split_;
  std::array<std::uint64_t, 8> sizes{};
  std::uint64_t size = 0;
  for (std::size_t s = 0; s < streams; ++s) {
    std::int64_t step = 0;
    if (!reader->ReadVarintSigned(&step)) {
      return false;
    }
    size += static_cast<std::uint64_t>(step);
    sizes[s] = size;
    if (size > reader->remaining()) {
      return false;
    }
  }
  const std::size_t per_page = std::size_t{1} << split_;
  for (std::size_t s = 0; s < streams; ++s) {
    if (!reader->ReadBytes(static_cast<std::size_t>(sizes[s]), &pages_[s / per_page].streams[s % per_page])) {
      return false;
    }
  }
  return true;
}

void IntegerTokenReader::Seek(PageRange pages) {
  const std::size_t all = (count_ + kPageSamples - 1) / kPageSamples;
  next_page_ = std::min(pages.first, all);
  end_page_ = next_page_ + std::min(pages.count, all - next_page_);
  tokens_from_ = tokens_to_ = next_page_;
}

/// Decodes the tokens of the next page, or of the next four.
bool IntegerTokenReader::DecodeTokens() {
  const std::size_t per_page = std::size_t{1} << split_;
  tokens_from_ = next_page_;
  tokens_to_ = std::min(end_page_, next_page_ + kLanes / per_page);
  std::size_t lanes = 0;
  for (std::size_t page = tokens_from_; page < tokens_to_; ++page) {
    for (std::size_t s = 0; s < per_page; ++s) {
      const StreamPlace place = PlaceOfStream(SamplesOf(page), split_, s);
      streams_[lanes++] = {.bytes = pages_[page].streams[s],
                           .tokens = tokens_.data() + (page - tokens_from_) * kPageSamples + place.first,
                           .count = place.count};
    }
  }
  return rans::DecodeStreams(tables_, std::span(streams_).first(lanes));
}

bool IntegerTokenReader::Next(std::uint64_t* out) {
  if (next_page_ == tokens_to_ && !DecodeTokens()) {
    return false;
  }
  return order_ == 0 ? NextOf<0>(out) : order_ == 1 ? NextOf<1>(out) : NextOf<2>(out);
}

template <int kOrder>
bool IntegerTokenReader::NextOf(std::uint64_t* out) {
  const std::size_t per_page = std::size_t{1} << split_;
  const std::size_t samples = SamplesOf(next_page_);
  Sums<kOrder> sums = {pages_[next_page_].start, pages_[next_page_].delta};
  for (std::size_t s = 0; s < per_page; ++s) {
    const StreamPlace place = PlaceOfStream(samples, split_, s);
    const rans::Stream& stream = streams_[(next_page_ - tokens_from_) * per_page + s];
    if (!ReadIntegers(set_, stream, &sums, out + place.first)) {
      return false;
    }
  }
  ++next_page_;
  return true;
}

}  // namespace tsdb::chunk
