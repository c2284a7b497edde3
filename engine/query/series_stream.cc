#include "engine/query/series_stream.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/mutex.h"
#include "base/thread_pool.h"

namespace tsdb::engine {
namespace {

/// Values a morsel holds before it stops.
constexpr std::size_t kHeldCells = 1 << 19;
/// Series in a morsel.
constexpr std::size_t kMorselMin = 8;
constexpr std::size_t kMorselMax = 128;
/// Other threads are called when so much work is left, in seconds: until a thread that slept is at work, and the caller
/// was told that it is done, a tenth of that may pass.
constexpr double kWorthThreads = 1e-3;
/// The first series take longer than those that follow: a guess from fewer than so many must be this many times that.
constexpr std::size_t kGuessSeries = 16;
constexpr double kClearly = 4;

}  // namespace

/// Rows of one series.
struct SeriesStream::Output {
  SeriesInfoPtr info;
  std::size_t position = 0;
  RowBlock rows;
};

/// Some series, and how far they are.
struct SeriesStream::Morsel {
  Morsel(QueryPlan& the_plan, const std::vector<SeriesId>& the_ids, std::size_t begin, std::size_t the_end,
         std::optional<SeriesRows::Resume> first_resume)
      : plan(the_plan),
        ids(the_ids),
        first(begin),
        next(begin),
        end(the_end),
        resume(first_resume),
        cache(the_plan.core.directory_blocks),
        rows(the_plan, cache, &counts) {}

  /// Opens the next series; false at the end or on error.
  bool Open() {
    while (status.ok() && next < end) {
      if (infos.empty()) {
        auto found = plan.core.index->InfosByIds(std::span(ids).subspan(first, end - first));
        if (!found.ok()) {
          status = found.status();
          return false;
        }
        infos = std::move(*found);
      }
      const std::size_t index = next++;
      if (infos[index - first] == nullptr) {
        continue;  // dropped meanwhile
      }
      cache.EndSeries();
      status = rows.Open(ids[index], index == 0 ? resume : std::nullopt);
      if (!status.ok()) {
        return false;
      }
      status = rows.Next(&batch);
      if (status.ok() && !batch.times.empty()) {
        current = index;
        info = std::move(infos[index - first]);
        return true;
      }
    }
    return false;
  }

  /// Works until it is done or holds much.
  void Run() {
    try {
      std::size_t cells = 0;
      while (cells < kHeldCells && Open()) {
        Output output{std::move(info), current, {}};
        while (status.ok() && !batch.times.empty() && cells < kHeldCells) {
          cells += batch.times.size() * (1 + batch.columns.size());
          output.rows.Append(batch);
          status = rows.Next(&batch);
        }
        open_output = status.ok() && !batch.times.empty();
        outputs.push_back(std::move(output));
      }
    } catch (const std::bad_alloc&) {
      status = Status::OutOfMemory("no memory");
    }
  }

  QueryPlan& plan;
  const std::vector<SeriesId>& ids;
  const std::size_t first;
  std::size_t next;
  const std::size_t end;
  const std::optional<SeriesRows::Resume> resume;
  std::vector<SeriesInfoPtr> infos;
  DirectoryCache cache;
  QueryStatistics counts;
  SeriesRows rows;
  ColumnBatch batch;       // not given out yet
  SeriesInfoPtr info;      // of the series of `batch`
  std::size_t current = 0;
  std::vector<Output> outputs;
  bool open_output = false;  // the last output goes on with `batch`
  Status status;
};

/// What the threads of a stream share. Outlives it while a task still waits in the pool.
struct SeriesStream::Shared {
  Mutex mutex;
  CondVar changed;
  bool stopped TSDB_GUARDED_BY(mutex) = false;
  std::size_t at_work TSDB_GUARDED_BY(mutex) = 0;    // threads inside a morsel
  std::size_t hired TSDB_GUARDED_BY(mutex) = 0;      // tasks submitted and not ended
  std::size_t next TSDB_GUARDED_BY(mutex) = 0;       // first morsel nobody took
  std::size_t limit TSDB_GUARDED_BY(mutex) = 0;      // morsels from here on must wait
  // By number; null behind an end: there was no memory, the caller makes it anew and meets the error itself.
  std::vector<std::unique_ptr<Morsel>> ready TSDB_GUARDED_BY(mutex);
  std::vector<std::uint8_t> ended TSDB_GUARDED_BY(mutex);

