// SeriesStream: the rows of many series, one series after another, in the order asked for; several threads work ahead
// when it pays.
//
//   ids ─► morsels of some ids ─┬► caller's thread ┐
//                               └► query threads   ┴► in order ─► NextSeries, NextBatch
//
// A morsel that holds many rows stops; the caller's thread goes on with it when its turn comes. So what is held is
// bounded, whatever the series hold.
//
// Thread safety: of one thread; the others are its own. The plan must outlive it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "engine/query/query_plan.h"
#include "engine/query/series_rows.h"
#include "tsdb/query.h"

namespace tsdb::engine {

class SeriesStream {
 public:
  /// `first_resume`: of the first id.
  SeriesStream(QueryPlan& plan, std::vector<SeriesId> ids, std::optional<SeriesRows::Resume> first_resume);
  /// Waits for the threads at work.
  ~SeriesStream();
  SeriesStream(const SeriesStream&) = delete;
  SeriesStream& operator=(const SeriesStream&) = delete;

  /// Moves to the next series that has rows; false at the end or on error.
  bool NextSeries();
  /// Rows of it; false when there are no more, or on error.
  bool NextBatch(ColumnBatch* batch);
  const SeriesInfo& series() const { return *info_; }
  const SeriesInfoPtr& shared_series() const { return info_; }
  /// Of the series, in the ids.
  std::size_t position() const { return position_; }
  const Status& status() const { return status_; }
  /// Of all threads; complete at the end.
  const QueryStatistics& statistics() const { return statistics_; }

 private:
  struct Output;
  struct Morsel;
  struct Shared;

  bool TakeMorsel();
  void EndMorsel();
  void Hire();

  QueryPlan& plan_;
  const std::vector<SeriesId> ids_;
  std::shared_ptr<Shared> shared_;
  std::size_t morsel_number_ = 0;
  std::unique_ptr<Morsel> morsel_;
  std::size_t next_output_ = 0;
  bool live_ = false;             // the rows come straight from the morsel's series
  bool in_series_ = false;
  std::size_t next_row_ = 0;      // of the output at hand
  SeriesInfoPtr info_ = std::make_shared<const SeriesInfo>();
  std::size_t position_ = 0;
  QueryPlan::Clock::time_point begin_;
  unsigned threads_ = 1;
  unsigned most_threads_ = 1;
  QueryStatistics statistics_;
  Status status_;
};

}  // namespace tsdb::engine
