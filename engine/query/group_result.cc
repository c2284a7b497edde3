#include "engine/query/group_result.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/query/group_reducer.h"
#include "engine/query/result_base.h"
#include "engine/query/series_stream.h"

namespace tsdb::engine {
namespace {

/// Series whose definitions are looked up together.
constexpr std::size_t kSeriesAtATime = 256;

struct Group {
  std::vector<std::string> values;  // of the labels grouped by
  std::size_t begin = 0;            // its series, in the ids
  std::size_t end = 0;
};

class GroupResult final : public ResultBase {
 public:
  GroupResult(std::unique_ptr<QueryPlan> plan, std::vector<SeriesId> ids, std::vector<Group> groups,
              std::size_t first_place, const std::optional<PageCursor>& page, double select_seconds)
      : ResultBase(std::move(plan), select_seconds),
        ids_(std::move(ids)),
        groups_(std::move(groups)),
        next_group_(first_place),
        page_(page),
        reducer_(*plan_ref().spec.reduce, plan_ref().spec.reverse),
        stream_(plan_ref(), {ids_.begin() + static_cast<std::ptrdiff_t>(Offset()), ids_.end()}, std::nullopt) {}

  const SeriesInfo& series() const override { return info_; }
  std::span<const SeriesInfoPtr> sources() const override { return sources_; }

 private:
  std::size_t Offset() const { return next_group_ < groups_.size() ? groups_[next_group_].begin : ids_.size(); }

  bool FindSeries() override {
    while (!ended_ && ReduceNext()) {
      if (next_row_ < end_row_) {
        if (page_full()) {
          EndPage(std::nullopt);
          return false;
        }
        return true;
      }
    }
    return false;
  }

  /// The next group; false behind the last one.
  bool ReduceNext() {
    const bool first = !std::exchange(started_, true);
    if (first) {
      base_ = Offset();
      have_series_ = stream_.NextSeries();
    }
    if (!have_series_) {
      set_status(stream_.status());
      set_counts(stream_.statistics());
      ended_ = true;
      return false;
    }
    const std::size_t place = base_ + stream_.position();
    while (groups_[next_group_].end <= place) {
      ++next_group_;
    }
    group_ = next_group_++;
    Reduce(groups_[group_]);
    if (!ended_) {
      SetInfo(groups_[group_]);
    }
    next_row_ = 0;
    end_row_ = reducer_.size();
    const QuerySpec& spec = plan_ref().spec;
    if (spec.limit != 0) {
      end_row_ = static_cast<std::size_t>(std::min<std::uint64_t>(end_row_, spec.limit));
    }
    if (page_ && page_->place == group_ && page_->row_time) {
      while (next_row_ < end_row_ && (spec.reverse ? reducer_.time(next_row_) >= *page_->row_time
                                                   : reducer_.time(next_row_) <= *page_->row_time)) {
        ++next_row_;
      }
    }
    return true;
  }

  void Reduce(const Group& group) {
    reducer_.Clear();
    sources_.clear();
    ColumnBatch batch;
    while (have_series_ && base_ + stream_.position() < group.end) {
      sources_.push_back(stream_.shared_series());
      reducer_.NextSeries();
      while (stream_.NextBatch(&batch)) {
        reducer_.Add(batch);
        const Status held = plan_ref().CheckHeld(reducer_.size() * std::max<std::size_t>(1, reducer_.columns()),
                                                 "rows of a group");
        if (!held.ok()) {
          Fail(held);
          return;
        }
      }
      have_series_ = stream_.NextSeries();
    }
    if (!stream_.status().ok()) {
      Fail(stream_.status());
    }
  }

  /// What was reduced so far would look like an answer.
  void Fail(const Status& status) {
    set_status(status);
    reducer_.Clear();
    have_series_ = false;
    ended_ = true;
  }

  void SetInfo(const Group& group) {
    const std::vector<std::string>& names = plan_ref().spec.group_by;
    std::vector<Label> labels;
    info_ = SeriesInfo();
    for (std::size_t i = 0; i < names.size(); ++i) {
      info_.key += (i == 0 ? "" : ",") + names[i] + "=" + group.values[i];
      labels.push_back({names[i], group.values[i]});
    }
    if (auto set = Labels::FromPairs(std::move(labels)); set.ok()) {
      info_.labels = std::move(*set);
    } else {
      Fail(set.status().WithContext("labels to group by"));
    }
  }

  bool FillBatch(ColumnBatch* batch) override {
    if (next_row_ >= end_row_) {
      return false;
    }
    if (page_full()) {
      EndPage(reducer_.time(next_row_ - 1));
      return false;
    }
    const std::size_t count = RowsForPage(std::min(kBatchRows, end_row_ - next_row_));
    reducer_.Finish(next_row_, count, &rows_);
    next_row_ += count;
    rows_.View(0, rows_.size(), batch);
    return true;
  }

  void EndPage(std::optional<Timestamp> row_time) {
    ended_ = true;
    next_row_ = end_row_;
    set_counts(stream_.statistics());
    PageCursor cursor;
    cursor.place = group_;
    cursor.row_time = row_time;
    set_cursor(cursor.ToText(plan_ref().spec));
  }

  const std::vector<SeriesId> ids_;
  const std::vector<Group> groups_;
  std::size_t next_group_;
  const std::optional<PageCursor> page_;
  GroupReducer reducer_;
  SeriesStream stream_;
  std::size_t base_ = 0;  // of the stream's ids, in ids_
  std::size_t group_ = 0;
  bool started_ = false;
  bool have_series_ = false;
  bool ended_ = false;
  std::size_t next_row_ = 0;
  std::size_t end_row_ = 0;
  RowBlock rows_;
  SeriesInfo info_;
  std::vector<SeriesInfoPtr> sources_;
};

}  // namespace

Result<std::unique_ptr<QueryResult>> MakeGroupResult(std::unique_ptr<QueryPlan> plan, std::vector<SeriesId> ids,
                                                     const std::optional<PageCursor>& page, double select_seconds) {
  std::vector<Group> groups;
  const std::vector<std::string>& names = plan->spec.group_by;
  if (names.empty()) {
    groups.push_back({{}, 0, ids.size()});
  } else {
    std::map<std::vector<std::string>, std::vector<SeriesId>> members;
    std::vector<std::string> values(names.size());
    for (std::size_t begin = 0; begin < ids.size(); begin += kSeriesAtATime) {
      const std::size_t end = std::min(ids.size(), begin + kSeriesAtATime);
      TSDB_ASSIGN_OR_RETURN(const auto infos,
                            plan->core.index->InfosByIds(std::span(ids).subspan(begin, end - begin)));
      for (std::size_t i = begin; i < end; ++i) {
        if (infos[i - begin] == nullptr) {
          continue;  // dropped meanwhile
        }
        for (std::size_t k = 0; k < names.size(); ++k) {
          values[k] = std::string(infos[i - begin]->labels.Get(names[k]));
        }
        members[values].push_back(ids[i]);
      }
    }
    ids.clear();
    for (auto& [group_values, group_ids] : members) {
      groups.push_back({group_values, ids.size(), ids.size() + group_ids.size()});
      ids.insert(ids.end(), group_ids.begin(), group_ids.end());
    }
  }
  const std::size_t first = page ? static_cast<std::size_t>(page->place) : 0;
  return std::unique_ptr<QueryResult>(std::make_unique<GroupResult>(
      std::move(plan), std::move(ids), std::move(groups), first, page, select_seconds));
}

}  // namespace tsdb::engine
