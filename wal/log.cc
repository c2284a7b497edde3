// GroupCommitLog: the queue, the leader and the sync thread of the log; the file side is LogWriter.
//
// Two things are held, always in this order:
//   leadership   a token: whoever has it does I/O (a thread in Write, SyncThrough, RemoveThrough …, the sync thread);
//   mutex_       the queue and the figures, held for a few instructions, never during I/O.
// The thread that gives leadership back wakes one that wants it: first those that wait for leadership itself, else one
// whose record is queued. A leader in Write goes on until its own record is done.
#include "wal/log.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

#include "base/mutex.h"
#include "wal/log_writer.h"

namespace tsdb::wal {
namespace {

/// A group is closed at about this size; a larger record is a group of its own.
constexpr std::uint64_t kGroupBytesMax = 4ull << 20;

bool TooLarge(const LogRecord& record) { return record.payload.size() > kRecordBytesMax; }

/// The leader serves other threads: running out of memory is an outcome of what it did for them, not an exception.
template <typename F>
Status WithoutThrowing(const F& step) {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory("no memory");
  }
}

}  // namespace

class GroupCommitLog final : public Log {
 public:
  GroupCommitLog(FileSystem& fs, Clock& clock, std::string directory, LogOptions options)
      : directory_(directory),
        sync_interval_(std::chrono::milliseconds(options.sync_interval_ms)),
        on_state_change_(std::move(options.on_state_change)),
        writer_(fs, clock, std::move(directory), options),
        last_assigned_(options.last_commit.value),
        last_written_(writer_.last_valid()) {}
  ~GroupCommitLog() override;

  Status Start();

  std::uint64_t epoch() const override { return epoch_.load(std::memory_order_acquire); }
  bool Enqueue(LogRecord* record, Durability durability, std::uint64_t epoch) override;
  Status Write(LogRecord* record) override;
  CommitNumber last_assigned() const override { return {last_assigned_.load(std::memory_order_acquire)}; }
  CommitNumber last_synced() const override { return {last_synced_.load(std::memory_order_acquire)}; }
  Status SyncThrough(CommitNumber commit) override;
  Status SyncNow() override;
  void RequestRoll() override;
  Status RemoveThrough(CommitNumber commit, bool include_active) override;
  LogStats GetStats() const override;

 private:
  /// A capability, so that the thread-safety analysis sees who may touch the writer.
  class TSDB_CAPABILITY("role") Leadership {
   public:
    void Acquire() TSDB_ACQUIRE() {}
    void Release() TSDB_RELEASE() {}
  };

  /// Records taken off the queue together, linked by next_.
  struct Group {
    LogRecord* first = nullptr;
    CommitNumber last;
    bool sync = false;
    bool interval = false;
  };

  bool MustWait(const LogRecord& record) const TSDB_REQUIRES(mutex_) {
    return record.state() == LogRecord::State::kPending && (led_ || leaders_waiting_ > 0);
  }
  void TakeLeadership() TSDB_EXCLUDES(mutex_) TSDB_ACQUIRE(leadership_);
  void PassLeadership() TSDB_EXCLUDES(mutex_) TSDB_RELEASE(leadership_);
  void WakeQueued() TSDB_REQUIRES(mutex_);
  Group TakeGroup() TSDB_REQUIRES(mutex_, leadership_);
  void WriteGroup() TSDB_REQUIRES(leadership_) TSDB_EXCLUDES(mutex_);
  Status WriteFrameOf(const Group& group) TSDB_REQUIRES(leadership_);
  void Fail(const Group& group, const Status& status) TSDB_REQUIRES(leadership_) TSDB_EXCLUDES(mutex_);
  static void Settle(LogRecord* record, LogRecord::State state, const Status& status);
  Status SyncLed() TSDB_REQUIRES(leadership_) TSDB_EXCLUDES(mutex_);
  void PublishWriter() TSDB_REQUIRES(mutex_, leadership_);
  void NoteOutcome(const Status& status) TSDB_REQUIRES(leadership_) TSDB_EXCLUDES(mutex_);
  void RunSyncThread() TSDB_EXCLUDES(mutex_);

  // Constant.
  const std::string directory_;
  const std::chrono::nanoseconds sync_interval_;
  const std::function<void(const Status&)> on_state_change_;

