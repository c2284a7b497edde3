// Scheduler: a thread that runs one kind of job when it is due: flushes (WAL bytes, memory, age), or merges.
//
// A job that failed is tried again after a second, then after twice as long each time, up to a minute; up to two
// seconds when the disk was full.
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
  /// `due` says whether the job should run now (asked when woken, and every second); `job` runs it.
  Scheduler(std::function<bool()> due, std::function<Status()> job);
  /// Waits for a job that is running.
  ~Scheduler();
  void Wake();

 private:
  void Run();

  const std::function<bool()> due_;
  const std::function<Status()> job_;
  Mutex mutex_;  // guards the flags; leaf lock
  CondVar wake_;
  bool stop_ TSDB_GUARDED_BY(mutex_) = false;
  bool woken_ TSDB_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when all is there
};

}  // namespace tsdb::engine
