#include "engine/query/bucket_filler.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tsdb::engine {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// What an aggregator says of no samples.
double OfNothing(Aggregator aggregator) {
  switch (aggregator) {
    case Aggregator::kSum:
    case Aggregator::kCount:
    case Aggregator::kCountNan:
    case Aggregator::kCountAll:
    case Aggregator::kIncrease:
    case Aggregator::kRate:
      return 0;
    default:
      return kNaN;
  }
}

}  // namespace

Status BucketFiller::Start(SeriesReader* reader, TimeRange window) {
  reader_ = reader;
  window_ = window;
  before_.reset();
  row_.reset();
  before_has_values_ = false;
  row_is_beyond_ = false;
  gap_open_ = false;
  ended_ = window.empty();
  due_ = !ended_;
  filled_ = 0;
  next_ = 0;
  block_.Reset(0);
  if (ended_) {
    return Status::Ok();
  }
  gap_ = plan_.grid.At(window.from);
  TSDB_RETURN_IF_ERROR(LookBehind());
  return scan_.Start(reader, window, plan_.spec.range);
}

/// What lies before the window.
Status BucketFiller::LookBehind() {
  TSDB_ASSIGN_OR_RETURN(const auto sample, reader_->SampleBefore(window_.from, false));
  if (!sample) {
    return Status::Ok();
  }
  Row row;
  if (plan_.spec.fill == Fill::kPrevious || plan_.spec.fill == Fill::kLinear) {
    const Bucket bucket = plan_.grid.At(sample->time);
    TSDB_ASSIGN_OR_RETURN(auto beside,
                          RowBeside(sample->time, {bucket.start, std::min(bucket.last, window_.from - 1)}));
    if (beside) {
      row = std::move(*beside);
      before_has_values_ = true;
    }
  }
  row.last = sample->value;
  if (plan_.needs.area && plan_.spec.fill == Fill::kEmpty) {
    TSDB_ASSIGN_OR_RETURN(row.left, reader_->SampleBefore(window_.from, true));
    TSDB_ASSIGN_OR_RETURN(row.right, reader_->SampleAfter(window_.from - 1, true));
  }
  before_ = std::move(row);
  return Status::Ok();
}

/// The row of a bucket outside the window that holds a sample at `time`; of the bucket only `part` counts.
Result<std::optional<BucketFiller::Row>> BucketFiller::RowBeside(Timestamp time, TimeRange part) {
  const TimeRange& range = plan_.spec.range;
  const bool in_range = range.Contains(time);
  if (in_range) {
    part = {std::max(part.from, range.from), std::min(part.to, range.to)};
  }
  TSDB_ASSIGN_OR_RETURN(const auto reader, reader_->OpenBeside(part));
  BucketScan scan(plan_);
  TSDB_RETURN_IF_ERROR(scan.Start(reader.get(), part, in_range ? range : part));
  RowBlock rows;
  TSDB_RETURN_IF_ERROR(scan.Next(1, &rows));
  if (rows.empty()) {
    return std::optional<Row>();
  }
  Row row;
  row.time = rows.times[0];
  for (const auto& column : rows.columns) {
    row.values.push_back(column[0]);
  }
  return std::optional<Row>(std::move(row));
}

/// The next row of the scan; at its end what lies behind the window.
Status BucketFiller::FetchRow() {
  if (next_ == block_.size()) {
    TSDB_RETURN_IF_ERROR(scan_.Next(kBatchRows, &block_));
    next_ = 0;
  }
  if (next_ == block_.size()) {
    ended_ = true;
    if (!before_ || !due_ || gap_.start > window_.to) {
      return Status::Ok();
    }
    TSDB_ASSIGN_OR_RETURN(const auto sample, reader_->SampleAfter(window_.to, false));
    if (!sample) {
      return Status::Ok();
    }
    gap_open_ = true;
    gap_end_ = window_.to == kTimestampMax ? window_.to : window_.to + 1;
    row_is_beyond_ = true;
    row_.reset();
    if (plan_.spec.fill == Fill::kLinear) {
      const Bucket bucket = plan_.grid.At(sample->time);
      TSDB_ASSIGN_OR_RETURN(row_, RowBeside(sample->time, {std::max(bucket.start, window_.to + 1), bucket.last}));
    }
    return Status::Ok();
  }
  const BucketScan::RowEdges& edges = scan_.edges()[next_];
  Row row;
  row.time = block_.times[next_];
  for (const auto& column : block_.columns) {
    row.values.push_back(column[next_]);
  }
  row.last = edges.last;
  row.left = edges.last_number;
  row.right = edges.after;
  ++next_;
  gap_open_ = before_.has_value() && edges.bucket.start > gap_.start;
  gap_end_ = edges.bucket.start;
  if (!gap_open_) {
    gap_ = edges.bucket;
  }
  row_ = std::move(row);
  return Status::Ok();
}

double BucketFiller::FillValue(std::size_t column, const Bucket& bucket, Timestamp row_time) const {
  const Aggregator aggregator = plan_.spec.aggregators[column].aggregator;
  switch (plan_.spec.fill) {
    case Fill::kConstant:
      return plan_.spec.fill_value;
    case Fill::kPrevious:
      return before_has_values_ ? before_->values[column] : kNaN;
    case Fill::kLinear:
      if (!before_has_values_ || !row_) {
        return kNaN;
      }
      return Between({before_->time, before_->values[column]}, {row_->time, row_->values[column]}, row_time);
    case Fill::kEmpty:
      if (aggregator == Aggregator::kLast) {
        return before_->last;
      }
      if (aggregator == Aggregator::kTwa && before_->left && before_->right) {
        const Timestamp from = std::max(bucket.start, plan_.spec.range.from);
        const Timestamp to = std::min(bucket.end(), plan_.spec.range.to);
        return 0.5 * Between(*before_->left, *before_->right, from) +
               0.5 * Between(*before_->left, *before_->right, to);
      }
      return OfNothing(aggregator);
    default:
      return kNaN;
  }
}

void BucketFiller::EmitGapRow(RowBlock* rows) {
  const Timestamp time = plan_.grid.RowTime(gap_);
  rows->times.push_back(time);
  for (std::size_t i = 0; i < rows->columns.size(); ++i) {
    rows->columns[i].push_back(FillValue(i, gap_, time));
  }
  if (gap_.last == kTimestampMax) {
    due_ = false;
    gap_open_ = false;
    return;
  }
  gap_ = plan_.grid.After(gap_);
  gap_open_ = gap_.start < gap_end_;
}

Status BucketFiller::Next(std::size_t rows_max, RowBlock* rows) {
  rows->Reset(plan_.spec.aggregators.size());
  while (rows->size() < rows_max) {
    if (gap_open_) {
      TSDB_RETURN_IF_ERROR(plan_.CheckHeld(++filled_, "filled buckets"));
      if (filled_ % kBatchRows == 0) {
        TSDB_RETURN_IF_ERROR(plan_.Spend(0));
      }
      EmitGapRow(rows);
      continue;
    }
    if (row_ && !row_is_beyond_) {
      rows->times.push_back(row_->time);
      for (std::size_t i = 0; i < rows->columns.size(); ++i) {
        rows->columns[i].push_back(row_->values[i]);
      }
      before_ = std::move(*row_);
      before_has_values_ = true;
      row_.reset();
      due_ = gap_.last != kTimestampMax;
      if (due_) {
        gap_ = plan_.grid.After(gap_);
      }
      continue;
    }
    if (ended_) {
      break;
    }
    TSDB_RETURN_IF_ERROR(FetchRow());
  }
  return Status::Ok();
}

}  // namespace tsdb::engine
