// Bytes of a manifest edit: fields of tag, length and value. A tag says whether a reader that does not know it may skip
// it, so that later versions can add fields. Byte layout: docs/format/manifest.md.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "chunk/manifest.h"
#include "tsdb/status.h"

namespace tsdb::chunk {

/// What a frame of a manifest holds: a change, or (the first frame of each file) a whole state.
struct ManifestRecord {
  bool whole_state = false;
  /// Only of a whole state.
  std::uint64_t store_high = 0;
  std::uint64_t store_low = 0;
  ManifestEdit edit;
};

std::string EncodeEdit(const ManifestEdit& edit);
std::string EncodeState(const ManifestState& state);
/// Reads untrusted bytes. kCorruption, or kNotSupported for a required field this version does not know.
Status DecodeRecord(std::string_view data, ManifestRecord* record);
/// The state after a record: a whole state replaces it, a change is applied (see ApplyEdit).
Status ApplyRecord(const ManifestRecord& record, ManifestState* state);

}  // namespace tsdb::chunk
