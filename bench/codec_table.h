// Tables of the codecs over the data files: bytes per value and speeds, beside plain Gorilla XOR (VLDB'15), zstd on the
// raw columns and zstd on byte-split columns as yardsticks.
//
// The files are gzip CSV (`timestamp_ms,value` or `series,timestamp_ms,value`) in $TSDB_DATA_DIR, by default
// ../shared/data beside the source tree.
//
// Thread safety: none.
#pragma once

namespace tsdb::chunk {

/// Prints the tables as Markdown and checks that every codec gives the samples back. The exit code: 1 when one does
/// not, or there are no files.
int WriteCodecTable();

}  // namespace tsdb::chunk