  Leadership leadership_;  // before mutex_
  LogWriter writer_ TSDB_GUARDED_BY(leadership_);

  mutable Mutex mutex_;  // guards what follows; a leaf
  LogRecord* queue_first_ TSDB_GUARDED_BY(mutex_) = nullptr;
  LogRecord* queue_last_ TSDB_GUARDED_BY(mutex_) = nullptr;
  bool led_ TSDB_GUARDED_BY(mutex_) = false;
  int leaders_waiting_ TSDB_GUARDED_BY(mutex_) = 0;
  CondVar leader_wake_;
  bool roll_requested_ TSDB_GUARDED_BY(mutex_) = false;
  bool interval_due_ TSDB_GUARDED_BY(mutex_) = false;  // interval-level records are written and not synced
  bool stop_ TSDB_GUARDED_BY(mutex_) = false;
  CondVar sync_wake_;
  std::uint64_t groups_ TSDB_GUARDED_BY(mutex_) = 0;
  std::uint64_t commits_ TSDB_GUARDED_BY(mutex_) = 0;
  std::uint64_t bytes_ TSDB_GUARDED_BY(mutex_) = 0;
  std::uint64_t segments_ TSDB_GUARDED_BY(mutex_) = 0;
  std::uint64_t syncs_ TSDB_GUARDED_BY(mutex_) = 0;
  Status error_ TSDB_GUARDED_BY(mutex_);

  // Written under mutex_ (release), read anywhere (acquire).
  std::atomic<std::uint64_t> epoch_{1};
  std::atomic<std::uint64_t> last_assigned_;
  std::atomic<std::uint64_t> last_synced_{0};
  CommitNumber last_written_ TSDB_GUARDED_BY(mutex_);

  std::thread sync_thread_;
};

GroupCommitLog::~GroupCommitLog() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    sync_wake_.NotifyAll();
  }
  if (sync_thread_.joinable()) {
    sync_thread_.join();
  }
  TakeLeadership();
  writer_.Close();
  PassLeadership();
}

Status GroupCommitLog::Start() {
  TakeLeadership();
  Status status = WithoutThrowing([this]() TSDB_NO_THREAD_SAFETY_ANALYSIS { return writer_.Open(); });
  {
    MutexLock lock(mutex_);
    PublishWriter();
  }
  PassLeadership();
  TSDB_RETURN_IF_ERROR(status);
  if (sync_interval_.count() > 0) {
    try {
      sync_thread_ = std::thread([this] { RunSyncThread(); });
    } catch (const std::exception& e) {
      return Status::ResourceExhausted(directory_ + ": cannot start the sync thread: " + e.what());
    }
  }
  return {};
}

bool GroupCommitLog::Enqueue(LogRecord* record, Durability durability, std::uint64_t epoch) {
  MutexLock lock(mutex_);
  if (epoch != epoch_.load(std::memory_order_relaxed)) {
    return false;
  }
  record->commit_ = {last_assigned_.load(std::memory_order_relaxed) + 1};
  last_assigned_.store(record->commit_.value, std::memory_order_release);
  record->durability_ = durability;
  record->status_ = Status();
  record->next_ = nullptr;
  record->wake_ = nullptr;
  record->state_.store(LogRecord::State::kPending, std::memory_order_relaxed);
  (queue_last_ ? queue_last_->next_ : queue_first_) = record;
  queue_last_ = record;
  return true;
}

Status GroupCommitLog::Write(LogRecord* record) {
  mutex_.Lock();
  if (MustWait(*record)) {
    CondVar wake;
    record->wake_ = &wake;
    while (MustWait(*record)) {
      wake.Wait(mutex_);
    }
    record->wake_ = nullptr;
  }
  const bool lead = record->state() == LogRecord::State::kPending;
  led_ = led_ || lead;
  mutex_.Unlock();
  if (lead) {
    leadership_.Acquire();
    while (record->state() == LogRecord::State::kPending) {
      WriteGroup();
    }
    PassLeadership();
  }
  if (record->state() == LogRecord::State::kFailed && record->status_.ok()) {
    return Status::OutOfMemory("no memory");
  }
  return std::move(record->status_);
}

