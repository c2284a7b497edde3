#include "engine/query/query_result.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "engine/query/check_spec.h"
#include "engine/query/group_result.h"
#include "engine/query/join_result.h"
#include "engine/query/page_cursor.h"
#include "engine/query/query_plan.h"
#include "engine/query/result_base.h"
#include "engine/query/series_stream.h"

namespace tsdb::engine {
namespace {

/// Series after series.
class SeriesResult final : public ResultBase {
 public:
  SeriesResult(std::unique_ptr<QueryPlan> plan, std::vector<SeriesId> ids, std::optional<SeriesRows::Resume> resume,
               std::size_t first_place, double select_seconds)
      : ResultBase(std::move(plan), select_seconds),
        ids_(std::move(ids)),
        resume_(resume),
        first_place_(first_place),
        stream_(plan_ref(), ids_, resume) {}

  const SeriesInfo& series() const override { return stream_.series(); }

 private:
  bool FindSeries() override {
    if (ended_) {
      return false;
    }
    if (page_full()) {
      EndPage(stream_.NextSeries(), std::nullopt);
      return false;
    }
    const bool found = stream_.NextSeries();
    given_ = found && resume_ && stream_.position() == 0 ? resume_->rows_given : 0;
    row_time_.reset();
    ended_ = !found;
    return Took(found);
  }

  bool FillBatch(ColumnBatch* batch) override {
    if (ended_) {
      return false;
    }
    if (left_.times.empty() && !stream_.NextBatch(&left_)) {
      return Took(false);
    }
    if (page_full()) {
      EndPage(true, row_time_);
      return false;
    }
    const std::size_t count = RowsForPage(left_.times.size());
    TakeFront(&left_, count, batch);
    row_time_ = batch->times.back();
    given_ += count;
    return true;
  }

  bool Took(bool found) {
    left_ = ColumnBatch();
    set_status(stream_.status());
    if (!found) {
      set_counts(stream_.statistics());
    }
    return found;
  }

  void EndPage(bool more, std::optional<Timestamp> row_time) {
    ended_ = true;
    set_status(stream_.status());
    set_counts(stream_.statistics());
    if (more && status().ok()) {
      PageCursor cursor;
      cursor.place = plan_ref().spec.series.empty() ? stream_.series().id.value : first_place_ + stream_.position();
      cursor.row_time = row_time;
      cursor.rows_given = row_time ? given_ : 0;
      set_cursor(cursor.ToText(plan_ref().spec));
    }
  }

  const std::vector<SeriesId> ids_;
  const std::optional<SeriesRows::Resume> resume_;
  const std::size_t first_place_;
  SeriesStream stream_;
  ColumnBatch left_;                   // of the series, not given out yet
  std::optional<Timestamp> row_time_;  // of the last row given
  std::uint64_t given_ = 0;            // rows of the series
  bool ended_ = false;
};

Result<std::vector<SeriesId>> SelectIds(Core& core, const QuerySpec& spec) {
  if (spec.series.empty()) {
    return core.index->Select(spec.selector);
  }
  std::vector<SeriesId> ids;
  for (const SeriesRef& ref : spec.series) {
    ids.push_back(ref.id);
  }
  TSDB_ASSIGN_OR_RETURN(const auto found, core.index->FindByIds(ids));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!found[i]) {
      return Status::NotFound(fmt::format("no series with id {}", ids[i].value));
    }
  }
  return ids;
}

std::unique_ptr<QueryPlan> MakePlan(Core& core, const QuerySpec& spec, VersionPtr version,
                                    QueryPlan::Clock::time_point start) {
  auto plan = std::make_unique<QueryPlan>(core, spec, std::move(version));
  plan->start = start;
  if (spec.limits.time_ms_max > 0) {
    plan->deadline = start + std::chrono::milliseconds(
                                 std::min<std::int64_t>(spec.limits.time_ms_max, std::int64_t{1} << 40));
  }
  plan->units_per_second = static_cast<double>(UnitsPerSecond(core.settings.unit));
  plan->filter.values = spec.values;
  plan->filter.times = spec.times;
  std::sort(plan->filter.times.begin(), plan->filter.times.end());
  plan->filter.times.erase(std::unique(plan->filter.times.begin(), plan->filter.times.end()),
                           plan->filter.times.end());
  return plan;
}

