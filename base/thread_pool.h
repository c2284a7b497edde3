// ThreadPool: a fixed number of threads that run tasks in the order they were submitted.
//
// Not for tasks that wait for one another (they could fill all threads), nor for periodic work.
//
// Thread safety: Submit and WaitIdle are thread-safe; tasks may submit tasks. Tasks must not throw.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "tsdb/result.h"

namespace tsdb {

/// Processors of the machine, at least 1. Asked once: the system reads a file each time.
unsigned ProcessorCount();

class ThreadPool {
 public:
  /// At least one thread is started. kResourceExhausted: the system gives no more threads.
  static Result<std::unique_ptr<ThreadPool>> Create(std::size_t threads);
  /// Runs everything submitted, what running tasks submit meanwhile included, then ends the threads.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void Submit(std::function<void()> task) TSDB_EXCLUDES(mutex_);
  /// Returns when no task waits or runs. Not to be called from a task.
  void WaitIdle() TSDB_EXCLUDES(mutex_);
  std::size_t threads() const { return threads_.size(); }

 private:
  ThreadPool() = default;
  void Run() TSDB_EXCLUDES(mutex_);

  // Constant after Create.
  std::vector<std::thread> threads_;

  // Guards the queue; a leaf: no other lock is taken while it is held.
  Mutex mutex_;
  CondVar work_;  // a task was queued, or closing_
  CondVar idle_;  // nothing waits or runs
  std::deque<std::function<void()>> queue_ TSDB_GUARDED_BY(mutex_);
  std::size_t running_ TSDB_GUARDED_BY(mutex_) = 0;
  bool closing_ TSDB_GUARDED_BY(mutex_) = false;
};

}  // namespace tsdb
