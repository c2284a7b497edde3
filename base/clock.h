// Clock: wall time and monotonic time, replaceable in tests.
//
// Thread safety: thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "tsdb/types.h"

namespace tsdb {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Nanoseconds since 1970-01-01T00:00Z; may jump.
  virtual std::int64_t WallNanos() = 0;
  /// Nanoseconds from an arbitrary start; never goes back.
  virtual std::int64_t MonotonicNanos() = 0;
};

/// The machine's; lives for the whole process.
Clock& SystemClock();

/// Moves only when told.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(std::int64_t wall_nanos = 1'700'000'000'000'000'000) : wall_nanos_(wall_nanos) {}
  std::int64_t WallNanos() override { return wall_nanos_.load(std::memory_order_relaxed); }
  std::int64_t MonotonicNanos() override { return monotonic_nanos_.load(std::memory_order_relaxed); }
  /// Moves both times.
  void Advance(std::int64_t nanos) {
    wall_nanos_.fetch_add(nanos, std::memory_order_relaxed);
    monotonic_nanos_.fetch_add(nanos, std::memory_order_relaxed);
  }
  /// Sets the wall time alone: a jump.
  void SetWall(std::int64_t nanos) { wall_nanos_.store(nanos, std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> wall_nanos_;
  std::atomic<std::int64_t> monotonic_nanos_{1};
};

/// Wall time in a unit of a database, rounded towards minus infinity.
Timestamp WallTime(Clock& clock, TimeUnit unit);

}  // namespace tsdb