  // Constant once threads are hired.
  QueryPlan* plan = nullptr;
  const std::vector<SeriesId>* ids = nullptr;
  std::size_t begin = 0;  // id where morsel 0 begins
  std::size_t size = 1;   // ids per morsel
  std::size_t count = 0;  // morsels

  std::unique_ptr<Morsel> Make(std::size_t number) const {
    const std::size_t from = begin + number * size;
    return std::make_unique<Morsel>(*plan, *ids, from, std::min(ids->size(), from + size), std::nullopt);
  }

  bool HasOpen() const TSDB_REQUIRES(mutex) { return next < std::min(limit, count); }

  /// Takes the first morsel nobody took and works at it, without the lock meanwhile.
  void WorkAtOne() TSDB_REQUIRES(mutex) {
    const std::size_t number = next++;
    ++at_work;
    mutex.Unlock();
    std::unique_ptr<Morsel> morsel;
    try {
      morsel = Make(number);
      morsel->Run();
    } catch (const std::bad_alloc&) {
      morsel.reset();
    }
    mutex.Lock();
    --at_work;
    ready[number] = std::move(morsel);
    ended[number] = 1;
    changed.NotifyAll();
  }

  void Work() {
    MutexLock lock(mutex);
    while (!stopped && HasOpen()) {
      WorkAtOne();
    }
    --hired;
    changed.NotifyAll();
  }
};

SeriesStream::SeriesStream(QueryPlan& plan, std::vector<SeriesId> ids,
                           std::optional<SeriesRows::Resume> first_resume)
    : plan_(plan), ids_(std::move(ids)) {
  begin_ = QueryPlan::Clock::now();
  threads_ = plan.spec.threads != 0 ? plan.spec.threads : ProcessorCount();
  // The first morsel is the caller's; what it costs tells about the others.
  const std::size_t first = threads_ == 1 ? kMorselMax : ids_.size() <= 2 * kMorselMin ? 1 : kMorselMin;
  morsel_ = std::make_unique<Morsel>(plan_, ids_, 0, std::min(ids_.size(), first), first_resume);
}

SeriesStream::~SeriesStream() {
  if (shared_ == nullptr) {
    return;
  }
  MutexLock lock(shared_->mutex);
  shared_->stopped = true;
  while (shared_->at_work != 0) {
    shared_->changed.Wait(shared_->mutex);
  }
}

void SeriesStream::EndMorsel() {
  AddStatistics(morsel_->counts, &statistics_);
  statistics_.rows += morsel_->counts.rows;
  morsel_.reset();
  next_output_ = 0;
  live_ = false;
}

/// The next morsel; false at the end or on error.
bool SeriesStream::TakeMorsel() {
  const std::size_t done = morsel_->end;
  status_ = morsel_->status;
  if (!status_.ok() || done == ids_.size()) {
    return false;
  }
  if (shared_ == nullptr) {
    const double seconds = std::chrono::duration<double>(QueryPlan::Clock::now() - begin_).count();
    const double left = seconds * static_cast<double>(ids_.size() - done) / static_cast<double>(done);
    EndMorsel();
    const bool guess = done < kGuessSeries && done < ids_.size() / 4;
    if (threads_ > 1 && left > (guess ? kClearly : 1) * kWorthThreads) {
      shared_ = std::make_shared<Shared>();
      shared_->plan = &plan_;
      shared_->ids = &ids_;
      shared_->begin = done;
      const std::size_t count = ids_.size() - done;
      shared_->size = std::clamp(count / (threads_ * 8), count <= 8 * kMorselMin ? 1 : kMorselMin, kMorselMax);
      shared_->count = (ids_.size() - done + shared_->size - 1) / shared_->size;
      MutexLock lock(shared_->mutex);
      shared_->ready.resize(shared_->count);
      shared_->ended.resize(shared_->count);
    } else {
      const std::size_t size =
          threads_ == 1 || left < kWorthThreads / kClearly ? kMorselMax : std::clamp(done, kMorselMin, kMorselMax);
      morsel_ = std::make_unique<Morsel>(plan_, ids_, done, std::min(ids_.size(), done + size), std::nullopt);
      return true;
    }
  } else {
    EndMorsel();
    ++morsel_number_;
  }
  Hire();
  Shared& shared = *shared_;
  shared.mutex.Lock();
  if (shared.next == morsel_number_) {
    ++shared.next;
    shared.mutex.Unlock();
    morsel_ = shared.Make(morsel_number_);
    return true;
  }
  while (shared.ended[morsel_number_] == 0) {
    if (shared.HasOpen()) {
      shared.WorkAtOne();  // rather than wait for who is at it
    } else {
      shared.changed.Wait(shared.mutex);
    }
  }
  morsel_ = std::move(shared.ready[morsel_number_]);
  shared.mutex.Unlock();
  if (morsel_ == nullptr) {
    morsel_ = shared.Make(morsel_number_);
  }
  return true;
}

/// Lets other threads work ahead, so far as what they hold stays bounded.
void SeriesStream::Hire() {
  std::size_t wanted = 0;
  {
    MutexLock lock(shared_->mutex);
    shared_->limit = morsel_number_ + 1 + 4 * threads_;
    const std::size_t open = std::min(shared_->limit, shared_->count) - std::min(shared_->next, shared_->count);
    wanted = std::min<std::size_t>(threads_ - 1, open);
    wanted -= std::min(wanted, shared_->hired);
    shared_->hired += wanted;
    most_threads_ = std::max(most_threads_, static_cast<unsigned>(1 + shared_->hired));
  }
  for (; wanted != 0; --wanted) {
    if (!plan_.core.RunForQuery([shared = shared_] { shared->Work(); })) {
      MutexLock lock(shared_->mutex);
      shared_->hired -= wanted;  // no thread to be had: the caller does it all
      return;
    }
  }
}

bool SeriesStream::NextSeries() {
  if (std::exchange(in_series_, false) && !live_) {
    ++next_output_;  // what is left of it is passed over
  }
  while (status_.ok() && morsel_ != nullptr) {
    Morsel& morsel = *morsel_;
    if (next_output_ < morsel.outputs.size()) {
      Output& output = morsel.outputs[next_output_];
      info_ = std::move(output.info);
      position_ = output.position;
      next_row_ = 0;
      live_ = false;
      in_series_ = true;
      return true;
    }
    // What is left of a series that was not read to its end is passed over by opening the next one.
    if (morsel.status.ok() && morsel.Open()) {
      morsel.open_output = false;
      info_ = std::move(morsel.info);
      position_ = morsel.current;
      live_ = true;
      in_series_ = true;
      return true;
    }
    if (!TakeMorsel()) {
      if (morsel_ != nullptr) {
        EndMorsel();
      }
      statistics_.threads = most_threads_;
    }
  }
  return false;
}

bool SeriesStream::NextBatch(ColumnBatch* batch) {
  if (!in_series_ || !status_.ok()) {
    return false;
  }
  Morsel& morsel = *morsel_;
  if (!live_) {
    Output& output = morsel.outputs[next_output_];
    const std::size_t count = std::min(kBatchRows, output.rows.size() - next_row_);
    if (count != 0) {
      output.rows.View(next_row_, count, batch);
      next_row_ += count;
      return true;
    }
    const bool goes_on = next_output_ + 1 == morsel.outputs.size() && std::exchange(morsel.open_output, false);
    ++next_output_;
    if (!goes_on) {
      in_series_ = false;
      status_ = next_output_ == morsel.outputs.size() && !morsel.status.ok() ? morsel.status : Status::Ok();
      return false;
    }
    live_ = true;
  }
  if (morsel.batch.times.empty()) {
    morsel.status = morsel.rows.Next(&morsel.batch);
    if (!morsel.status.ok() || morsel.batch.times.empty()) {
      status_ = morsel.status;
      in_series_ = false;
      return false;
    }
  }
  std::swap(*batch, morsel.batch);
  morsel.batch.times = {};
  morsel.batch.columns.clear();
  return true;
}

}  // namespace tsdb::engine
