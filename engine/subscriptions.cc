#include "engine/subscriptions.h"

#include <algorithm>
#include <new>
#include <utility>

#include "engine/core.h"

namespace tsdb::engine {
namespace {

/// The handle the user holds.
class Handle final : public Subscription {
 public:
  Handle(Core& core, std::shared_ptr<Subscriber> subscriber) : core_(core), subscriber_(std::move(subscriber)) {}
  ~Handle() override { core_.subscriptions.Remove(subscriber_.get()); }
  void Drain() override { subscriber_->Drain(); }

 private:
  Core& core_;
  const std::shared_ptr<Subscriber> subscriber_;  // its thread ends with it
};

}  // namespace

Result<std::unique_ptr<Subscription>> Subscribe(Core& core, const Selector& selector, EventCallback callback,
                                                const SubscribeOptions& options) {
  if (!callback) {
    return Status::InvalidArgument("a subscription needs a callback");
  }
  TSDB_ASSIGN_OR_RETURN(index::CompiledSelector compiled, index::CompiledSelector::Compile(selector));
  auto subscriber = std::make_shared<Subscriber>(std::move(compiled), std::move(callback), options);
  auto handle = std::make_unique<Handle>(core, subscriber);
  // First heard of, then looked up: no series falls between.
  core.subscriptions.Add(subscriber);
  TSDB_ASSIGN_OR_RETURN(const std::vector<SeriesId> ids, core.index->Select(selector));
  for (const SeriesId id : ids) {
    if (!core.dropped.Contains(id)) {
      subscriber->Want(id);
    }
  }
  return std::unique_ptr<Subscription>(std::move(handle));
}

Subscriber::Subscriber(index::CompiledSelector selector, EventCallback callback, const SubscribeOptions& options)
    : selector_(std::move(selector)),
      callback_(std::move(callback)),
      queue_max_(std::max<std::size_t>(1, options.queue_max)),
      thread_([this] { Run(); }) {}

Subscriber::~Subscriber() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

void Subscriber::Want(SeriesId id) {
  MutexLock lock(mutex_);
  ids_.Add(id.value);
}

void Subscriber::OnDefinition(const SeriesDefinition& definition) {
  const bool wanted = selector_.Matches(definition);
  MutexLock lock(mutex_);
  if (wanted) {
    ids_.Add(definition.id.value);
  } else {
    ids_.Remove(definition.id.value);
  }
}

// A queue that finds no memory is as good as a full one.
void Subscriber::Push(const SeriesEvent& event) {
  if (queue_.size() >= queue_max_) {
    queue_.pop_front();
    ++lost_;
  }
  try {
    queue_.push_back(event);
  } catch (const std::bad_alloc&) {
    lost_ += queue_.size() + 1;
    queue_.clear();
  }
}

void Subscriber::OnPuts(CommitNumber commit, const wal::Put* puts, std::size_t count) {
  MutexLock lock(mutex_);
  for (std::size_t i = 0; i < count; ++i) {
    if (ids_.Contains(puts[i].id.value)) {
      SeriesEvent event;
      event.kind = SeriesEvent::Kind::kSample;
      event.series = puts[i].id;
      event.commit = commit;
      event.sample = {puts[i].time, puts[i].value};
      Push(event);
    }
  }
  wake_.NotifyAll();
}

void Subscriber::OnDelete(CommitNumber commit, TimeRange range, const IdSet& ids, std::size_t stripe) {
  MutexLock lock(mutex_);
  const IdSet& fewer = ids.Count() < ids_.Count() ? ids : ids_;
  const IdSet& more = &fewer == &ids ? ids_ : ids;
  fewer.ForEach([&](std::uint64_t id) TSDB_NO_THREAD_SAFETY_ANALYSIS {
    if (StripeOf(SeriesId{id}) == stripe && more.Contains(id)) {
      SeriesEvent event;
      event.kind = SeriesEvent::Kind::kDelete;
      event.series = SeriesId{id};
      event.commit = commit;
      event.range = range;
      Push(event);
    }
  });
  wake_.NotifyAll();
}

void Subscriber::OnDrop(CommitNumber commit, const IdSet& ids) {
  MutexLock lock(mutex_);
  ids.ForEach([&](std::uint64_t id) TSDB_NO_THREAD_SAFETY_ANALYSIS {
    if (ids_.Contains(id)) {
      SeriesEvent event;
      event.kind = SeriesEvent::Kind::kDropped;
      event.series = SeriesId{id};
      event.commit = commit;
      Push(event);
    }
  });
  ids_ -= ids;
  wake_.NotifyAll();
}

void Subscriber::Drain() {
  MutexLock lock(mutex_);
  while ((!queue_.empty() || busy_ || lost_ != 0) && !stop_) {
    idle_.Wait(mutex_);
  }
}

void Subscriber::Run() {
  std::vector<SeriesEvent> events(1);  // room for one, whatever happens
  for (;;) {
    {
      MutexLock lock(mutex_);
      busy_ = false;
      idle_.NotifyAll();
      while (queue_.empty() && lost_ == 0 && !stop_) {
        wake_.Wait(mutex_);
      }
      if (stop_) {
        return;
      }
      events.clear();
      try {
        events.reserve(queue_.size() + 1);
      } catch (const std::bad_alloc&) {
        lost_ += queue_.size();
        queue_.clear();
      }
      if (lost_ != 0) {
        SeriesEvent& overflow = events.emplace_back();
        overflow.kind = SeriesEvent::Kind::kOverflow;
        overflow.lost = std::exchange(lost_, 0);
      }
      events.insert(events.end(), queue_.begin(), queue_.end());
      queue_.clear();
      busy_ = true;
    }
    callback_(events);
  }
}

void Subscriptions::Add(std::shared_ptr<Subscriber> subscriber) {
  MutexLock lock(mutex_);
  all_.push_back(std::move(subscriber));
  count_.store(all_.size(), std::memory_order_release);
}

void Subscriptions::Remove(const Subscriber* subscriber) {
  MutexLock lock(mutex_);
  std::erase_if(all_, [subscriber](const auto& one) { return one.get() == subscriber; });
  count_.store(all_.size(), std::memory_order_release);
}

void Subscriptions::OnDefinition(const SeriesDefinition& definition) {
  if (wanted()) {
    MutexLock lock(mutex_);
    for (const auto& subscriber : all_) {
      subscriber->OnDefinition(definition);
    }
  }
}

void Subscriptions::OnPuts(CommitNumber commit, const wal::Put* puts, std::size_t count) {
  if (wanted()) {
    MutexLock lock(mutex_);
    for (const auto& subscriber : all_) {
      subscriber->OnPuts(commit, puts, count);
    }
  }
}

void Subscriptions::OnDelete(CommitNumber commit, TimeRange range, const IdSet& ids, std::size_t stripe) {
  if (wanted()) {
    MutexLock lock(mutex_);
    for (const auto& subscriber : all_) {
      subscriber->OnDelete(commit, range, ids, stripe);
    }
  }
}

void Subscriptions::OnDrop(CommitNumber commit, const IdSet& ids) {
  if (wanted()) {
    MutexLock lock(mutex_);
    for (const auto& subscriber : all_) {
      subscriber->OnDrop(commit, ids);
    }
  }
}

}  // namespace tsdb::engine
