// The bytes of a manifest file: header and frames. Byte layout: docs/format/manifest.md.
//
//   | header | frame: state | seal | frame: edit | seal | frame: edit | seal |
//
// A seal is a frame without a record, written once the frame before it is synced. So a damaged frame with a seal (or
// another valid frame) behind it was acknowledged: that is corruption. One without was not: that is a torn tail. The
// seal itself is not synced: a power cut may lose it and keep the edit behind it. A gap of just the size of a seal is
// therefore stepped over.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tsdb/result.h"

namespace tsdb::chunk {

inline constexpr std::string_view kManifestMagic = "tsdbmani";
inline constexpr std::uint32_t kManifestVersion = 1;
inline constexpr std::size_t kManifestHeaderBytes = 32;
inline constexpr std::size_t kFrameHeaderBytes = 8;
/// Largest manifest file that is read.
inline constexpr std::uint64_t kManifestBytesMax = 1ull << 30;

std::string EncodeManifestHeader(std::uint64_t number);
/// The number in the header. kCorruption, kNotSupported (another version); the message starts at "@0: …".
Result<std::uint64_t> DecodeManifestHeader(std::string_view file);

/// Appends a frame that is to stand at `offset` of manifest `number`. An empty record is a seal.
void AppendFrame(std::string_view record, std::uint64_t number, std::uint64_t offset, std::string* out);

struct ManifestFrame {
  std::uint64_t offset = 0;
  std::string_view record;  // empty: a seal
};

struct ManifestScan {
  /// Where the valid frames end.
  std::uint64_t valid_bytes = 0;
  /// The last valid frame is a seal and nothing follows: the file may be appended to.
  bool sealed = false;
  /// What is wrong behind valid_bytes; empty when nothing follows.
  std::string torn;
  /// Offset of the last seal that is damaged while an edit follows it (no edit is lost with it); 0: none.
  std::uint64_t lost_seal = 0;
};

/// Visits the frames after the header. kCorruption ("@offset: …") for a damaged frame that was acknowledged; an error
/// of `visit` ends the scan and is returned.
Result<ManifestScan> ScanManifest(std::string_view file, std::uint64_t number,
                                  const std::function<Status(const ManifestFrame&)>& visit);

/// CURRENT's content: name and checksum in one line of text.
std::string EncodeCurrent(std::uint64_t number);
/// The number of the manifest CURRENT names. kCorruption.
Result<std::uint64_t> DecodeCurrent(std::string_view content);

}  // namespace tsdb::chunk
