// Subscription: the samples of some series as they are committed, for caches, alerts and copies.
//
// Effects arrive in commit order per series: what was stored, with the commit that did it; a delete that concerned the
// series as a range. A subscriber that is too slow loses the oldest ones waiting and is told so: it reads what it
// missed with a query.
//
// Thread safety: the callback runs in one thread of the subscription, one call at a time; it may use the database but
// not end its own subscription.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "tsdb/types.h"

namespace tsdb {

/// One thing that happened to a series.
struct SeriesEvent {
  enum class Kind : std::uint8_t {
    kSample,    // stored or replaced: sample
    kDelete,    // samples in range went
    kDropped,   // the series ended
    kOverflow,  // events between the one before and the next were lost: `lost` of them; series is 0
  };
  Kind kind = Kind::kSample;
  SeriesId series;
  CommitNumber commit;
  Sample sample;
  TimeRange range;
  std::uint64_t lost = 0;
};

using EventCallback = std::function<void(std::span<const SeriesEvent>)>;

struct SubscribeOptions {
  /// Events that may wait. Default 65,536, about 5 MiB.
  std::size_t queue_max = 65536;
};

/// Ends when it is destroyed: no callback runs after that. Must not outlive the database.
class Subscription {
 public:
  virtual ~Subscription() = default;
  /// Waits until everything committed before the call was handed to the callback.
  virtual void Drain() = 0;
};

}  // namespace tsdb
