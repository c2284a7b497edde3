#include "engine/query/series_rows.h"

#include <algorithm>
#include <chrono>

namespace tsdb::engine {

Status SeriesRows::Open(SeriesId id, const std::optional<Resume>& resume) {
  const QuerySpec& spec = plan_.spec;
  range_ = spec.range;
  rows_left_ = spec.limit == 0 ? ~std::uint64_t{0} : spec.limit;
  rows_.Reset(0);
  next_row_ = 0;
  first_window_ = true;
  exhausted_ = false;
  if (resume) {
    rows_left_ -= std::min(rows_left_, spec.limit == 0 ? 0 : resume->rows_given);
    const Timestamp time = resume->row_time;
    if (spec.reverse) {
      exhausted_ = time == kTimestampMin || (aggregates() && plan_.grid.Before(time) == kTimestampMin);
      range_.to = std::min(range_.to, aggregates() ? plan_.grid.Before(time) : time - 1);
    } else {
      exhausted_ = time == kTimestampMax || (aggregates() && plan_.grid.Behind(time) == kTimestampMax);
      range_.from = std::max(range_.from, aggregates() ? plan_.grid.Behind(time) : time + 1);
    }
    exhausted_ = exhausted_ || range_.empty() || rows_left_ == 0 || spec.latest || (aggregates() && plan_.grid.whole());
    if (exhausted_) {
      return Status::Ok();
    }
  }
  if (spec.latest) {
    return OpenLatest(id);
  }
  const bool filled = aggregates() && spec.fill != Fill::kNone && !plan_.grid.whole();
  const auto begin = spec.explain ? QueryPlan::Clock::now() : QueryPlan::Clock::time_point();
  const bool one_pass = aggregates() && !filled && (!spec.reverse || plan_.grid.whole());
  TSDB_RETURN_IF_ERROR(reader_.Open(id, range_, filled || (aggregates() && plan_.needs.neighbours()),
                                    one_pass ? scan_.Judge() : nullptr));
  if (spec.explain) {
    counts_.find_seconds += std::chrono::duration<double>(QueryPlan::Clock::now() - begin).count();
  }
  if (reader_.empty() && !filled) {
    exhausted_ = true;
    return Status::Ok();
  }
  window_end_ = range_.to;
  if (spec.reverse && !(aggregates() && plan_.grid.whole())) {
    return Status::Ok();
  }
  if (!aggregates()) {
    reader_.Start(range_);
    return Status::Ok();
  }
  return filled ? filler_.Start(&reader_, range_) : scan_.Start(&reader_, range_, spec.range);
}

// The newest sample most likely lies near the newest of all: there first.
Status SeriesRows::OpenLatest(SeriesId id) {
  exhausted_ = true;
  Timestamp newest = kTimestampMin;
  Timestamp oldest = kTimestampMax;
  for (const ChunkFilePtr& file : plan_.version->files) {
    newest = std::max(newest, file->meta().last_time);
    oldest = std::min(oldest, file->meta().first_time);
  }
  std::optional<Number> found;
  if (oldest < newest && newest <= range_.to) {
    const auto span = static_cast<std::uint64_t>(newest) - static_cast<std::uint64_t>(oldest);
    for (const std::uint64_t share : {4096, 64}) {
      const auto near = static_cast<Timestamp>(static_cast<std::uint64_t>(newest) - span / share);
      if (!found && near > range_.from) {
        TSDB_RETURN_IF_ERROR(reader_.Open(id, {near, range_.to}, false));
        TSDB_ASSIGN_OR_RETURN(found, reader_.Newest());
        counts_.series -= found ? 0 : 1;
      }
    }
  }
  if (!found) {
    TSDB_RETURN_IF_ERROR(reader_.Open(id, range_, false));
    TSDB_ASSIGN_OR_RETURN(found, reader_.Newest());
  }
  if (found) {
    rows_.Reset(1);
    rows_.times.push_back(found->time);
    rows_.columns[0].push_back(found->value);
  }
  return Status::Ok();
}

Status SeriesRows::Next(ColumnBatch* batch) {
  batch->times = {};
  batch->columns.clear();
  if (rows_left_ == 0) {
    return Status::Ok();
  }
  const bool timed = plan_.spec.explain;
  const auto begin = timed ? QueryPlan::Clock::now() : QueryPlan::Clock::time_point();
  Status status;
  if (next_row_ < rows_.size() || plan_.spec.latest ||
      (plan_.spec.reverse && !(aggregates() && plan_.grid.whole()))) {
    status = NextBackwards(batch);
  } else if (!exhausted_) {
    status = aggregates() ? NextAggregates(batch) : NextSamples(batch);
  }
  if (timed) {
    counts_.aggregate_seconds += std::chrono::duration<double>(QueryPlan::Clock::now() - begin).count();
  }
  TSDB_RETURN_IF_ERROR(status);
  if (batch->times.size() > rows_left_) {
    batch->times = batch->times.first(rows_left_);
    for (auto& column : batch->columns) {
      column = column.first(rows_left_);
    }
  }
  rows_left_ -= batch->times.size();
  counts_.rows += batch->times.size();
  return Status::Ok();
}

Status SeriesRows::NextSamples(ColumnBatch* batch) {
  Piece piece;
  if (!reader_.Next(nullptr, &piece)) {
    exhausted_ = true;
    return reader_.status();
  }
  batch->times = piece.samples.times;
  batch->columns.assign(1, piece.samples.values);
  return Status::Ok();
}

Status SeriesRows::NextAggregates(ColumnBatch* batch) {
  const auto rows_max = static_cast<std::size_t>(std::min<std::uint64_t>(rows_left_, kBatchRows));
  const bool filled = plan_.spec.fill != Fill::kNone && !plan_.grid.whole();
  TSDB_RETURN_IF_ERROR(filled ? filler_.Next(rows_max, &rows_) : scan_.Next(rows_max, &rows_));
  next_row_ = rows_.size();
  exhausted_ = rows_.empty();
  rows_.View(0, rows_.size(), batch);
  return Status::Ok();
}

/// Replaces rows_ by all rows of the window, the newest first.
Status SeriesRows::ReadWindow(TimeRange window) {
  const bool filled = plan_.spec.fill != Fill::kNone;
  if (!aggregates()) {
    rows_.Reset(1);
    reader_.Start(window);
    Piece piece;
    while (reader_.Next(nullptr, &piece)) {
      rows_.times.insert(rows_.times.end(), piece.samples.times.begin(), piece.samples.times.end());
      rows_.columns[0].insert(rows_.columns[0].end(), piece.samples.values.begin(), piece.samples.values.end());
    }
    TSDB_RETURN_IF_ERROR(reader_.status());
  } else if (filled) {
    TSDB_RETURN_IF_ERROR(filler_.Start(&reader_, window));
    TSDB_RETURN_IF_ERROR(filler_.Next(~std::size_t{0}, &rows_));
  } else {
    TSDB_RETURN_IF_ERROR(scan_.Start(&reader_, window, plan_.spec.range));
    TSDB_RETURN_IF_ERROR(scan_.Next(~std::size_t{0}, &rows_));
  }
  rows_.Reverse();
  next_row_ = 0;
  return Status::Ok();
}

Status SeriesRows::NextBackwards(ColumnBatch* batch) {
  const bool filled = aggregates() && plan_.spec.fill != Fill::kNone;
  while (next_row_ == rows_.size() && !exhausted_) {
    std::optional<Timestamp> start = reader_.WindowBefore(window_end_, first_window_);
    first_window_ = false;
    if (!start && !filled) {
      exhausted_ = true;
      break;
    }
    Timestamp from = start.value_or(range_.from);
    if (aggregates()) {
      from = plan_.grid.At(std::min(from, window_end_)).start;
    }
    from = std::max(from, range_.from);
    TSDB_RETURN_IF_ERROR(ReadWindow({from, window_end_}));
    exhausted_ = from == range_.from;
    window_end_ = exhausted_ ? window_end_ : from - 1;
  }
  const std::size_t count = std::min(rows_.size() - next_row_, kBatchRows);
  if (count != 0) {
    rows_.View(next_row_, count, batch);
    next_row_ += count;
  }
  return Status::Ok();
}

}  // namespace tsdb::engine
