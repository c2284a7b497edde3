#include "engine/query/bucket_grid.h"

#include <algorithm>

#include <fmt/format.h>

namespace tsdb::engine {

Result<BucketGrid> BucketGrid::Make(const BucketSpec& spec, TimeRange range, TimeUnit unit) {
  if (spec.width < 0) {
    return Status::InvalidArgument(fmt::format("bucket width {} is negative: give a positive width", spec.width));
  }
  BucketGrid grid;
  grid.spec_ = spec;
  grid.range_ = range;
  if (spec.calendar != CalendarUnit::kNone) {
    TSDB_ASSIGN_OR_RETURN(Calendar calendar, Calendar::Make(spec.calendar, std::max<std::int64_t>(1, spec.width),
                                                            spec.time_zone, unit));
    grid.calendar_ = std::make_shared<const Calendar>(std::move(calendar));
  } else if (!spec.time_zone.empty()) {
    return Status::InvalidArgument("a time zone needs buckets of the calendar: give a calendar unit");
  }
  return grid;
}

Bucket BucketGrid::At(Timestamp time) const {
  if (calendar_ != nullptr) {
    const TimeRange range = calendar_->At(time);
    return {range.from, range.to};
  }
  if (spec_.width == 0) {
    return {range_.from, range_.to};
  }
  const Timestamp start = BucketStart(time, spec_);
  Timestamp last = 0;
  if (__builtin_add_overflow(start, spec_.width - 1, &last)) {
    last = kTimestampMax;
  }
  // A start that saturated at the lowest time says nothing about the end.
  return {start, start == kTimestampMin ? std::max(last, time) : last};
}

Bucket BucketGrid::After(const Bucket& bucket) const {
  if (calendar_ == nullptr && spec_.width != 0 && bucket.start != kTimestampMin) {
    Timestamp last = 0;
    if (__builtin_add_overflow(bucket.last, spec_.width, &last)) {
      last = kTimestampMax;
    }
    return {bucket.last + 1, last};
  }
  return At(bucket.last + 1);
}

Timestamp BucketGrid::RowTime(const Bucket& bucket) const {
  if (whole() || spec_.label == BucketLabel::kStart) {
    return bucket.start;
  }
  if (spec_.label == BucketLabel::kEnd) {
    return bucket.end();
  }
  const auto width = static_cast<std::uint64_t>(bucket.last) - static_cast<std::uint64_t>(bucket.start) + 1;
  return static_cast<Timestamp>(static_cast<std::uint64_t>(bucket.start) + width / 2);
}

Timestamp BucketGrid::Behind(Timestamp row_time) const {
  if (spec_.label == BucketLabel::kEnd && !whole()) {
    return row_time;
  }
  const Bucket bucket = At(row_time);
  return bucket.end();
}

Timestamp BucketGrid::Before(Timestamp row_time) const {
  const bool at_end = spec_.label == BucketLabel::kEnd && !whole();
  const Bucket bucket = At(at_end && row_time != kTimestampMin ? row_time - 1 : row_time);
  return bucket.start == kTimestampMin ? kTimestampMin : bucket.start - 1;
}

}  // namespace tsdb::engine
