// Query: a selector, a time range, and either raw samples or aggregates per bucket; results are streamed series by
// series in column batches. Rules and examples: docs/queries.md.
//
//   auto result = *db->Query(spec);
//   while (result->NextSeries()) { while (result->NextBatch(&batch)) use(result->series(), batch); }
//   if (!result->status().ok()) ...
//
// In this order: series are selected; samples outside the range or refused by a filter are left out; the rest is
// aggregated per bucket; empty buckets are filled; series are reduced to groups, or joined; limit and page cut.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "tsdb/aggregation.h"
#include "tsdb/labels.h"
#include "tsdb/options.h"
#include "tsdb/selector.h"
#include "tsdb/types.h"

namespace tsdb {

/// Values from min to max, both included. NaN is in none.
struct ValueRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool Contains(double v) const { return min <= v && v <= max; }
};

/// What a query may cost. Each is checked while it runs; more is kResourceExhausted and says which limit it was.
struct QueryLimits {
  /// Series in all; 0 for all.
  std::uint64_t series_max = 0;
  /// Samples looked at one by one (those answered by statistics do not count); 0 for any number.
  std::uint64_t samples_max = 0;
  /// Rows held at once where a query must hold them: buckets made by filling, rows of a group, columns of a join.
  std::uint64_t buckets_max = 10'000'000;
  /// Wall time from the call of Query on, in milliseconds; longer is kCancelled. 0 for any.
  std::int64_t time_ms_max = 0;
};

/// Keeps the `count` series with the largest (smallest) aggregate over the whole range; they come in that order, on
/// equal aggregates by id. Series whose aggregate is NaN come last.
struct TopSeries {
  std::uint64_t count = 0;  // 0: all series, by id
  Aggregation by = Aggregator::kMax;
  bool smallest = false;
};

struct QuerySpec {
  Selector selector;
  /// Not empty: these series instead of the selector, in this order. One that is not there is kNotFound.
  std::vector<SeriesRef> series;
  /// Both ends included.
  TimeRange range;

  // Filters, before everything else.
  std::optional<ValueRange> values;
  /// Not empty: only samples at exactly these times, in any order.
  std::vector<Timestamp> times;

  /// Empty: raw samples. Otherwise one value column each, in this order.
  std::vector<Aggregation> aggregators;
  /// Used with aggregators; width 0 means one bucket over the whole range, labelled with the range's start (the first
  /// sample's time when the range is open).
  BucketSpec bucket;
  Fill fill = Fill::kNone;
  double fill_value = 0;  // of Fill::kConstant

  /// Only the newest sample of each series (of those in the range that pass the filters). Not with aggregators.
  bool latest = false;
  /// Newest first, per series. Default: oldest first.
  bool reverse = false;
  /// Rows per series, or per group; 0 for all.
  std::uint64_t limit = 0;
  TopSeries top;

  /// With `reduce`: one result per distinct set of these labels' values (an absent label is an empty value), ordered by
  /// them; no label: one result in all. Rows of the series at one time become one row, column by column.
  std::vector<std::string> group_by;
  /// All aggregators but first, last, twa, increase and rate.
  std::optional<Aggregation> reduce;
  /// One result whose rows are the times of all series, with the columns of each series side by side; NaN where a
  /// series has no row. Not with group_by.
  bool join = false;

  /// A page: at most so many rows in all; then the result ends and cursor() says where the next page begins. 0: no
  /// pages.
  std::uint64_t page_rows = 0;
  /// Of the page before, with everything else (but limits, range end and page_rows) the same. kInvalidArgument when it
  /// is of another query. What is written between two pages shows when it lies behind the cursor.
  std::string cursor;

  QueryLimits limits;
  /// A request to stop ends the query with kCancelled.
  std::stop_token stop;
  /// Threads that work at this query: 1 the caller alone; 0 as many as the machine has, where it pays. Results do not
  /// depend on it.
  unsigned threads = 0;
  /// False decodes every sample: the same answer, slowly. For checks.
  bool use_statistics = true;
  /// Measures the times in QueryStatistics.
  bool explain = false;
};

/// What is known of a series.
struct SeriesInfo {
  SeriesId id;
  /// Shown, unique name.
  std::string key;
  Labels labels;
  /// Created by key (its labels may repeat another's) or by labels (key is the canonical text of the labels).
  bool created_by_key = false;
  SeriesSettings settings;
};

/// Shared among queries.
using SeriesInfoPtr = std::shared_ptr<const SeriesInfo>;

/// Rows of one series: a time and one value per column. Views into the result, valid until its next call.
struct ColumnBatch {
  std::span<const Timestamp> times;
  /// One column for raw samples, else one per aggregator; each as long as `times`. Of a join: of each series in turn.
  std::vector<std::span<const double>> columns;
};

/// What a query did. A chunk is answered by its statistics, or decoded in part or whole, or passed over because no
/// value of it passes the filter.
struct QueryStatistics {
  std::uint64_t series = 0;               // looked at, with or without rows
  std::uint64_t files = 0;                // look-ups of a series in a chunk file
  std::uint64_t chunks = 0;               // that overlap the range
  std::uint64_t chunks_answered = 0;      // by their statistics, whole
  std::uint64_t chunks_passed_over = 0;   // by the value filter and their extremes
  std::uint64_t pages_answered = 0;       // of other chunks
  std::uint64_t pages_passed_over = 0;
  std::uint64_t samples_answered = 0;     // without decoding them
  std::uint64_t samples_decoded = 0;      // from files
  std::uint64_t samples_in_memory = 0;    // from the head
  std::uint64_t rows = 0;                 // given out
  std::uint64_t threads = 1;              // that worked at it
  // Only with QuerySpec::explain. Of all threads together, but the first and the last.
  double select_seconds = 0;     // from the selector to ids and definitions
  double find_seconds = 0;       // directories and head
  double aggregate_seconds = 0;  // reading, decoding, aggregating, merging
  double total_seconds = 0;      // wall time since the call of Query
};

/// A running query. Sees each series at one commit prefix. Not thread-safe; must not outlive the database.
class QueryResult {
 public:
  virtual ~QueryResult() = default;
  /// Moves to the next series that has rows; false at the end or on error (see status()). Order: by id, unless the
  /// specification says otherwise. Of a reduced query a group is a series: no id, labels are those grouped by, key is
  /// "name=value,…"; of a join the whole is one without key.
  virtual bool NextSeries() = 0;
  virtual const SeriesInfo& series() const = 0;
  /// Gives the next rows of the current series, at most a few thousand; false when there are no more, or on error.
  virtual bool NextBatch(ColumnBatch* batch) = 0;
  /// OK unless the query failed.
  virtual const Status& status() const = 0;

  /// The series a group or a join is made of, in the order of the columns; empty otherwise. Valid until NextSeries.
  virtual std::span<const SeriesInfoPtr> sources() const = 0;
  /// Once the result has ended: where the next page begins; empty when there is none.
  virtual std::string cursor() const = 0;
  /// Complete once the result has ended.
  virtual const QueryStatistics& statistics() const = 0;
};

}  // namespace tsdb
