// ReadOnlyDatabase: the engine behind Database::OpenReadOnly: a Core that a Follower keeps current.
//
// Thread safety: as Database.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "engine/follower.h"
#include "tsdb/database.h"

namespace tsdb::engine {

class ReadOnlyDatabase final : public Database {
 public:
  ReadOnlyDatabase(std::unique_ptr<Follower> follower, bool lazy_head);

  Result<SeriesRef> CreateSeries(const Labels& labels, const SeriesSettings& settings) override;
  Result<SeriesRef> CreateSeriesByKey(std::string_view key, const Labels& labels,
                                      const SeriesSettings& settings) override;
  Result<SeriesRef> Resolve(const Labels& labels) override;
  Result<SeriesRef> ResolveKey(std::string_view key) override;
  Result<SeriesInfo> GetSeries(SeriesRef ref) override;
  Result<DeleteReport> Delete(const Selector& selector, TimeRange range, const DeleteOptions& options) override;
  Result<DeleteReport> Delete(std::span<const SeriesRef> series, TimeRange range,
                              const DeleteOptions& options) override;
  Result<DropReport> Drop(const Selector& selector, const DropOptions& options) override;
  Result<DropReport> Drop(std::span<const SeriesRef> series, const DropOptions& options) override;
  Result<SeriesRef> Undrop(SeriesId id, std::string_view key) override;
  Result<std::vector<DroppedSeries>> ListDropped() override;
  Status Rename(SeriesRef series, std::string_view key) override;
  Status Alter(SeriesRef series, const SeriesChange& change) override;
  Result<RetentionInfo> GetRetention() override;
  Status SetRetention(const Retention& retention) override;
  Status AcceptClock() override;
  Status EnforceRetention() override;
  Result<std::unique_ptr<Subscription>> Subscribe(const Selector& selector, EventCallback callback,
                                                  const SubscribeOptions& options) override;
  Result<AppendResult> Append(const WriteBatch& batch, const WriteOptions& options) override;
  Status WaitDurable(CommitNumber commit) override;
  Result<std::unique_ptr<QueryResult>> Query(const QuerySpec& spec) override;
  Result<std::vector<SeriesInfo>> ListSeries(const Selector& selector, std::uint64_t limit) override;
  Result<std::vector<std::string>> LabelNames(std::string_view prefix, std::uint64_t limit) override;
  Result<std::vector<std::string>> LabelValues(std::string_view name, std::string_view prefix,
                                               std::uint64_t limit) override;
  Status Flush() override;
  Result<CompactReport> Compact(const CompactOptions& options) override;
  void PauseMerging() override {}
  void ResumeMerging() override {}
  Result<std::vector<SeriesUsage>> MeasureUsage(const Selector& selector) override;
  Status Close() override;
  Status Refresh() override;
  Stats GetStats() override;
  const RecoveryReport& recovery_report() const override { return core_.recovery; }
  TimeUnit unit() const override { return core_.settings.unit; }

 private:
  Status CheckOpen() const;

  const bool lazy_head_;
  Mutex follow_mutex_;  // one pass of the follower at a time; before the locks of the Core
  const std::unique_ptr<Follower> follower_;
  Core& core_;  // of the follower; what queries use of it is safe beside a pass
  std::atomic<bool> closed_{false};
};

}  // namespace tsdb::engine
