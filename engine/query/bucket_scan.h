// BucketScan: one pass over a series that gives one row per bucket with samples, in order of time.
//
//   pieces of SeriesReader ─► the state of the open bucket ─► rows
//
// It tells the reader which chunks and pages lie inside one bucket, so that their statistics answer.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/query/bucket_state.h"
#include "engine/query/row_block.h"
#include "engine/query/series_reader.h"

namespace tsdb::engine {

class BucketScan final : private PartJudge {
 public:
  explicit BucketScan(QueryPlan& plan) : plan_(plan), needs_(plan.needs) {}

  /// For opening a reader: what is answered as a whole (SeriesReader::Open). Null when nothing may be.
  const PartJudge* Judge() {
    open_ = false;
    return plan_.spec.use_statistics && needs_.in_statistics() && !needs_.area ? this : nullptr;
  }
  /// Begins with the buckets of `window`. `clip`: what of a bucket counts: the range of the query, or other ends for a
  /// bucket outside it.
  Status Start(SeriesReader* reader, TimeRange window, TimeRange clip);
  /// Replaces the rows by the next ones, at most `rows_max`; none at the end.
  Status Next(std::size_t rows_max, RowBlock* rows);

  /// Of each row of the last Next: its bucket, and what empty buckets beside it need.
  struct RowEdges {
    Bucket bucket;
    double last = 0;                      // value of its last sample
    std::optional<Number> last_number;    // in or before it; only with needs.area
    std::optional<Number> after;          // the first number behind it; only with needs.area
  };
  const std::vector<RowEdges>& edges() const { return edges_; }
  void KeepEdges(bool keep) { keep_edges_ = keep; }

 private:
  bool MayAnswer(const PartPlace& place) const override;
  bool Answers(const StatisticsPart& part) const override;
  bool NeedsTimes() const override { return needs_.neighbours(); }
  void Open(Timestamp time);
  void Close(const std::optional<Number>& after);
  std::size_t CountInBucket();
  std::optional<Number> NextNumber() const;
  BucketState::Ending EndingOf(const Bucket& bucket, const std::optional<Number>& after) const;

  QueryPlan& plan_;
  const BucketNeeds& needs_;
  SeriesReader* reader_ = nullptr;
  TimeRange window_;
  TimeRange clip_;
  BucketState state_;
  Bucket bucket_;
  bool open_ = false;
  bool done_ = true;
  Piece piece_;             // what is left of it
  Timestamp first_time_ = 0;   // of the open bucket's samples
  Timestamp last_time_ = 0;
  std::optional<Number> before_;
  std::size_t part_size_ = 0;
  bool keep_edges_ = false;
  std::vector<RowEdges> edges_;
  RowBlock* rows_ = nullptr;
};

}  // namespace tsdb::engine
