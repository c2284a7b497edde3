// The two columns of one chunk of a chunk file: what may stay without bytes, and decoding by a row of the directory.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "chunk/chunk_rows.h"
#include "chunk/column_codec.h"
#include "tsdb/status.h"
#include "tsdb/types.h"

namespace tsdb::chunk {

/// No column of `count` samples is longer: what an encoder writes stays far below, so more is damage.
inline constexpr std::uint64_t ColumnBytesMax(std::uint64_t count) { return count * 16 + 1024; }

/// Names of encodings, those without bytes included ("even", "constant").
std::string_view TimesName(std::uint8_t encoding);
std::string_view ValuesName(std::uint8_t encoding);

/// True when the times are first, first + step, first + 2·step …
bool TimesAreEven(std::span<const Timestamp> times);
/// True when all values are the same bits. `values` is not empty.
bool ValuesAreConstant(std::span<const double> values);

/// Where the line from the first to the last of `count` times is at sample `index`, rounded down; the time itself when
/// times are even.
Timestamp LineTime(Timestamp first, Timestamp last, std::size_t count, std::size_t index);

/// Decodes a chunk's columns from their (untrusted) bytes, those described by the directory included; `out` has room
/// for entry.count. kCorruption when the bytes do not fit the entry.
Status DecodeTimeColumn(const ChunkEntry& entry, std::string_view data, Timestamp* out);
Status DecodeValueColumn(const ChunkEntry& entry, std::string_view data, double* out);

/// The same for some pages, which the entry has; `out` has room for SamplesInPages of them.
Status DecodeTimeColumn(const ChunkEntry& entry, std::string_view data, PageRange pages, Timestamp* out);
Status DecodeValueColumn(const ChunkEntry& entry, std::string_view data, PageRange pages, double* out);

}  // namespace tsdb::chunk
