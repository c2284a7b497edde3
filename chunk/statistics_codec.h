// Bits of a chunk's statistics in the directory: small decimal integers where the values are decimals. Layout:
// docs/format/chunk-file.md, "Statistics".
//
// Kept are the first and last number of the chunk and, per part of one or more pages, extremes, sum and resets; the
// chunk's own follow from its parts'.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "chunk/chunk_statistics.h"

namespace tsdb::chunk {

/// Statistics of more than one page are kept for parts of so many pages that they take at most a byte for this many
/// values, if any parts do.
inline constexpr std::uint32_t kValuesPerStatisticsByte = 50;

/// Appends everything but the count of values, which is kept elsewhere. `statistics` are those of single pages; what is
/// read back has the page_step that was chosen.
void EncodeStatistics(const ChunkStatistics& statistics, std::string* out);
/// Reads what EncodeStatistics wrote for `count` values. False when the bytes are none.
bool DecodeStatistics(std::string_view bytes, std::uint32_t count, ChunkStatistics* statistics);

}  // namespace tsdb::chunk
