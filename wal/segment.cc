#include "wal/segment.h"

#include <charconv>
#include <cstring>
#include <limits>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/safeguard.h"
#include "wal/replay.h"

namespace tsdb::wal {
namespace {

constexpr std::string_view kSegmentMagic = "tsdb-wal";
constexpr std::uint32_t kFrameMagic = 0x4d415246;  // "FRAM"

// Offsets in the segment header.
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kStoreHighAt = 16;
constexpr std::size_t kStoreLowAt = 24;
constexpr std::size_t kNumberAt = 32;
constexpr std::size_t kPriorNumberAt = 40;
constexpr std::size_t kLastValidAt = 48;
constexpr std::size_t kSegmentWallAt = 56;
constexpr std::size_t kSegmentChecksumAt = 72;

// Offsets in the frame header.
constexpr std::size_t kPayloadBytesAt = 4;
constexpr std::size_t kFirstAt = 8;
constexpr std::size_t kPreviousAt = 16;
constexpr std::size_t kSyncedAt = 24;
constexpr std::size_t kFrameWallAt = 32;
constexpr std::size_t kRecordsAt = 40;
constexpr std::size_t kFlagsAt = 44;
constexpr std::size_t kPayloadChecksumAt = 48;
constexpr std::size_t kHeaderChecksumAt = 56;

// Finaliser of SplitMix64 (Steele, Lea, Flood 2014): spreads neighbouring places over the seed space.
std::uint64_t Mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

void StoreHeaderChecksum(char* frame, std::uint64_t seed) {
  StoreFixed(frame + kHeaderChecksumAt, Checksum64({frame, kHeaderChecksumAt}, seed));
}

}  // namespace

std::uint64_t FrameSeed(const StoreId& store, std::uint64_t number, std::uint64_t offset) {
  return Mix(Mix(Mix(Mix(store.high) ^ store.low) ^ number) ^ offset);
}

void EncodeSegmentHeader(const SegmentHeader& header, char* out) {
  std::memset(out, 0, kSegmentHeaderBytes);
  std::memcpy(out, kSegmentMagic.data(), kSegmentMagic.size());
  StoreFixed(out + kVersionAt, header.version);
  StoreFixed(out + kStoreHighAt, header.store_id.high);
  StoreFixed(out + kStoreLowAt, header.store_id.low);
  StoreFixed(out + kNumberAt, header.number);
  StoreFixed(out + kPriorNumberAt, header.prior_number);
  StoreFixed(out + kLastValidAt, header.last_valid.value);
  StoreFixed(out + kSegmentWallAt, header.wall_nanos);
  StoreFixed(out + kSegmentChecksumAt, Checksum64({out, kSegmentChecksumAt}, header.number));
}

bool DecodeSegmentHeader(std::string_view bytes, std::uint64_t number, SegmentHeader* header) {
  if (bytes.size() < kSegmentHeaderBytes || !bytes.starts_with(kSegmentMagic)) {
    return false;
  }
  const char* p = bytes.data();
  if (LoadFixed<std::uint64_t>(p + kNumberAt) != number ||
      TSDB_MISMATCH("wal/segment-header", LoadFixed<std::uint64_t>(p + kSegmentChecksumAt) !=
                                              Checksum64({p, kSegmentChecksumAt}, number))) {
    return false;
  }
  header->version = LoadFixed<std::uint32_t>(p + kVersionAt);
  header->store_id = {LoadFixed<std::uint64_t>(p + kStoreHighAt), LoadFixed<std::uint64_t>(p + kStoreLowAt)};
  header->number = number;
  header->prior_number = LoadFixed<std::uint64_t>(p + kPriorNumberAt);
  header->last_valid = {LoadFixed<std::uint64_t>(p + kLastValidAt)};
  header->wall_nanos = LoadFixed<std::int64_t>(p + kSegmentWallAt);
  return true;
}

void SealFrame(char* frame, const FrameHeader& header, std::uint64_t seed) {
  StoreFixed(frame, kFrameMagic);
  StoreFixed(frame + kPayloadBytesAt, header.payload_bytes);
  StoreFixed(frame + kFirstAt, header.first.value);
  StoreFixed(frame + kPreviousAt, header.previous.value);
  StoreFixed(frame + kSyncedAt, header.synced.value);
  StoreFixed(frame + kFrameWallAt, header.wall_nanos);
  StoreFixed(frame + kRecordsAt, header.records);
  StoreFixed(frame + kFlagsAt, header.flags);
  ResealFrame(frame, seed);
}

void ResealFrame(char* frame, std::uint64_t seed) {
  const std::string_view payload(frame + kFrameHeaderBytes, LoadFixed<std::uint32_t>(frame + kPayloadBytesAt));
  StoreFixed(frame + kPayloadChecksumAt, Checksum64(payload, seed));
  StoreHeaderChecksum(frame, seed);
}

FrameHeader LoadFrameHeader(const char* frame) {
  FrameHeader header;
  header.payload_bytes = LoadFixed<std::uint32_t>(frame + kPayloadBytesAt);
  header.first = {LoadFixed<std::uint64_t>(frame + kFirstAt)};
  header.previous = {LoadFixed<std::uint64_t>(frame + kPreviousAt)};
  header.synced = {LoadFixed<std::uint64_t>(frame + kSyncedAt)};
  header.wall_nanos = LoadFixed<std::int64_t>(frame + kFrameWallAt);
  header.records = LoadFixed<std::uint32_t>(frame + kRecordsAt);
  header.flags = LoadFixed<std::uint32_t>(frame + kFlagsAt);
  header.payload_checksum = LoadFixed<std::uint64_t>(frame + kPayloadChecksumAt);
  return header;
}

bool DecodeFrameHeader(const char* bytes, std::uint64_t seed, FrameHeader* header) {
  if (LoadFixed<std::uint32_t>(bytes) != kFrameMagic ||
      TSDB_MISMATCH("wal/frame-header", LoadFixed<std::uint64_t>(bytes + kHeaderChecksumAt) !=
                                            Checksum64({bytes, kHeaderChecksumAt}, seed))) {
    return false;
  }
  *header = LoadFrameHeader(bytes);
  // Each record takes at least the byte of its length, so the payload bounds the count.
  return header->records > 0 && header->records <= header->payload_bytes && header->first > header->previous &&
         header->first > header->synced &&
         header->first.value <= std::numeric_limits<std::uint64_t>::max() - header->records;
}

bool PayloadMatches(const FrameHeader& header, std::string_view payload, std::uint64_t seed) {
  return payload.size() == header.payload_bytes &&
         !TSDB_MISMATCH("wal/payload", Checksum64(payload, seed) != header.payload_checksum);
}

std::string SegmentFileName(std::uint64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < 6) {
    digits.insert(0, 6 - digits.size(), '0');
  }
  return digits + ".log";
}

std::optional<std::uint64_t> ParseSegmentFileName(std::string_view name) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || SegmentFileName(number) != name) {
    return std::nullopt;
  }
  return number;
}

}  // namespace tsdb::wal
