#include "engine/scheduler.h"

#include <algorithm>
#include <utility>

namespace tsdb::engine {

using std::chrono::seconds;

Scheduler::Scheduler(std::function<bool()> due, std::function<Status()> flush)
    : due_(std::move(due)), flush_(std::move(flush)), thread_([this] { Run(); }) {}

Scheduler::~Scheduler() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

void Scheduler::Wake() {
  MutexLock lock(mutex_);
  woken_ = true;
  wake_.NotifyAll();
}

void Scheduler::Run() {
  seconds back_off{0};
  for (;;) {
    {
      MutexLock lock(mutex_);
      const auto deadline = std::chrono::steady_clock::now() + std::max(back_off, seconds{1});
      while (!stop_ && (!woken_ || back_off.count() != 0)) {
        const auto left = deadline - std::chrono::steady_clock::now();
        if (left.count() <= 0 || !wake_.WaitFor(mutex_, left)) {
          break;
        }
      }
      if (stop_) {
        return;
      }
      woken_ = false;
    }
    if (!due_()) {
      back_off = seconds{0};
      continue;
    }
    const Status status = flush_();
    // Space comes back at any moment, and writers may be waiting for it.
    const seconds longest{status.code() == StatusCode::kNoSpace ? 2 : 60};
    back_off = status.ok() ? seconds{0} : std::clamp(back_off * 2, seconds{1}, longest);
  }
}

}  // namespace tsdb::engine