void GroupCommitLog::TakeLeadership() {
  {
    MutexLock lock(mutex_);
    ++leaders_waiting_;
    while (led_) {
      leader_wake_.Wait(mutex_);
    }
    --leaders_waiting_;
    led_ = true;
  }
  leadership_.Acquire();
}

void GroupCommitLog::PassLeadership() {
  leadership_.Release();
  MutexLock lock(mutex_);
  led_ = false;
  if (leaders_waiting_ > 0) {
    leader_wake_.NotifyOne();
  } else {
    WakeQueued();
  }
}

void GroupCommitLog::WakeQueued() {
  for (LogRecord* record = queue_first_; record; record = record->next_) {
    if (record->wake_) {
      record->wake_->NotifyOne();
      return;
    }
  }
}

GroupCommitLog::Group GroupCommitLog::TakeGroup() {
  Group group;
  group.first = queue_first_;
  std::uint64_t bytes = 0;
  LogRecord* last = nullptr;
  while (queue_first_ && (!last || bytes + queue_first_->payload.size() <= kGroupBytesMax)) {
    last = queue_first_;
    queue_first_ = last->next_;
    bytes += last->payload.size();
    group.sync = group.sync || last->durability_ == Durability::kAlways;
    group.interval = group.interval || last->durability_ == Durability::kInterval;
  }
  if (last) {
    last->next_ = nullptr;
    group.last = last->commit_;
  }
  if (!queue_first_) {
    queue_last_ = nullptr;
  }
  if (roll_requested_) {
    writer_.RequestRoll();
    roll_requested_ = false;
  }
  return group;
}

Status GroupCommitLog::WriteFrameOf(const Group& group) {
  if (TooLarge(*group.first)) {
    return Status::InvalidArgument(directory_ + ": a record of " + std::to_string(group.first->payload.size()) +
                                   " bytes; at most " + std::to_string(kRecordBytesMax) +
                                   " are possible, write less at once");
  }
  writer_.BeginFrame();
  for (const LogRecord* record = group.first; record; record = record->next_) {
    writer_.AddRecord(record->payload);
  }
  return writer_.FinishFrame(group.first->commit_, group.sync);
}

// Writes one group off the queue, if there is any.
void GroupCommitLog::WriteGroup() {
  Group group;
  {
    MutexLock lock(mutex_);
    group = TakeGroup();
  }
  if (!group.first) {
    return;
  }
  Status status = WithoutThrowing([&]() TSDB_NO_THREAD_SAFETY_ANALYSIS { return WriteFrameOf(group); });
  if (!status.ok()) {
    Fail(group, status);
    if (!TooLarge(*group.first)) {
      NoteOutcome(status);
    }
    return;
  }
  bool recovered = false;
  {
    MutexLock lock(mutex_);
    ++groups_;
    for (LogRecord* record = group.first; record;) {
      LogRecord* const next = record->next_;  // the record may be gone once it is settled
      ++commits_;
      Settle(record, LogRecord::State::kWritten, status);
      record = next;
    }
    last_written_ = group.last;
    PublishWriter();
    if (group.interval && writer_.has_unsynced() && !interval_due_) {
      interval_due_ = true;
      sync_wake_.NotifyOne();
    }
    recovered = !error_.ok();
  }
  if (recovered) {
    NoteOutcome(status);
  }
}

