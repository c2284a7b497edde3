// GroupReducer: rows of many series become rows of one: at each time the values of the series, column by column, are
// reduced by an aggregator.
//
// Holds a state per time and column; only what the aggregator needs.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <vector>

#include "base/exact_sum.h"
#include "engine/query/row_block.h"
#include "engine/query/spread.h"
#include "tsdb/query.h"

namespace tsdb::engine {

class GroupReducer {
 public:
  /// `newest_first`: rows of every series come in that order, and so do the results.
  GroupReducer(const Aggregation& reduce, bool newest_first) : reduce_(reduce), newest_first_(newest_first) {}

  /// False: this aggregator reduces no groups.
  static bool Reduces(Aggregator aggregator);

  /// Forgets all rows.
  void Clear();
  /// The next rows belong to another series.
  void NextSeries() { next_ = 0; }
  /// Takes in rows of a series, in its order.
  void Add(const ColumnBatch& batch);
  std::size_t size() const { return times_.size(); }
  std::size_t columns() const { return columns_.size(); }
  /// Replaces `rows` by up to `count` rows from `begin` on. Each row once.
  void Finish(std::size_t begin, std::size_t count, RowBlock* rows);
  Timestamp time(std::size_t row) const { return times_[row]; }

 private:
  struct Cell {
    std::uint32_t count = 0;  // numbers
    std::uint32_t all = 0;
    double min = 0;
    double max = 0;
  };
  struct Column {
    std::vector<Cell> cells;
    std::vector<ExactSum> sums;
    std::vector<Spread> spreads;
    std::vector<std::vector<double>> values;
  };
  bool Before(Timestamp a, Timestamp b) const { return newest_first_ ? a > b : a < b; }
  void MakeRoom(std::span<const Timestamp> times);
  void AddValue(Column* column, std::size_t row, double value) const;
  double FinishCell(Column* column, std::size_t row) const;

  const Aggregation reduce_;
  const bool newest_first_;
  std::vector<Timestamp> times_;
  std::vector<Column> columns_;
  std::size_t next_ = 0;  // where the next row of the series goes, or before that
};

}  // namespace tsdb::engine
