// Segment framing, shared by the writer and the readers. Byte layout: docs/format/wal.md.
//
//   segment = header (80 bytes) · frame*          frame = header (64 bytes) · payload · zeros up to a multiple of 8
//
// A frame holds the records of one group; all checksums are seeded with the place (and, for frames, the store), so that
// bytes copied to another place or from another database do not verify.
//
// Not here: files (segment_reader.h, log_writer.h) and what the records mean (record.h).
// Thread safety: values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tsdb/types.h"
#include "wal/log.h"

namespace tsdb::wal {

inline constexpr std::uint32_t kSegmentVersion = 1;
inline constexpr std::size_t kSegmentHeaderBytes = 80;
inline constexpr std::size_t kFrameHeaderBytes = 64;
/// Frames begin at multiples of this, so that a reader finds the next one behind damage.
inline constexpr std::size_t kFrameAlignment = 8;
/// Upper bound of one record's payload.
inline constexpr std::uint64_t kRecordBytesMax = 1ull << 30;

/// The header's layout is the same in all versions; `version` is about the frames and records behind it.
struct SegmentHeader {
  std::uint32_t version = kSegmentVersion;
  StoreId store_id;
  std::uint64_t number = 0;
  /// Segment written before this one, 0 for none; for people, readers do not depend on it.
  std::uint64_t prior_number = 0;
  /// Valid history before this segment ends here, and all of it was synced when the header was written.
  CommitNumber last_valid;
  std::int64_t wall_nanos = 0;
};

struct FrameHeader {
  std::uint32_t payload_bytes = 0;
  std::uint32_t records = 0;
  CommitNumber first;     // record i has commit first + i
  CommitNumber previous;  // last valid commit before this frame; numbers between it and `first` failed
  CommitNumber synced;    // commits up to here were synced, or had failed, when this frame was written
  std::int64_t wall_nanos = 0;
  std::uint32_t flags = 0;  // none defined in version 1
  std::uint64_t payload_checksum = 0;

  CommitNumber last() const { return {first.value + records - 1}; }
};

/// The frame's bytes rounded up to the alignment.
inline std::uint64_t FrameBytes(std::uint64_t payload_bytes) {
  return (kFrameHeaderBytes + payload_bytes + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
}

/// Seed of the checksums of the frame at `offset` of segment `number`.
std::uint64_t FrameSeed(const StoreId& store, std::uint64_t number, std::uint64_t offset);

/// Writes kSegmentHeaderBytes at `out`.
void EncodeSegmentHeader(const SegmentHeader& header, char* out);
/// False when the bytes are too few, or not the header of segment `number`. Does not judge the version or the store.
bool DecodeSegmentHeader(std::string_view bytes, std::uint64_t number, SegmentHeader* header);

/// Writes kFrameHeaderBytes at `frame`, whose payload (header.payload_bytes) stands behind them. Computes both
/// checksums.
void SealFrame(char* frame, const FrameHeader& header, std::uint64_t seed);
/// Writes the checksums of a sealed frame anew for another place.
void ResealFrame(char* frame, std::uint64_t seed);
/// Reads a header without verifying it: of frames of our own making.
FrameHeader LoadFrameHeader(const char* frame);
/// False when the kFrameHeaderBytes at `bytes` are no frame header of this place, or its fields contradict each other.
bool DecodeFrameHeader(const char* bytes, std::uint64_t seed, FrameHeader* header);
bool PayloadMatches(const FrameHeader& header, std::string_view payload, std::uint64_t seed);

/// The number in "000017.log"; nothing for any other name.
std::optional<std::uint64_t> ParseSegmentFileName(std::string_view name);

}  // namespace tsdb::wal
