// Query: a selector, a time range, and either raw samples or aggregates per bucket; results are streamed series by
// series in column batches.
//
//   QueryResult r = *db->Query(spec);
//   while (r->NextSeries()) { while (r->NextBatch(&batch)) use(r->series(), batch); }
//   if (!r->status().ok()) ...
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tsdb/aggregation.h"
#include "tsdb/labels.h"
#include "tsdb/options.h"
#include "tsdb/selector.h"
#include "tsdb/types.h"

namespace tsdb {

struct QuerySpec {
  Selector selector;
  /// Both ends included.
  TimeRange range;
  /// Empty: raw samples. Otherwise one value column each, in this order.
  std::vector<Aggregator> aggregators;
  /// Used with aggregators; width 0 means one bucket over the whole range, labelled with the range's start (the first
  /// sample's time when the range is open).
  BucketSpec bucket;
  /// Newest first, per series. Default: oldest first.
  bool reverse = false;
  /// Rows per series; 0 for all.
  std::uint64_t limit = 0;
  /// Series in all; 0 for all. More matching series than this is kResourceExhausted.
  std::uint64_t series_max = 0;
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

/// Rows of one series: a time and one value per column. Views into the result, valid until its next call.
struct ColumnBatch {
  std::span<const Timestamp> times;
  /// One column for raw samples, else one per aggregator; each as long as `times`.
  std::vector<std::span<const double>> columns;
};

/// A running query. Sees each series at one commit prefix. Not thread-safe; must not outlive the database.
class QueryResult {
 public:
  virtual ~QueryResult() = default;
  /// Moves to the next series that has rows; false at the end or on error (see status()). Order: by id.
  virtual bool NextSeries() = 0;
  virtual const SeriesInfo& series() const = 0;
  /// Gives the next rows of the current series, at most a few thousand; false when there are no more, or on error.
  virtual bool NextBatch(ColumnBatch* batch) = 0;
  /// OK unless the query failed.
  virtual const Status& status() const = 0;
};

}  // namespace tsdb
