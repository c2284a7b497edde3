// The bytes of a run of puts: one control byte each, then what it names of id, time and value. Layout:
// docs/format/wal.md, "put".
//
//   control = id code (bits 0-1) | time code (bits 2-3) | value code (bits 4-7)
//
// Both directions work without branches on lengths: 8 bytes are stored or loaded and the pointer moves by what counts.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "wal/record.h"

namespace tsdb::wal {

/// Most bytes a put takes: control, id, time, value.
inline constexpr std::size_t kPutBytesMax = 1 + 8 + 8 + 8;

/// Appends the puts (without their count).
void EncodePuts(std::span<const Put> puts, std::string* out);
/// Decodes `count` puts that fill `bytes` exactly and hands them over in runs. False as `*damaged` when the bytes are
/// no such puts; otherwise an error is the visitor's.
Status DecodePuts(std::string_view bytes, std::uint64_t count, RecordVisitor& visitor, bool* damaged);

}  // namespace tsdb::wal
