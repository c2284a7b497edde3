// BucketGrid: where the buckets of a query begin and end: of fixed width, by the calendar of a time zone, or one over
// the whole range.
//
// Thread safety: constant after Make.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time_zone.h"
#include "tsdb/aggregation.h"
#include "tsdb/result.h"
#include "tsdb/types.h"

namespace tsdb::engine {

/// From `start` to `last`, both included; the next one begins at last + 1.
struct Bucket {
  Timestamp start = 0;
  Timestamp last = 0;
  bool Contains(Timestamp t) const { return start <= t && t <= last; }
  /// start + width, at most kTimestampMax.
  Timestamp end() const { return last == kTimestampMax ? last : last + 1; }
  friend bool operator==(const Bucket&, const Bucket&) = default;
};

class BucketGrid {
 public:
  BucketGrid() = default;
  /// kInvalidArgument: a negative width, an unknown time zone; kNotSupported as TimeZone::Find.
  static Result<BucketGrid> Make(const BucketSpec& spec, TimeRange range, TimeUnit unit);

  /// True when there is one bucket only, over the range.
  bool whole() const { return calendar_ == nullptr && spec_.width == 0; }
  /// The bucket that holds `time`.
  Bucket At(Timestamp time) const;
  /// The one behind; `bucket.last` is below kTimestampMax.
  Bucket After(const Bucket& bucket) const;
  /// The time that labels its row.
  Timestamp RowTime(const Bucket& bucket) const;
  /// Of the bucket whose row this time labels: the first time behind it, the last before it.
  Timestamp Behind(Timestamp row_time) const;
  Timestamp Before(Timestamp row_time) const;

 private:
  BucketSpec spec_;
  TimeRange range_;
  std::shared_ptr<const Calendar> calendar_;
};

}  // namespace tsdb::engine
