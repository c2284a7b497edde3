#include "index/id_block.h"

#include "base/coding.h"

namespace tsdb::index {

namespace {

constexpr char kList = 0;
constexpr char kBitmap = 1;
constexpr char kRuns = 2;
constexpr std::size_t kBitmapBytes = kBlockIds / 8;

std::string EncodeList(const std::vector<std::uint16_t>& lows) {
  std::string out(1, kList);
  std::uint64_t next = 0;
  for (const std::uint16_t low : lows) {
    PutVarint(&out, low - next);
    next = std::uint64_t{low} + 1;
  }
  return out;
}

std::string EncodeRuns(const std::vector<std::uint16_t>& lows) {
  std::string out(1, kRuns);
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < lows.size();) {
    std::size_t end = i + 1;
    while (end < lows.size() && lows[end] == lows[end - 1] + 1) {
      ++end;
    }
    PutVarint(&out, lows[i] - next);
    PutVarint(&out, end - i - 1);
    next = std::uint64_t{lows[i]} + (end - i);
    i = end;
  }
  return out;
}

std::string EncodeBitmap(const std::vector<std::uint16_t>& lows) {
  std::string out(1 + kBitmapBytes, '\0');
  out[0] = kBitmap;
  for (const std::uint16_t low : lows) {
    char& byte = out[1 + low / 8];
    byte = static_cast<char>(static_cast<unsigned char>(byte) | (1u << (low % 8)));
  }
  return out;
}

// Calls run(first, count) for each run of the block, in order.
template <typename Run>
bool VisitBlock(std::string_view bytes, Run&& run) {
  if (bytes.size() < 2) {
    return false;
  }
  const char form = bytes[0];
  bytes.remove_prefix(1);
  if (form == kBitmap) {
    if (bytes.size() != kBitmapBytes) {
      return false;
    }
    bool any = false;
    for (std::size_t i = 0; i < kBitmapBytes; ++i) {
      for (unsigned bits = static_cast<unsigned char>(bytes[i]); bits != 0; bits &= bits - 1) {
        run(i * 8 + static_cast<std::size_t>(std::countr_zero(bits)), std::size_t{1});
        any = true;
      }
    }
    return any;
  }
  if (form != kList && form != kRuns) {
    return false;
  }
  ByteReader reader(bytes);
  std::uint64_t next = 0;
  while (!reader.empty()) {
    std::uint64_t gap = 0;
    std::uint64_t more = 0;
    if (!reader.ReadVarint(&gap) || (form == kRuns && !reader.ReadVarint(&more)) || gap >= kBlockIds ||
        more >= kBlockIds || next + gap + more >= kBlockIds) {
      return false;
    }
    run(static_cast<std::size_t>(next + gap), static_cast<std::size_t>(more + 1));
    next += gap + more + 1;
  }
  return reader.ok();
}

}  // namespace

void EncodeIdBlock(const std::vector<std::uint16_t>& lows, std::string* out) {
  std::string best = EncodeList(lows);
  if (lows.size() > 2) {
    if (std::string runs = EncodeRuns(lows); runs.size() < best.size()) {
      best = std::move(runs);
    }
    if (best.size() > 1 + kBitmapBytes) {
      best = EncodeBitmap(lows);
    }
  }
  out->append(best);
}

bool DecodeIdBlock(std::string_view bytes, std::vector<std::uint16_t>* lows) {
  lows->clear();
  return VisitBlock(bytes, [&](std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      lows->push_back(static_cast<std::uint16_t>(first + i));
    }
  });
}

bool DecodeIdBlockInto(std::string_view bytes, std::uint64_t block, IdSet* ids) {
  const std::uint64_t base = block * kBlockIds;
  if (!bytes.empty() && bytes[0] == kRuns) {
    return VisitBlock(bytes, [&](std::size_t first, std::size_t count) {
      ids->AddRange(base + first, base + first + count - 1);
    });
  }
  if (bytes.size() == 2 && bytes[0] == kList && static_cast<unsigned char>(bytes[1]) < 128) {
    ids->Add(base + static_cast<unsigned char>(bytes[1]));
    return true;
  }
  std::vector<std::uint16_t> lows;
  if (!DecodeIdBlock(bytes, &lows)) {
    return false;
  }
  ids->AddBlock(block, lows);
  return true;
}

}  // namespace tsdb::index
