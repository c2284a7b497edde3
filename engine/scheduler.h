// Scheduler: the thread that runs flushes when they are due (WAL bytes, memory, age).
//
// A flush that failed is tried again after a second, then after twice as long each time, up to a minute; up to
// two seconds when the disk was full.
//
// Thread safety: Wake may be called from any thread.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "base/mutex.h"
#include "tsdb/status.h"

namespace tsdb::engine {

class Scheduler {
 public:
  /// `due` says whether a flush should run now; `flush` runs it.
  Scheduler(std::function<bool()> due, std::function<Status()> flush);
  /// Waits for a flush that is running.
  ~Scheduler();
  void Wake();

 private:
  void Run();

  const std::function<bool()> due_;
  const std::function<Status()> flush_;
  Mutex mutex_;  // guards the flags; leaf lock
  CondVar wake_;
  bool stop_ TSDB_GUARDED_BY(mutex_) = false;
  bool woken_ TSDB_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when all is there
};

}  // namespace tsdb::engine
