// TimeScale: times of a text's unit to the database's unit, prepared once and checked for overflow each time.
//
// Thread safety: value type.
#pragma once

#include <cstdint>

#include "tsdb/types.h"

namespace tsdb::ingest {

class TimeScale {
 public:
  TimeScale() = default;
  TimeScale(TimeUnit from, TimeUnit to) {
    const std::int64_t from_rate = UnitsPerSecond(from);
    const std::int64_t to_rate = UnitsPerSecond(to);
    if (to_rate >= from_rate) {
      factor_ = to_rate / from_rate;
    } else {
      divisor_ = from_rate / to_rate;
    }
  }

  /// False when the result does not fit or is not a time that may be stored. To a coarser unit it rounds towards minus
  /// infinity.
  bool Convert(std::int64_t time, Timestamp* out) const {
    if (divisor_ != 1) {
      std::int64_t quotient = time / divisor_;
      quotient -= time % divisor_ < 0;
      *out = quotient;
      return true;
    }
    return !__builtin_mul_overflow(time, factor_, out) && *out != kNow;
  }

 private:
  std::int64_t factor_ = 1;
  std::int64_t divisor_ = 1;
};

}  // namespace tsdb::ingest
