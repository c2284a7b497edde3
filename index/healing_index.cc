#include "index/healing_index.h"

#include <atomic>
#include <utility>

#include "base/mutex.h"

namespace tsdb::index {

namespace {

// Lock order: heal_mutex_, then current_mutex_.
class HealingIndex final : public SeriesIndex {
 public:
  HealingIndex(std::unique_ptr<SeriesIndex> index, HealingOptions options)
      : options_(std::move(options)), current_(std::move(index)) {}

  Result<std::vector<std::optional<SeriesDefinition>>> FindByLabels(std::span<const Labels* const> sets) override {
    return Try([&](SeriesIndex& index) { return index.FindByLabels(sets); });
  }
  Result<std::optional<SeriesDefinition>> FindByKey(std::string_view key) override {
    return Try([&](SeriesIndex& index) { return index.FindByKey(key); });
  }
  Result<std::vector<std::optional<SeriesDefinition>>> FindByIds(std::span<const SeriesId> ids) override {
    return Try([&](SeriesIndex& index) { return index.FindByIds(ids); });
  }
  Result<std::vector<SeriesInfoPtr>> InfosByIds(std::span<const SeriesId> ids) override {
    return Try([&](SeriesIndex& index) { return index.InfosByIds(ids); });
  }
  Result<std::vector<SeriesId>> Select(const Selector& selector) override {
    return Try([&](SeriesIndex& index) { return index.Select(selector); });
  }
  Result<std::vector<std::string>> LabelNames(std::string_view prefix, std::uint64_t limit) override {
    return Try([&](SeriesIndex& index) { return index.LabelNames(prefix, limit); });
  }
  Result<std::vector<std::string>> LabelValues(std::string_view name, std::string_view prefix,
                                               std::uint64_t limit) override {
    return Try([&](SeriesIndex& index) { return index.LabelValues(name, prefix, limit); });
  }
  Result<std::uint64_t> Count() override {
    return Try([&](SeriesIndex& index) { return index.Count(); });
  }
  Status Persist(CommitNumber commit) override {
    return Try([&](SeriesIndex& index) { return index.Persist(commit); });
  }

  void Apply(const SeriesDefinition& definition) override {
    ReadLock lock(current_mutex_);  // held: a change goes into the index that will be taken over, or into its heir
    current_->Apply(definition);
  }
  void VisitChanges(const std::function<void(const SeriesDefinition&)>& visit) const override {
    Current()->VisitChanges(visit);
  }
  CommitNumber applied_commit() const override { return Current()->applied_commit(); }
  std::uint64_t memory_bytes() const override { return Current()->memory_bytes(); }
  std::uint64_t cache_bytes() const override { return Current()->cache_bytes(); }
  std::uint64_t rebuilds() const override { return rebuilds_.load(std::memory_order_relaxed); }
  Status Close() override {
    MutexLock heal(heal_mutex_);
    closed_ = true;
    return Current()->Close();
  }

 private:
  using IndexPtr = std::shared_ptr<SeriesIndex>;

  IndexPtr Current() const {
    ReadLock lock(current_mutex_);
    return current_;
  }

  static const Status& StatusOf(const Status& status) { return status; }
  template <typename T>
  static const Status& StatusOf(const Result<T>& result) {
    return result.status();
  }

  template <typename Call>
  auto Try(Call call) -> decltype(call(std::declval<SeriesIndex&>())) {
    IndexPtr index = Current();
    auto result = call(*index);
    const StatusCode code = StatusOf(result).code();
    // kClosed: another thread is healing it, or the owner closed it.
    if (code != StatusCode::kCorruption && code != StatusCode::kClosed) {
      return result;
    }
    TSDB_RETURN_IF_ERROR(Heal(index, StatusOf(result)));
    index = Current();
    return call(*index);
  }

  /// OK when there is another index than the `broken` one to ask.
  Status Heal(const IndexPtr& broken, const Status& why) {
    MutexLock heal(heal_mutex_);
    if (closed_) {
      return why;
    }
    if (Current() != broken) {
      return Status::Ok();
    }
    Say(LogLevel::kWarning, "the index is discarded and built again: " + why.ToString());
    (void)broken->Close();  // nothing it has to say matters: it is thrown away
    CommitNumber through;
    Result<std::unique_ptr<SeriesIndex>> fresh = options_.reopen();
    if (fresh.ok()) {
      Status filled = options_.refill([&](const SeriesDefinition& d) { (*fresh)->Apply(d); }, &through);
      if (!filled.ok()) {
        fresh = std::move(filled);
      }
    }
    if (!fresh.ok()) {
      Say(LogLevel::kError, "the index could not be built again: " + fresh.status().ToString());
      return why.code() == StatusCode::kCorruption ? why : fresh.status();
    }
    IndexPtr heir(std::move(*fresh));
    {
      WriteLock lock(current_mutex_);
      broken->VisitChanges([&](const SeriesDefinition& definition) { heir->Apply(definition); });
      current_ = heir;
    }
    rebuilds_.fetch_add(1, std::memory_order_relaxed);
    if (const Status persisted = heir->Persist(through); !persisted.ok() && persisted.code() != StatusCode::kReadOnly) {
      Say(LogLevel::kWarning, "the new index is in memory for now: " + persisted.ToString());
    }
    return Status::Ok();
  }

  void Say(LogLevel level, const std::string& text) const {
    if (options_.log) {
      options_.log(level, text);
    }
  }

  const HealingOptions options_;
  Mutex heal_mutex_;  // one healing at a time; guards closed_
  bool closed_ TSDB_GUARDED_BY(heal_mutex_) = false;
  mutable SharedMutex current_mutex_;  // guards current_
  IndexPtr current_ TSDB_GUARDED_BY(current_mutex_);
  std::atomic<std::uint64_t> rebuilds_{0};
};

}  // namespace

std::unique_ptr<SeriesIndex> MakeHealingIndex(std::unique_ptr<SeriesIndex> index, HealingOptions options) {
  return std::make_unique<HealingIndex>(std::move(index), std::move(options));
}

}  // namespace tsdb::index
