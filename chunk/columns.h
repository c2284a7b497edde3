// Columns: samples of one series as two arrays, and their merging.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tsdb/types.h"

namespace tsdb::chunk {

/// Times strictly rise; both arrays are equally long.
struct Columns {
  std::vector<Timestamp> times;
  std::vector<double> values;

  std::size_t size() const { return times.size(); }
  bool empty() const { return times.empty(); }
  void Clear() {
    times.clear();
    values.clear();
  }
  void Append(Timestamp time, double value) {
    times.push_back(time);
    values.push_back(value);
  }
};

struct ColumnsView {
  std::span<const Timestamp> times;
  std::span<const double> values;
};

/// Merges inputs given oldest first into `out` (cleared): ascending times; on equal time the later input wins.
/// Inputs that do not overlap are copied whole.
void MergeColumns(std::span<const ColumnsView> oldest_first, Columns* out);

/// Keeps only the samples with range.from <= time <= range.to.
ColumnsView Slice(ColumnsView columns, TimeRange range);

}  // namespace tsdb::chunk
