// Bytes of a chunk's statistics in the directory: small decimal integers where the values are decimals. Byte layout:
// docs/format/chunk-file.md.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "base/coding.h"
#include "chunk/chunk_rows.h"

namespace tsdb::chunk {

/// Appends nan_count, min, max, first and last; the count is kept elsewhere.
void EncodeStatistics(const ChunkStatistics& statistics, std::string* out);
/// Reads what EncodeStatistics wrote, leaving `count` alone. False when the bytes are none.
bool DecodeStatistics(ByteReader* reader, ChunkStatistics* statistics);

}  // namespace tsdb::chunk
