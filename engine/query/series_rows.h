// SeriesRows: the rows a query gives for one series, batch by batch: samples, or aggregates with filled gaps; forwards
// or from the newest on.
//
//   from the newest on: windows of whole buckets, the latest first; each is read forwards and turned round
//
// Thread safety: none; one per thread.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/query/bucket_filler.h"
#include "engine/query/bucket_scan.h"
#include "engine/query/row_block.h"
#include "engine/query/series_reader.h"

namespace tsdb::engine {

class SeriesRows {
 public:
  SeriesRows(QueryPlan& plan, DirectoryCache& cache, QueryStatistics* counts)
      : plan_(plan), counts_(*counts), reader_(plan, cache, counts), scan_(plan), filler_(plan) {}

  /// Where a page before this one ended.
  struct Resume {
    Timestamp row_time = 0;
    std::uint64_t rows_given = 0;
  };
  Status Open(SeriesId id, const std::optional<Resume>& resume);
  /// The next rows, at most a few thousand; no rows at the end. Views are valid until the next call.
  Status Next(ColumnBatch* batch);

 private:
  Status NextSamples(ColumnBatch* batch);
  Status NextBackwards(ColumnBatch* batch);
  Status NextAggregates(ColumnBatch* batch);
  Status ReadWindow(TimeRange window);
  Status OpenLatest(SeriesId id);
  bool aggregates() const { return !plan_.spec.aggregators.empty(); }

  QueryPlan& plan_;
  QueryStatistics& counts_;
  SeriesReader reader_;
  BucketScan scan_;
  BucketFiller filler_;
  TimeRange range_;           // of the rows to give
  bool exhausted_ = true;
  std::uint64_t rows_left_ = 0;
  RowBlock rows_;
  // From the newest on.
  std::size_t next_row_ = 0;  // of rows_
  Timestamp window_end_ = 0;
  bool first_window_ = true;
};

}  // namespace tsdb::engine
