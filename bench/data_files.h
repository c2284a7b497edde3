// The data files of the benchmarks: gzip CSV, `timestamp_ms,value` or `series,timestamp_ms,value`, one header line.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chunk/columns.h"

namespace tsdb::chunk {

struct DataFile {
  std::string name;
  std::vector<Columns> series;
  std::vector<std::string> names;  // of the series; empty strings in a file without them
  std::size_t samples() const {
    std::size_t n = 0;
    for (const Columns& s : series) {
      n += s.size();
    }
    return n;
  }
};

/// All *.csv.gz of $TSDB_DATA_DIR, by default ../shared/data beside the source tree, by name. Empty when there is none.
std::vector<DataFile> LoadFiles();

}  // namespace tsdb::chunk
