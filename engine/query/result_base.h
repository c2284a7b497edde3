// ResultBase: what all results of a query share: status, counts, the page, and that no exception leaves them.
//
// Thread safety: none.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "engine/query/query_plan.h"
#include "tsdb/query.h"

namespace tsdb::engine {

class ResultBase : public QueryResult {
 public:
  ResultBase(std::unique_ptr<QueryPlan> plan, double select_seconds)
      : plan_(std::move(plan)), page_left_(plan_->spec.page_rows) {
    counts_.select_seconds = select_seconds;
  }

  bool NextSeries() final {
    return Guarded([this] { return status_.ok() && FindSeries(); });
  }
  bool NextBatch(ColumnBatch* batch) final {
    return Guarded([&] {
      if (!status_.ok() || !FillBatch(batch)) {
        return false;
      }
      counts_.rows += batch->times.size();
      return true;
    });
  }
  const Status& status() const final { return status_; }
  std::span<const SeriesInfoPtr> sources() const override { return {}; }
  std::string cursor() const final { return cursor_; }
  const QueryStatistics& statistics() const final { return counts_; }

 protected:
  virtual bool FindSeries() = 0;
  virtual bool FillBatch(ColumnBatch* batch) = 0;

  QueryPlan& plan_ref() const { return *plan_; }
  void set_status(const Status& status) { status_ = status; }
  void set_cursor(std::string cursor) { cursor_ = std::move(cursor); }
  /// What was counted by others; rows, and the time of the selection, are counted here.
  void set_counts(const QueryStatistics& counts) {
    const double select = counts_.select_seconds;
    const std::uint64_t rows = counts_.rows;
    counts_ = counts;
    counts_.rows = rows;
    counts_.select_seconds = plan_->spec.explain ? select : 0;
    counts_.total_seconds =
        plan_->spec.explain ? std::chrono::duration<double>(QueryPlan::Clock::now() - plan_->start).count() : 0;
  }
  bool paged() const { return plan_->spec.page_rows != 0; }
  bool page_full() const { return paged() && page_left_ == 0; }
  /// How many of `rows` the page still takes; takes them.
  std::size_t RowsForPage(std::size_t rows) {
    if (paged()) {
      rows = static_cast<std::size_t>(std::min<std::uint64_t>(rows, page_left_));
      page_left_ -= rows;
    }
    return rows;
  }
  /// Moves `count` rows from the front of one batch to another.
  static void TakeFront(ColumnBatch* from, std::size_t count, ColumnBatch* to) {
    to->times = from->times.first(count);
    from->times = from->times.subspan(count);
    to->columns.resize(from->columns.size());
    for (std::size_t i = 0; i < from->columns.size(); ++i) {
      to->columns[i] = from->columns[i].first(count);
      from->columns[i] = from->columns[i].subspan(count);
    }
  }

 private:
  template <typename F>
  bool Guarded(const F& next) {
    try {
      return next();
    } catch (const std::bad_alloc&) {
      status_ = Status::OutOfMemory("no memory");
      return false;
    }
  }

  const std::unique_ptr<QueryPlan> plan_;
  std::uint64_t page_left_;
  std::string cursor_;
  QueryStatistics counts_;
  Status status_;
};

}  // namespace tsdb::engine
