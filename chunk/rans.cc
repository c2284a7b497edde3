#include "chunk/rans.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/coding.h"

namespace tsdb::chunk::rans {
namespace {

/// Between two tokens a state is at least this, but for the start of a stream without bits of the caller's.
constexpr std::uint32_t kStateMin = 1u << 16;
/// Tokens between two looks at the end of the words; each takes one word at most.
constexpr std::size_t kStride = 8;

struct Lane {
  std::uint32_t state;
  std::uint32_t context;  // first entry of its table
  const char* next;
  const char* end;
  std::uint8_t* out;
};

/// One token; a word is there to be read.
inline void Step(const Tables& tables, unsigned log, Lane* lane, std::size_t i) {
  const std::uint32_t entry = tables.entries[lane->context + (lane->state & ((1u << log) - 1))];
  const std::uint32_t token = entry >> 24;
  lane->out[i] = static_cast<std::uint8_t>(token);
  lane->context = tables.next[token];
  const std::uint32_t state = ((entry & 0xfff) + 1) * (lane->state >> log) + (entry >> 12 & 0xfff);
  // Without a branch: whether a word is due is what nobody can foretell.
  const std::uint32_t filled = state << 16 | LoadFixed<std::uint16_t>(lane->next);
  const std::uint32_t low = state < kStateMin ? 1 : 0;
  lane->next += 2 * low;
  lane->state = state ^ ((state ^ filled) & (0 - low));
}

/// The same where the words may be at their end.
inline void StepNearEnd(const Tables& tables, unsigned log, Lane* lane, std::size_t i) {
  const std::uint32_t entry = tables.entries[lane->context + (lane->state & ((1u << log) - 1))];
  const std::uint32_t token = entry >> 24;
  lane->out[i] = static_cast<std::uint8_t>(token);
  lane->context = tables.next[token];
  lane->state = ((entry & 0xfff) + 1) * (lane->state >> log) + (entry >> 12 & 0xfff);
  if (lane->state < kStateMin && lane->end - lane->next >= 2) {
    lane->state = lane->state << 16 | LoadFixed<std::uint16_t>(lane->next);
    lane->next += 2;
  }
}

bool HasStride(const Lane& lane) { return lane.end - lane.next >= static_cast<std::ptrdiff_t>(2 * kStride); }

/// Decodes the tokens that all lanes have, side by side, as long as none is near its end; returns how many. The lanes
/// are written out so that they stay in registers.
template <std::size_t... kLane>
std::size_t DecodeTogether(const Tables& tables, std::size_t count, std::array<Lane, sizeof...(kLane)>* lanes,
                           std::index_sequence<kLane...>) {
  const unsigned log = tables.log;
  std::array<Lane, sizeof...(kLane)> at = *lanes;
  std::size_t i = 0;
  while (i + kStride <= count && (HasStride(at[kLane]) && ...)) {
    for (const std::size_t end = i + kStride; i < end; ++i) {
      (Step(tables, log, &at[kLane], i), ...);
    }
  }
  *lanes = at;
  return i;
}

template <std::size_t kLanes>
void DecodeLanes(const Tables& tables, std::span<Stream> streams) {
  std::array<Lane, kLanes> lanes;
  std::size_t common = streams[0].count;
  for (std::size_t l = 0; l < kLanes; ++l) {
    const std::string_view bytes = streams[l].bytes;
    lanes[l] = {LoadFixed<std::uint32_t>(bytes.data()), 0, bytes.data() + kStateBytes, bytes.data() + bytes.size(),
                streams[l].tokens};
    common = std::min(common, streams[l].count);
  }
  const std::size_t done = DecodeTogether(tables, common, &lanes, std::make_index_sequence<kLanes>());
  for (std::size_t l = 0; l < kLanes; ++l) {
    Lane lane = lanes[l];
    std::size_t k = done;
    for (; k + kStride <= streams[l].count && HasStride(lane);) {
      for (const std::size_t end = k + kStride; k < end; ++k) {
        Step(tables, tables.log, &lane, k);
      }
    }
    for (; k < streams[l].count; ++k) {
      StepNearEnd(tables, tables.log, &lane, k);
    }
    streams[l].state = lane.state;
    streams[l].used = static_cast<std::size_t>(lane.next - streams[l].bytes.data());
  }
}

}  // namespace

void Tables::SetContext(std::size_t context, const Frequencies& frequencies) {
  std::uint32_t* entry = entries.data() + (context << log);
  for (std::size_t token = 0; token < kTokensMax; ++token) {
    const std::uint32_t frequency = frequencies[token];
    const std::uint32_t fixed = static_cast<std::uint32_t>(token) << 24 | (frequency - 1);
    for (std::uint32_t place = 0; place < frequency; ++place) {
      *entry++ = fixed | place << 12;
    }
  }
}

bool DecodeStreams(const Tables& tables, std::span<Stream> streams) {
  for (const Stream& stream : streams) {
    if (stream.bytes.size() < kStateBytes) {
      return false;
    }
  }
  switch (streams.size()) {
    case 1:
      DecodeLanes<1>(tables, streams);
      break;
    case 2:
      DecodeLanes<2>(tables, streams);
      break;
    case 3:
      DecodeLanes<3>(tables, streams);
      break;
    default:
      DecodeLanes<4>(tables, streams);
      break;
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
