#include "base/thread_pool.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace tsdb {

unsigned ProcessorCount() {
  static const unsigned count = std::max(1u, std::thread::hardware_concurrency());
  return count;
}

Result<std::unique_ptr<ThreadPool>> ThreadPool::Create(std::size_t threads) {
  std::unique_ptr<ThreadPool> pool(new ThreadPool);
  const std::size_t count = std::max<std::size_t>(threads, 1);
  try {
    pool->threads_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      pool->threads_.emplace_back([p = pool.get()] { p->Run(); });
    }
  } catch (const std::system_error& error) {
    return Status::ResourceExhausted(fmt::format("thread pool: thread {} of {} could not be started: {}",
                                                 pool->threads_.size() + 1, count, error.code().message()));
  }
  return pool;
}

ThreadPool::~ThreadPool() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
    work_.NotifyAll();
  }
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void ThreadPool::Submit(std::function<void()> task) {
  MutexLock lock(mutex_);
  queue_.push_back(std::move(task));
  work_.NotifyOne();
}

void ThreadPool::WaitIdle() {
  MutexLock lock(mutex_);
  while (!queue_.empty() || running_ > 0) {
    idle_.Wait(mutex_);
  }
}

void ThreadPool::Run() {
  mutex_.Lock();
  while (true) {
    // A running task may still submit, so closing ends a thread only when nothing runs either.
    while (queue_.empty() && !(closing_ && running_ == 0)) {
      work_.Wait(mutex_);
    }
    if (queue_.empty()) {
      break;
    }
    std::function<void()> task = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    mutex_.Unlock();
    task();
    task = nullptr;  // what it captured goes before it counts as done
    mutex_.Lock();
    --running_;
    if (queue_.empty() && running_ == 0) {
      idle_.NotifyAll();
      work_.NotifyAll();
    }
  }
  mutex_.Unlock();
}

}  // namespace tsdb
