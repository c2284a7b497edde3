// SeriesReader: a chunk that nothing overlaps: what its statistics answer, what a filter passes over, what is decoded.
#include <algorithm>
#include <utility>

#include "engine/query/series_reader.h"

namespace tsdb::engine {

Status SeriesReader::LoadStatistics(const Source& source) {
  if (statistics_of_ == &source) {
    return Status::Ok();
  }
  auto statistics = source.rows->Statistics(source.row);
  if (!statistics.ok()) {
    return statistics.status().WithContext(source.file->path());
  }
  statistics_ = std::move(*statistics);
  statistics_of_ = &source;
  return Status::Ok();
}

bool SeriesReader::Refuses(const chunk::ValueStatistics& values) const {
  const auto& range = plan_.filter.values;
  return range && (!values.has_numbers() || values.max < range->min || values.min > range->max);
}

bool SeriesReader::PassesAll(const chunk::ValueStatistics& values) const {
  const auto& range = plan_.filter.values;
  return !range || !values.has_numbers() || (range->min <= values.min && values.max <= range->max);
}

// Says of the chunk as a whole, or else of each page, whether it is answered, passed over or decoded.
Status SeriesReader::PlanChunk(const Source& source, TimeRange clip, bool alone, const PartJudge* judge) {
  const chunk::ChunkEntry& entry = source.rows->entries[source.row];
  const bool whole = clip.from <= source.first && clip.to >= source.last;
  const bool by_value = plan_.filter.values.has_value();
  if (!plan_.filter.times.empty()) {
    judge = nullptr;
  }
  bool answered = false;
  if (whole && judge != nullptr &&
      judge->MayAnswer({source.first, source.last, source.last, source.last, true, true, alone})) {
    TSDB_RETURN_IF_ERROR(LoadStatistics(source));
    Item item;
    item.whole = true;
    item.part = {&statistics_, &statistics_, true, true, entry.time_encoding == chunk::kTimesInDirectory, by_value,
                 source.first, source.last};
    answered = PassesAll(statistics_) && judge->Answers(item.part);
    if (answered) {
      items_.push_back(item);
    }
  }
  if (!answered && by_value) {
    TSDB_RETURN_IF_ERROR(LoadStatistics(source));
    if (Refuses(statistics_)) {
      ++counts_->chunks_passed_over;
      return Status::Ok();
    }
  }
  if (answered) {
    return Status::Ok();
  }
  if (chunk::PageCount(entry.count) == 1) {
    items_.push_back({clip, true, false, 0, {}});
    return Status::Ok();
  }
  if (judge != nullptr || by_value) {
    TSDB_RETURN_IF_ERROR(LoadStatistics(source));
  }
  PlanPages(source, clip, alone, judge);
  return Status::Ok();
}

void SeriesReader::PlanPages(const Source& source, TimeRange clip, bool alone, const PartJudge* judge) {
  const chunk::ChunkEntry& entry = source.rows->entries[source.row];
  const std::size_t pages = chunk::PageCount(entry.count);
  const bool by_value = plan_.filter.values.has_value();
  const bool known = statistics_of_ == &source && !statistics_.pages.empty();
  // As many pages at a time as the statistics are of.
  const std::size_t step = known ? statistics_.page_step : 1;
  for (std::size_t page = 0; page < pages; page += step) {
    const bool ends = page + step >= pages;
    const Timestamp first = source.rows->PageTime(source.row, page);
    const Timestamp next = ends ? source.last : source.rows->PageTime(source.row, page + step);
    const Timestamp last = ends ? source.last : next - 1;
    if (last < clip.from || first > clip.to) {
      continue;
    }
    if (!plan_.filter.MayPass(first, last)) {
      ++counts_->pages_passed_over;
      continue;
    }
    const chunk::ValueStatistics* values = known ? &statistics_.pages[page / step] : nullptr;
    if (by_value && known && Refuses(*values)) {
      ++counts_->pages_passed_over;
      continue;
    }
    const bool inside = first >= clip.from && last <= clip.to;
    if (judge != nullptr && inside && known && PassesAll(*values) &&
        judge->MayAnswer({first, last, next, source.last, page == 0, ends, alone})) {
      Item item;
      item.page = page;
      item.part = {values, &statistics_, page == 0, ends, false, by_value, first, last};
      if (judge->Answers(item.part)) {
        items_.push_back(item);
        continue;
      }
    }
    const TimeRange range = {std::max(first, clip.from), std::min(last, clip.to)};
    if (!items_.empty() && items_.back().decode && items_.back().range.to + 1 == range.from) {
      items_.back().range.to = range.to;
    } else {
      items_.push_back({range, true, false, 0, {}});
    }
  }
}

Status SeriesReader::TakeItem(const Item& item) {
  if (!item.decode) {
    piece_.part = item.part;
    have_piece_ = true;
    counts_->samples_answered += item.part.values->count;
    ++(item.whole ? counts_->chunks_answered : counts_->pages_answered);
    return plan_.Spend(0);
  }
  if (scratch_.empty()) {
    scratch_.resize(1);
  }
  chunk::ColumnsView view;
  TSDB_RETURN_IF_ERROR(ReadSource(*source_, item.range, &scratch_[0], &view));
  Give(view);
  return Status::Ok();
}

}  // namespace tsdb::engine
