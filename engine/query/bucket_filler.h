// BucketFiller: the rows of a BucketScan, with rows for the empty buckets between them (Fill, aggregation.h).
//
//   … row · gap · row · gap …       a gap at an end of the window is filled when the series has samples beyond it
//
// Gaps are made row by row as they are asked for.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/query/bucket_scan.h"
#include "engine/query/row_block.h"
#include "engine/query/series_reader.h"

namespace tsdb::engine {

class BucketFiller {
 public:
  explicit BucketFiller(QueryPlan& plan) : plan_(plan), scan_(plan) { scan_.KeepEdges(true); }

  /// Begins with the buckets of `window`, which lies in the range of the query.
  Status Start(SeriesReader* reader, TimeRange window);
  /// Replaces the rows by the next ones, at most `rows_max`; none at the end.
  Status Next(std::size_t rows_max, RowBlock* rows);

 private:
  struct Row {
    Timestamp time = 0;
    std::vector<double> values;
    double last = 0;                    // value of the newest sample in or before its bucket
    std::optional<Number> left;         // of a gap behind it: the numbers on both sides
    std::optional<Number> right;
  };
  Status FetchRow();
  Status LookBehind();
  Result<std::optional<Row>> RowBeside(Timestamp time, TimeRange part);
  double FillValue(std::size_t column, const Bucket& bucket, Timestamp row_time) const;
  void EmitGapRow(RowBlock* rows);

  QueryPlan& plan_;
  BucketScan scan_;
  SeriesReader* reader_ = nullptr;
  TimeRange window_;
  RowBlock block_;
  std::size_t next_ = 0;        // row of the block
  std::optional<Row> before_;   // the last row; or what is known of samples before the window
  std::optional<Row> row_;      // the one that comes behind the gap
  bool before_has_values_ = false;
  bool row_is_beyond_ = false;  // of the window: it only ends the gap
  Bucket gap_;                  // the next bucket that is due
  bool gap_open_ = false;       // it is empty
  Timestamp gap_end_ = 0;       // where the gap ends: begin of a bucket, or the end of the window
  bool due_ = true;             // there is a next bucket
  bool ended_ = false;
  std::uint64_t filled_ = 0;
};

}  // namespace tsdb::engine
