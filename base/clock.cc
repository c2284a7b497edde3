#include "base/clock.h"

#include <ctime>

namespace tsdb {

namespace {

std::int64_t ReadClock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);  // cannot fail: the ids are constants and the pointer is valid
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

class MachineClock final : public Clock {
 public:
  std::int64_t WallNanos() override { return ReadClock(CLOCK_REALTIME); }
  std::int64_t MonotonicNanos() override { return ReadClock(CLOCK_MONOTONIC); }
};

}  // namespace

Clock& SystemClock() {
  static MachineClock* const clock = new MachineClock;  // never destroyed: threads may outlive main()
  return *clock;
}

Timestamp WallTime(Clock& clock, TimeUnit unit) {
  // From nanoseconds to a unit at least as coarse: always fits.
  return *ConvertTime(clock.WallNanos(), TimeUnit::kNanoseconds, unit);
}

}  // namespace tsdb
