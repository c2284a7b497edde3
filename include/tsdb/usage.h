// Usage: which series cost the bytes of the chunk files.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tsdb/query.h"

namespace tsdb {

/// Chunks whose values have one encoding (docs/format/encodings.md).
struct EncodingUsage {
  std::string name;
  std::uint64_t chunks = 0;
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;  // of the values
};

/// What one series costs in chunk files. A column of times that several series share is counted for the first of them;
/// the directory of a file is counted by chunks.
struct SeriesUsage {
  SeriesInfo series;
  std::uint64_t samples = 0;
  std::uint64_t chunks = 0;
  std::uint64_t time_bytes = 0;
  std::uint64_t value_bytes = 0;
  std::uint64_t directory_bytes = 0;
  std::vector<EncodingUsage> encodings;
  std::uint64_t bytes() const { return time_bytes + value_bytes + directory_bytes; }
};

}  // namespace tsdb
