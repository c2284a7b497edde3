#include "engine/query/join_result.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "engine/query/result_base.h"
#include "engine/query/series_rows.h"

namespace tsdb::engine {
namespace {

/// Each series read side by side needs memory of its own.
constexpr std::size_t kSeriesMax = 4096;
/// Values in a batch.
constexpr std::size_t kBatchCells = 1 << 16;

class JoinResult final : public ResultBase {
 public:
  JoinResult(std::unique_ptr<QueryPlan> plan, std::vector<SeriesId> ids, std::vector<SeriesInfoPtr> infos,
             const std::optional<PageCursor>& page, double select_seconds)
      : ResultBase(std::move(plan), select_seconds), ids_(std::move(ids)), infos_(std::move(infos)), page_(page) {}

  const SeriesInfo& series() const override { return info_; }
  std::span<const SeriesInfoPtr> sources() const override { return infos_; }

 private:
  struct Side {
    Side(QueryPlan& plan, QueryStatistics* counts) : cache(plan.core.directory_blocks), rows(plan, cache, counts) {}
    DirectoryCache cache;
    SeriesRows rows;
    ColumnBatch batch;
    bool ended = false;
  };

  bool FindSeries() override {
    if (std::exchange(started_, true)) {
      return false;
    }
    const QuerySpec& spec = plan_ref().spec;
    columns_per_side_ = std::max<std::size_t>(1, spec.aggregators.size());
    given_ = page_ ? page_->rows_given : 0;
    std::optional<SeriesRows::Resume> resume;
    if (page_ && page_->row_time) {
      resume = SeriesRows::Resume{*page_->row_time, 0};
    }
    for (const SeriesId id : ids_) {
      sides_.emplace_back(plan_ref(), &side_counts_);
      if (!Check(sides_.back().rows.Open(id, resume)) || !Check(Refill(&sides_.back()))) {
        return false;
      }
    }
    if (!Merge()) {
      End();
      return false;
    }
    return true;
  }

  bool Check(const Status& status) {
    if (!status.ok()) {
      set_status(status);
    }
    return status.ok();
  }

  static Status Refill(Side* side) {
    if (!side->ended && side->batch.times.empty()) {
      TSDB_RETURN_IF_ERROR(side->rows.Next(&side->batch));
      side->ended = side->batch.times.empty();
    }
    return Status::Ok();
  }

  /// Makes the next rows; false when there are none, or on error.
  bool Merge() {
    const QuerySpec& spec = plan_ref().spec;
    const std::size_t columns = columns_per_side_ * sides_.size();
    rows_.Reset(columns);
    next_row_ = 0;
    std::size_t rows_max = std::clamp<std::size_t>(kBatchCells / std::max<std::size_t>(1, columns), 16, kBatchRows);
    if (spec.limit != 0) {
      rows_max = static_cast<std::size_t>(std::min<std::uint64_t>(rows_max, spec.limit - std::min(spec.limit, given_)));
    }
    while (rows_.size() < rows_max) {
      const Side* first = nullptr;
      for (const Side& side : sides_) {
        if (!side.ended && (first == nullptr || (spec.reverse ? side.batch.times[0] > first->batch.times[0]
                                                              : side.batch.times[0] < first->batch.times[0]))) {
          first = &side;
        }
      }
      if (first == nullptr) {
        break;
      }
      const Timestamp time = first->batch.times[0];
      rows_.times.push_back(time);
      std::size_t column = 0;
      for (Side& side : sides_) {
        const bool has = !side.ended && side.batch.times[0] == time;
        for (std::size_t i = 0; i < columns_per_side_; ++i) {
          rows_.columns[column++].push_back(has ? side.batch.columns[i][0]
                                                : std::numeric_limits<double>::quiet_NaN());
        }
        if (has) {
          side.batch.times = side.batch.times.subspan(1);
          for (auto& values : side.batch.columns) {
            values = values.subspan(1);
          }
          if (!Check(Refill(&side))) {
            return false;
          }
        }
      }
    }
    given_ += rows_.size();
    return !rows_.empty();
  }

  bool FillBatch(ColumnBatch* batch) override {
    if (next_row_ == rows_.size() && !Merge()) {
      End();
      return false;
    }
    if (page_full()) {
      PageCursor cursor;
      cursor.row_time = last_time_;
      cursor.rows_given = given_ - (rows_.size() - next_row_);
      set_cursor(cursor.ToText(plan_ref().spec));
      End();
      return false;
    }
    const std::size_t count = RowsForPage(rows_.size() - next_row_);
    rows_.View(next_row_, count, batch);
    next_row_ += count;
    last_time_ = batch->times.back();
    return true;
  }

  void End() {
    set_counts(side_counts_);
    sides_.clear();
    rows_.Reset(0);
    next_row_ = 0;
  }

  const std::vector<SeriesId> ids_;
  const std::vector<SeriesInfoPtr> infos_;
  const std::optional<PageCursor> page_;
  QueryStatistics side_counts_;
  std::deque<Side> sides_;
  std::size_t columns_per_side_ = 1;
  RowBlock rows_;
  std::size_t next_row_ = 0;
  Timestamp last_time_ = 0;
  std::uint64_t given_ = 0;
  bool started_ = false;
  SeriesInfo info_;
};

}  // namespace

Result<std::unique_ptr<QueryResult>> MakeJoinResult(std::unique_ptr<QueryPlan> plan, std::vector<SeriesId> ids,
                                                    const std::optional<PageCursor>& page, double select_seconds) {
  if (ids.size() > kSeriesMax) {
    return Status::ResourceExhausted(
        fmt::format("{} series cannot be joined, at most {}: narrow the selector", ids.size(), kSeriesMax));
  }
  TSDB_RETURN_IF_ERROR(plan->CheckHeld(ids.size() * std::max<std::size_t>(1, plan->spec.aggregators.size()),
                                       "columns of a join"));
  TSDB_ASSIGN_OR_RETURN(auto infos, plan->core.index->InfosByIds(ids));
  std::vector<SeriesId> live;
  std::erase(infos, nullptr);  // dropped meanwhile
  for (const SeriesInfoPtr& info : infos) {
    live.push_back(info->id);
  }
  return std::unique_ptr<QueryResult>(
      std::make_unique<JoinResult>(std::move(plan), std::move(live), std::move(infos), page, select_seconds));
}

}  // namespace tsdb::engine
