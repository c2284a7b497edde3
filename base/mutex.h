// Mutex, SharedMutex, their guards and CondVar with clang's thread-safety annotations (checked by the `clang` preset).
//
// Each mutex says at its declaration what it guards; the one lock order of the engine stands in
// engine/database_impl.h.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#if defined(__clang__)
#define TSDB_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define TSDB_THREAD_ANNOTATION(x)
#endif
#define TSDB_CAPABILITY(x) TSDB_THREAD_ANNOTATION(capability(x))
#define TSDB_SCOPED_CAPABILITY TSDB_THREAD_ANNOTATION(scoped_lockable)
#define TSDB_GUARDED_BY(x) TSDB_THREAD_ANNOTATION(guarded_by(x))
#define TSDB_PT_GUARDED_BY(x) TSDB_THREAD_ANNOTATION(pt_guarded_by(x))
#define TSDB_REQUIRES(...) TSDB_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define TSDB_REQUIRES_SHARED(...) TSDB_THREAD_ANNOTATION(requires_shared_capability(__VA_ARGS__))
#define TSDB_ACQUIRE(...) TSDB_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define TSDB_ACQUIRE_SHARED(...) TSDB_THREAD_ANNOTATION(acquire_shared_capability(__VA_ARGS__))
#define TSDB_RELEASE(...) TSDB_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define TSDB_RELEASE_SHARED(...) TSDB_THREAD_ANNOTATION(release_shared_capability(__VA_ARGS__))
#define TSDB_EXCLUDES(...) TSDB_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define TSDB_NO_THREAD_SAFETY_ANALYSIS TSDB_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace tsdb {

class TSDB_CAPABILITY("mutex") Mutex {
 public:
  void Lock() TSDB_ACQUIRE() { mutex_.lock(); }
  void Unlock() TSDB_RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class TSDB_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TSDB_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() TSDB_RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class TSDB_CAPABILITY("shared mutex") SharedMutex {
 public:
  void Lock() TSDB_ACQUIRE() { mutex_.lock(); }
  void Unlock() TSDB_RELEASE() { mutex_.unlock(); }
  void LockShared() TSDB_ACQUIRE_SHARED() { mutex_.lock_shared(); }
  void UnlockShared() TSDB_RELEASE_SHARED() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

class TSDB_SCOPED_CAPABILITY WriteLock {
 public:
  explicit WriteLock(SharedMutex& mutex) TSDB_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~WriteLock() TSDB_RELEASE() { mutex_.Unlock(); }
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

 private:
  SharedMutex& mutex_;
};

class TSDB_SCOPED_CAPABILITY ReadLock {
 public:
  explicit ReadLock(SharedMutex& mutex) TSDB_ACQUIRE_SHARED(mutex) : mutex_(mutex) { mutex_.LockShared(); }
  ~ReadLock() TSDB_RELEASE() { mutex_.UnlockShared(); }
  ReadLock(const ReadLock&) = delete;
  ReadLock& operator=(const ReadLock&) = delete;

 private:
  SharedMutex& mutex_;
};

/// Condition variable of a Mutex the caller holds.
class CondVar {
 public:
  void Wait(Mutex& mutex) TSDB_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    cv_.wait(lock);
    lock.release();
  }
  /// False when the time ran out.
  bool WaitFor(Mutex& mutex, std::chrono::nanoseconds timeout) TSDB_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool notified = cv_.wait_for(lock, timeout) == std::cv_status::no_timeout;
    lock.release();
    return notified;
  }
  void NotifyOne() { cv_.notify_one(); }
  void NotifyAll() { cv_.notify_all(); }

 private:
  std::condition_variable cv_;
};

}  // namespace tsdb
