// RowBlock: some rows of one series: times and columns of values.
//
// Thread safety: value type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tsdb/query.h"
#include "tsdb/types.h"

namespace tsdb::engine {

/// Rows in a batch of aggregates.
inline constexpr std::size_t kBatchRows = 4096;

struct RowBlock {
  std::vector<Timestamp> times;
  std::vector<std::vector<double>> columns;

  std::size_t size() const { return times.size(); }
  bool empty() const { return times.empty(); }
  /// No rows, and so many columns; keeps memory.
  void Reset(std::size_t column_count) {
    times.clear();
    columns.resize(column_count);
    for (auto& column : columns) {
      column.clear();
    }
  }
  void Reverse() {
    std::reverse(times.begin(), times.end());
    for (auto& column : columns) {
      std::reverse(column.begin(), column.end());
    }
  }
  /// Views of `count` rows from `begin` on.
  void View(std::size_t begin, std::size_t count, ColumnBatch* batch) const {
    batch->times = std::span<const Timestamp>(times).subspan(begin, count);
    batch->columns.clear();
    for (const auto& column : columns) {
      batch->columns.push_back(std::span<const double>(column).subspan(begin, count));
    }
  }
  void Append(const ColumnBatch& batch) {
    times.insert(times.end(), batch.times.begin(), batch.times.end());
    columns.resize(batch.columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      columns[i].insert(columns[i].end(), batch.columns[i].begin(), batch.columns[i].end());
    }
  }
};

}  // namespace tsdb::engine