// What was judged after these records may be wrong without them, so everything queued fails as well.
void GroupCommitLog::Fail(const Group& group, const Status& status) {
  MutexLock lock(mutex_);
  LogRecord* const queued = queue_first_;
  queue_first_ = nullptr;
  queue_last_ = nullptr;
  epoch_.store(epoch_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  for (LogRecord* list : {group.first, queued}) {
    while (list) {
      LogRecord* const next = list->next_;
      Settle(list, LogRecord::State::kFailed, status);
      list = next;
    }
  }
  writer_.Settle({last_assigned_.load(std::memory_order_relaxed)});
  PublishWriter();
}

// Under mutex_, so that a thread about to wait sees it.
void GroupCommitLog::Settle(LogRecord* record, LogRecord::State state, const Status& status) {
  if (!status.ok()) {
    // Write says so itself should there be no memory for the copy.
    static_cast<void>(WithoutThrowing([&] {
      record->status_ = status;
      return Status();
    }));
  }
  CondVar* const wake = record->wake_;
  record->state_.store(state, std::memory_order_release);
  if (wake) {
    wake->NotifyOne();  // its thread cannot leave Write before mutex_ is free
  }
}

void GroupCommitLog::PublishWriter() {
  last_synced_.store(writer_.synced_through().value, std::memory_order_release);
  bytes_ = writer_.bytes();
  segments_ = writer_.segment_count();
  syncs_ = writer_.syncs();
  interval_due_ = interval_due_ && writer_.has_unsynced();
}

void GroupCommitLog::NoteOutcome(const Status& status) {
  bool changed = false;
  {
    MutexLock lock(mutex_);
    changed = error_.ok() != status.ok();
    error_ = status;
  }
  if (changed && on_state_change_) {
    on_state_change_(status);
  }
}

Status GroupCommitLog::SyncLed() {
  const bool had_unsynced = writer_.has_unsynced();
  Status status = WithoutThrowing([this]() TSDB_NO_THREAD_SAFETY_ANALYSIS { return writer_.Sync(); });
  bool failing = false;
  {
    MutexLock lock(mutex_);
    PublishWriter();
    failing = !error_.ok();
  }
  if (!status.ok() || (had_unsynced && failing)) {
    NoteOutcome(status);
  }
  return status;
}

Status GroupCommitLog::SyncThrough(CommitNumber commit) {
  if (commit <= last_synced()) {
    return {};
  }
  if (commit > last_assigned()) {
    return Status::InvalidArgument(directory_ + ": commit " + std::to_string(commit.value) + " was not given yet");
  }
  TakeLeadership();
  Status status;
  if (commit > last_synced()) {
    bool queued = true;
    while (queued) {
      {
        MutexLock lock(mutex_);
        queued = queue_first_ && queue_first_->commit_ <= commit;
      }
      if (queued) {
        WriteGroup();
      }
    }
    if (commit > last_synced()) {
      status = SyncLed();
    }
  }
  PassLeadership();
  return status;
}

Status GroupCommitLog::SyncNow() {
  TakeLeadership();
  Status status = SyncLed();
  PassLeadership();
  return status;
}

void GroupCommitLog::RequestRoll() {
  MutexLock lock(mutex_);
  roll_requested_ = true;
}

Status GroupCommitLog::RemoveThrough(CommitNumber commit, bool include_active) {
  TakeLeadership();
  Status status = WithoutThrowing(
      [&]() TSDB_NO_THREAD_SAFETY_ANALYSIS { return writer_.RemoveThrough(commit, include_active); });
  {
    MutexLock lock(mutex_);
    PublishWriter();
  }
  PassLeadership();
  return status;
}

LogStats GroupCommitLog::GetStats() const {
  MutexLock lock(mutex_);
  LogStats stats;
  stats.bytes = bytes_;
  stats.segments = segments_;
  stats.groups = groups_;
  stats.commits = commits_;
  stats.syncs = syncs_;
  stats.last_assigned = last_assigned();
  stats.last_written = last_written_;
  stats.last_synced = last_synced();
  stats.error = error_;
  return stats;
}

void GroupCommitLog::RunSyncThread() {
  using SteadyClock = std::chrono::steady_clock;
  mutex_.Lock();
  while (!stop_) {
    if (!interval_due_) {
      sync_wake_.Wait(mutex_);
      continue;
    }
    const auto due = SteadyClock::now() + sync_interval_;
    for (auto left = sync_interval_; !stop_ && left.count() > 0; left = due - SteadyClock::now()) {
      sync_wake_.WaitFor(mutex_, left);
    }
    if (stop_ || !interval_due_) {
      continue;
    }
    mutex_.Unlock();
    (void)SyncNow();  // a failure is in GetStats and told to on_state_change; the next round tries again
    mutex_.Lock();
  }
  mutex_.Unlock();
}

Result<std::unique_ptr<Log>> Log::Open(FileSystem& fs, Clock& clock, std::string directory, LogOptions options) {
  if (options.last_valid_commit > options.last_commit) {
    return Status::InvalidArgument(directory + ": the last valid commit is above the last commit");
  }
  auto log = std::make_unique<GroupCommitLog>(fs, clock, std::move(directory), std::move(options));
  TSDB_RETURN_IF_ERROR(log->Start());
  return std::unique_ptr<Log>(std::move(log));
}

}  // namespace tsdb::wal
