#include "chunk/rans.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "chunk/bit_instructions.h"

namespace tsdb::chunk::rans {
namespace {

/// Between two tokens a state is at least this, but for the start of a stream without bits of the caller's.
constexpr std::uint64_t kStateMin = 1u << 16;
/// Tokens between two looks at the end of the words; each takes one word at most.
constexpr std::size_t kStride = 8;

struct Lane {
  std::uint64_t state;    // below 2^32
  std::uint64_t context;  // first entry of its table
  const char* next;
  const char* end;
  std::uint8_t* out;
};

/// Gives the next token, and the state before it is filled up.
TSDB_BOTH_WAYS std::uint64_t TakeToken(const Tables& tables, unsigned log, std::uint64_t mask, Lane* lane,
                                       std::size_t i) {
  const std::uint32_t entry = tables.entries[lane->context + (lane->state & mask)];
  const std::uint32_t token = entry >> 24;
  lane->out[i] = static_cast<std::uint8_t>(token);
  lane->context = tables.next[token];
  return std::uint64_t{(entry & 0xfff) + 1} * (lane->state >> log) + (entry >> 12 & 0xfff);
}

/// Fills the state up when `low` is 1 and leaves it when 0: arithmetic, for whether a word is due is what nobody can
/// foretell.
TSDB_BOTH_WAYS void FillUp(std::uint64_t state, std::uint64_t low, const char* word, Lane* lane) {
  lane->state = (state << (low << 4)) | (LoadFixed<std::uint16_t>(word) & (0 - low));
  lane->next += 2 * low;
}

/// One token; a word is there to be read.
TSDB_BOTH_WAYS void Step(const Tables& tables, unsigned log, std::uint64_t mask, Lane* lane, std::size_t i) {
  const std::uint64_t state = TakeToken(tables, log, mask, lane, i);
  FillUp(state, (state - kStateMin) >> 63, lane->next, lane);
}

/// The same where the words may be at their end; a stream has two bytes at least.
TSDB_BOTH_WAYS void StepNearEnd(const Tables& tables, unsigned log, std::uint64_t mask, Lane* lane, std::size_t i) {
  const std::uint64_t state = TakeToken(tables, log, mask, lane, i);
  const char* const last = lane->end - 2;
  const std::uint64_t there = lane->next <= last ? 1 : 0;
  FillUp(state, (state - kStateMin) >> 63 & there, there != 0 ? lane->next : last, lane);
}

TSDB_BOTH_WAYS bool HasStride(const Lane& lane) {
  return lane.end - lane.next >= static_cast<std::ptrdiff_t>(2 * kStride);
}

/// Decodes the tokens that all lanes have, side by side. The lanes are written out so that they stay in registers.
template <std::size_t... kLane>
TSDB_BOTH_WAYS void DecodeTogether(const Tables& tables, std::size_t count, std::array<Lane, sizeof...(kLane)>* lanes,
                                   std::index_sequence<kLane...>) {
  const unsigned log = tables.log;
  const std::uint64_t mask = (std::uint64_t{1} << log) - 1;
  std::array<Lane, sizeof...(kLane)> at = *lanes;
  std::size_t i = 0;
  while (i + kStride <= count && (HasStride(at[kLane]) && ...)) {
    for (const std::size_t end = i + kStride; i < end; ++i) {
      (Step(tables, log, mask, &at[kLane], i), ...);
    }
  }
  for (; i < count; ++i) {
    (StepNearEnd(tables, log, mask, &at[kLane], i), ...);
  }
  *lanes = at;
}

template <std::size_t kLanes>
TSDB_BOTH_WAYS void DecodeLanes(const Tables& tables, std::span<Stream> streams) {
  std::array<Lane, kLanes> lanes;
  std::size_t common = streams[0].count;
  for (std::size_t l = 0; l < kLanes; ++l) {
    const std::string_view bytes = streams[l].bytes;
    lanes[l] = {LoadFixed<std::uint32_t>(bytes.data()), 0, bytes.data() + kStateBytes, bytes.data() + bytes.size(),
                streams[l].tokens};
    common = std::min(common, streams[l].count);
  }
  DecodeTogether(tables, common, &lanes, std::make_index_sequence<kLanes>());
  for (std::size_t l = 0; l < kLanes; ++l) {
    Lane lane = lanes[l];
    for (std::size_t i = common; i < streams[l].count; ++i) {
      StepNearEnd(tables, tables.log, (std::uint64_t{1} << tables.log) - 1, &lane, i);
    }
    streams[l].state = static_cast<std::uint32_t>(lane.state);
    streams[l].used = static_cast<std::size_t>(lane.next - streams[l].bytes.data());
  }
}

TSDB_BOTH_WAYS void DecodeAll(const Tables& tables, std::span<Stream> streams) {
  switch (streams.size()) {
    case 1:
      return DecodeLanes<1>(tables, streams);
    case 2:
      return DecodeLanes<2>(tables, streams);
    case 3:
      return DecodeLanes<3>(tables, streams);
    default:
      return DecodeLanes<4>(tables, streams);
  }
}

TSDB_BIT_INSTRUCTIONS void DecodeWithBitInstructions(const Tables& tables, std::span<Stream> streams) {
  DecodeAll(tables, streams);
}
void DecodeAnywhere(const Tables& tables, std::span<Stream> streams) { DecodeAll(tables, streams); }

}  // namespace

void Tables::SetContext(std::size_t context, const Frequencies& frequencies) {
  // Eight at a time: what is too much is written over by what follows.
  std::uint32_t* entry = entries.data() + (context << log);
  for (std::size_t token = 0; token < kTokensMax; ++token) {
    const std::uint32_t frequency = frequencies[token];
    const std::uint32_t fixed = static_cast<std::uint32_t>(token) << 24 | (frequency - 1);
    for (std::uint32_t place = 0; place < frequency; place += kEntriesAtOnce) {
      for (std::uint32_t k = 0; k < kEntriesAtOnce; ++k) {
        entry[place + k] = fixed + ((place + k) << 12);
      }
    }
    entry += frequency;
  }
}

bool DecodeStreams(const Tables& tables, std::span<Stream> streams) {
  for (const Stream& stream : streams) {
    if (stream.bytes.size() < kStateBytes) {
      return false;
    }
  }
  if (UseBitInstructions()) {
    DecodeWithBitInstructions(tables, streams);
  } else {
    DecodeAnywhere(tables, streams);
  }
  return true;
}

void EncodeStream(std::span<const std::uint8_t> tokens, std::span<const EncoderTable> tables,
                  std::span<const std::uint8_t, kTokensMax> contexts, unsigned log, std::uint32_t last_state,
                  std::string* out) {
  // From the last token to the first; a reader goes the other way.
  std::vector<std::uint16_t> words;
  words.reserve(tokens.size() / 2);
  std::uint32_t state = last_state;
  for (std::size_t i = tokens.size(); i-- > 0;) {
    const EncoderTable& table = tables[i == 0 ? kFirstContext : contexts[tokens[i - 1]]];
    const std::uint32_t frequency = table.frequency[tokens[i]];
    if (std::uint64_t{state} >= std::uint64_t{frequency} << (32 - log)) {
      words.push_back(static_cast<std::uint16_t>(state));
      state >>= 16;
    }
    state = ((state / frequency) << log) + state % frequency + table.first[tokens[i]];
  }
  PutFixed32(out, state);
  for (std::size_t k = words.size(); k-- > 0;) {
    out->push_back(static_cast<char>(words[k] & 255));
    out->push_back(static_cast<char>(words[k] >> 8));
  }
}

}  // namespace tsdb::chunk::rans
