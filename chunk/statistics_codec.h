// Bytes of a chunk's statistics in the directory: small decimal integers where the values are decimals. Byte layout:
// docs/format/chunk-file.md, "Statistics".
//
// Kept are the first and last number of the chunk and, per page, extremes, sum and resets; the chunk's own follow from
// its pages'.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "base/coding.h"
#include "chunk/chunk_statistics.h"

namespace tsdb::chunk {

/// Appends everything but the count of values, which is kept elsewhere.
void EncodeStatistics(const ChunkStatistics& statistics, std::string* out);
/// Reads what EncodeStatistics wrote for `count` values. False when the bytes are none.
bool DecodeStatistics(ByteReader* reader, std::uint32_t count, ChunkStatistics* statistics);

}  // namespace tsdb::chunk