/// The ids of the top series, in their order.
Result<std::vector<SeriesId>> TopIds(Core& core, const QuerySpec& spec, const VersionPtr& version,
                                     QueryPlan::Clock::time_point start, std::vector<SeriesId> ids) {
  QuerySpec ranking = spec;
  ranking.aggregators = {spec.top.by};
  ranking.bucket = BucketSpec();
  ranking.fill = Fill::kNone;
  ranking.latest = ranking.reverse = false;
  ranking.limit = 0;
  const auto plan = MakePlan(core, ranking, version, start);
  TSDB_ASSIGN_OR_RETURN(plan->grid, BucketGrid::Make(ranking.bucket, ranking.range, core.settings.unit));
  struct Place {
    double value;
    SeriesId id;
  };
  std::vector<Place> places;
  SeriesStream stream(*plan, ids, std::nullopt);
  ColumnBatch batch;
  while (stream.NextSeries()) {
    if (stream.NextBatch(&batch)) {
      places.push_back({batch.columns[0][0], ids[stream.position()]});
    }
  }
  TSDB_RETURN_IF_ERROR(stream.status());
  const bool smallest = spec.top.smallest;
  std::stable_sort(places.begin(), places.end(), [smallest](const Place& a, const Place& b) {
    if (std::isnan(a.value) || std::isnan(b.value)) {
      return !std::isnan(a.value) && std::isnan(b.value);
    }
    return smallest ? a.value < b.value : a.value > b.value;
  });
  places.resize(std::min<std::size_t>(places.size(), spec.top.count));
  std::vector<SeriesId> top;
  for (const Place& place : places) {
    top.push_back(place.id);
  }
  return top;
}

}  // namespace

Result<std::unique_ptr<QueryResult>> RunQuery(Core& core, const QuerySpec& spec) {
  const auto start = QueryPlan::Clock::now();
  TSDB_RETURN_IF_ERROR(CheckSpec(spec));
  TSDB_ASSIGN_OR_RETURN(BucketGrid grid, BucketGrid::Make(spec.bucket, spec.range, core.settings.unit));
  std::optional<PageCursor> page;
  if (!spec.cursor.empty()) {
    TSDB_ASSIGN_OR_RETURN(page, PageCursor::Parse(spec));
  }
  VersionPtr version = core.versions.Pin();
  TSDB_ASSIGN_OR_RETURN(std::vector<SeriesId> ids, SelectIds(core, spec));
  if (spec.limits.series_max != 0 && ids.size() > spec.limits.series_max) {
    return Status::ResourceExhausted(fmt::format(
        "{} series match {}, more than the limit of {}: narrow the selector, or raise series_max", ids.size(),
        spec.selector.ToString(), spec.limits.series_max));
  }
  auto plan = MakePlan(core, spec, version, start);
  plan->grid = std::move(grid);
  TSDB_RETURN_IF_ERROR(plan->Spend(0));
  if (spec.top.count != 0) {
    TSDB_ASSIGN_OR_RETURN(ids, TopIds(core, spec, version, start, std::move(ids)));
  }
  const double seconds = std::chrono::duration<double>(QueryPlan::Clock::now() - start).count();
  if (spec.reduce) {
    return MakeGroupResult(std::move(plan), std::move(ids), page, seconds);
  }
  if (spec.join) {
    return MakeJoinResult(std::move(plan), std::move(ids), page, seconds);
  }
  std::optional<SeriesRows::Resume> resume;
  std::size_t first_place = 0;
  if (page) {
    if (!spec.series.empty()) {
      first_place = std::min<std::size_t>(page->place, ids.size());
      ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(first_place));
    } else {
      ids.erase(ids.begin(), std::lower_bound(ids.begin(), ids.end(), SeriesId{page->place}));
    }
    const bool same = !ids.empty() && (!spec.series.empty() || ids.front().value == page->place);
    if (page->row_time && same) {
      resume = SeriesRows::Resume{*page->row_time, page->rows_given};
    }
  }
  return std::unique_ptr<QueryResult>(
      std::make_unique<SeriesResult>(std::move(plan), std::move(ids), resume, first_place, seconds));
}

}  // namespace tsdb::engine
