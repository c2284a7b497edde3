#include "engine/query/query_result.h"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "engine/query/bucket_state.h"
#include "engine/query/series_reader.h"

namespace tsdb::engine {
namespace {

/// Rows in a batch of aggregates.
constexpr std::size_t kBatchRows = 4096;
/// Series whose definitions are looked up together.
constexpr std::size_t kSeriesAtATime = 256;

/// Common part: walks the series.
class Cursor : public QueryResult {
 public:
  Cursor(Core& core, QuerySpec spec, VersionPtr version, std::vector<SeriesId> ids)
      : core_(core), spec_(std::move(spec)), version_(std::move(version)), ids_(std::move(ids)) {}

  bool NextSeries() final {
    return Guarded([this] { return FindSeries(); });
  }
  bool NextBatch(ColumnBatch* batch) final {
    return Guarded([&] { return FillBatch(batch); });
  }
  const SeriesInfo& series() const override { return info_; }
  const Status& status() const override { return status_; }
  std::span<const SeriesInfo> sources() const override { return {}; }
  std::string cursor() const override { return {}; }
  const QueryStatistics& statistics() const override { return statistics_; }

 protected:
  /// Starts the current series; false when it has no rows.
  virtual bool Begin() = 0;
  /// NextBatch, free to throw std::bad_alloc.
  virtual bool FillBatch(ColumnBatch* batch) = 0;

  Core& core_;
  const QuerySpec spec_;
  const VersionPtr version_;
  SeriesReader reader_;
  SeriesInfo info_;
  std::uint64_t rows_left_ = 0;
  Status status_;
  QueryStatistics statistics_;

 private:
  template <typename F>
  bool Guarded(const F& next) {
    try {
      return next();
    } catch (const std::bad_alloc&) {
      status_ = Status::OutOfMemory("no memory");
      return false;
    }
  }

  bool FindSeries() {
    while (status_.ok() && next_id_ < ids_.size()) {
      if (!LoadInfo()) {
        continue;
      }
      // Aggregates are computed in time order and turned round at the end.
      const bool reverse = spec_.reverse && spec_.aggregators.empty();
      status_ = reader_.Open(core_, *version_, info_.id, spec_.range, reverse);
      if (!status_.ok() || reader_.empty()) {
        continue;
      }
      rows_left_ = spec_.limit == 0 ? ~std::uint64_t{0} : spec_.limit;
      if (Begin()) {
        return true;
      }
    }
    return false;
  }

  bool LoadInfo() {
    if (next_id_ == loaded_end_) {
      loaded_begin_ = next_id_;
      loaded_end_ = std::min(ids_.size(), next_id_ + kSeriesAtATime);
      auto found = core_.index->FindByIds(std::span(ids_).subspan(loaded_begin_, loaded_end_ - loaded_begin_));
      if (!found.ok()) {
        status_ = found.status();
        return false;
      }
      loaded_ = std::move(*found);
    }
    const auto& definition = loaded_[next_id_++ - loaded_begin_];
    if (definition) {
      info_ = definition->ToInfo();
    }
    return definition.has_value();
  }

  const std::vector<SeriesId> ids_;
  std::size_t next_id_ = 0;
  std::size_t loaded_begin_ = 0;
  std::size_t loaded_end_ = 0;
  std::vector<std::optional<SeriesDefinition>> loaded_;
};

class RawCursor final : public Cursor {
 public:
  using Cursor::Cursor;

  bool FillBatch(ColumnBatch* batch) override {
    if (!status_.ok() || rows_left_ == 0) {
      return false;
    }
    if (!std::exchange(have_block_, false) && !reader_.Next(&block_)) {
      status_ = reader_.status();
      return false;
    }
    const auto rows = static_cast<std::size_t>(std::min<std::uint64_t>(rows_left_, block_.times.size()));
    rows_left_ -= rows;
    batch->columns.resize(1);
    if (spec_.reverse) {
      times_.assign(block_.times.rbegin(), block_.times.rbegin() + static_cast<std::ptrdiff_t>(rows));
      values_.assign(block_.values.rbegin(), block_.values.rbegin() + static_cast<std::ptrdiff_t>(rows));
      batch->times = times_;
      batch->columns[0] = values_;
    } else {
      batch->times = block_.times.first(rows);
      batch->columns[0] = block_.values.first(rows);
    }
    return true;
  }

 private:
  bool Begin() override {
    have_block_ = reader_.Next(&block_);
    status_ = reader_.status();
    return have_block_ && status_.ok();
  }

  chunk::ColumnsView block_;
  bool have_block_ = false;
  std::vector<Timestamp> times_;
  std::vector<double> values_;
};

class AggregateCursor final : public Cursor {
 public:
  AggregateCursor(Core& core, QuerySpec spec, VersionPtr version, std::vector<SeriesId> ids)
      : Cursor(core, std::move(spec), std::move(version), std::move(ids)), needs_(spec_.aggregators) {}

  bool FillBatch(ColumnBatch* batch) override {
    if (!status_.ok() || rows_left_ == 0) {
      return false;
    }
    if (!std::exchange(have_rows_, false)) {
      Fill();
    }
    if (!status_.ok() || times_.empty()) {
      return false;
    }
    const auto rows = static_cast<std::size_t>(std::min<std::uint64_t>(rows_left_, times_.size()));
    rows_left_ -= rows;
    batch->times = std::span<const Timestamp>(times_).first(rows);
    batch->columns.clear();
    for (const auto& column : columns_) {
      batch->columns.push_back(std::span<const double>(column).first(rows));
    }
    return true;
  }

 private:
  bool Begin() override {
    bucket_ = spec_.bucket;
    have_first_ = false;
    done_ = false;
    state_.Reset();
    block_ = {};
    Fill();
    have_rows_ = true;
    return status_.ok() && !times_.empty();
  }

  // Computes rows until a batch is full or the series ends; in reverse order all rows at once.
  void Fill() {
    times_.clear();
    columns_.resize(spec_.aggregators.size());
    for (auto& column : columns_) {
      column.clear();
    }
    if (done_) {
      return;
    }
    const std::size_t rows_max = spec_.reverse ? ~std::size_t{0} : kBatchRows;
    while (times_.size() < rows_max) {
      if (block_.times.empty() && !reader_.Next(&block_)) {
        status_ = reader_.status();
        if (have_first_ && !state_.empty()) {
          EmitRow();
        }
        done_ = true;
        break;
      }
      TakeBucketPart();
    }
    if (spec_.reverse) {
      std::reverse(times_.begin(), times_.end());
      for (auto& column : columns_) {
        std::reverse(column.begin(), column.end());
      }
    }
  }

  // Adds the front of the block that lies in one bucket; emits the bucket before when it is complete.
  void TakeBucketPart() {
    const Timestamp time = block_.times.front();
    if (!have_first_ || time > bucket_end_) {
      if (have_first_) {
        EmitRow();
      }
      OpenBucket(time);
    }
    const std::size_t end = PartInBucket();
    state_.Add(block_.values.first(end), needs_);
    block_.times = block_.times.subspan(end);
    block_.values = block_.values.subspan(end);
  }

  // How many samples at the front of the block lie in the bucket. At even times as many as in the one before, which is
  // tried first.
  std::size_t PartInBucket() {
    const std::span<const Timestamp> times = block_.times;
    const std::size_t guess = std::min(part_, times.size());
    if (guess != 0 && times[guess - 1] <= bucket_end_ && (guess == times.size() || times[guess] > bucket_end_)) {
      return guess;
    }
    part_ = static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), bucket_end_) - times.begin());
    return part_;
  }

  void OpenBucket(Timestamp time) {
    have_first_ = true;
    if (spec_.bucket.width == 0) {
      bucket_start_ = spec_.range.from == kTimestampMin ? time : spec_.range.from;
      bucket_end_ = spec_.range.to;
      return;
    }
    bucket_start_ = BucketStart(time, bucket_);
    bucket_end_ =
        bucket_start_ > kTimestampMax - (bucket_.width - 1) ? kTimestampMax : bucket_start_ + bucket_.width - 1;
    if (bucket_end_ < time) {
      bucket_end_ = time;  // the start saturated at the lowest time
    }
  }

  Timestamp RowTime() const {
    if (spec_.bucket.width == 0 || bucket_.label == BucketLabel::kStart) {
      return bucket_start_;
    }
    const std::int64_t step = bucket_.label == BucketLabel::kEnd ? bucket_.width : bucket_.width / 2;
    return bucket_start_ > kTimestampMax - step ? kTimestampMax : bucket_start_ + step;
  }

  void EmitRow() {
    times_.push_back(RowTime());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      columns_[i].push_back(state_.Finish(spec_.aggregators[i]));
    }
    state_.Reset();
  }

  const BucketNeeds needs_;
  BucketSpec bucket_;
  BucketState state_;
  chunk::ColumnsView block_;
  std::size_t part_ = 0;
  bool have_first_ = false;
  bool have_rows_ = false;
  bool done_ = false;
  Timestamp bucket_start_ = 0;
  Timestamp bucket_end_ = 0;
  std::vector<Timestamp> times_;
  std::vector<std::vector<double>> columns_;
};

/// What this version does not do yet.
Status CheckSupported(const QuerySpec& spec) {
  const auto missing = [](std::string_view what) {
    return Status::NotSupported(fmt::format("{}: queries do not do this yet", what));
  };
  for (const Aggregation& aggregation : spec.aggregators) {
    if (aggregation.aggregator >= Aggregator::kTwa) {
      return missing(AggregationName(aggregation));
    }
  }
  if (spec.values || !spec.times.empty()) {
    return missing("filters");
  }
  if (spec.bucket.calendar != CalendarUnit::kNone || spec.fill != Fill::kNone) {
    return missing("buckets of the calendar, and filling");
  }
  if (spec.reduce || !spec.group_by.empty() || spec.join || spec.top.count != 0 || !spec.series.empty()) {
    return missing("groups, joins, top series, and series by reference");
  }
  if (spec.latest || spec.page_rows != 0 || !spec.cursor.empty()) {
    return missing("the latest sample, and pages");
  }
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<QueryResult>> RunQuery(Core& core, const QuerySpec& spec) {
  if (spec.bucket.width < 0) {
    return Status::InvalidArgument(
        fmt::format("bucket width {} is negative: give a positive width", spec.bucket.width));
  }
  TSDB_RETURN_IF_ERROR(CheckSupported(spec));
  VersionPtr version = core.versions.Pin();
  TSDB_ASSIGN_OR_RETURN(std::vector<SeriesId> ids, core.index->Select(spec.selector));
  if (spec.limits.series_max != 0 && ids.size() > spec.limits.series_max) {
    return Status::ResourceExhausted(fmt::format("{} series match {}, more than the limit of {}: narrow the selector",
                                                 ids.size(), spec.selector.ToString(), spec.limits.series_max));
  }
  if (spec.aggregators.empty()) {
    return std::unique_ptr<QueryResult>(
        std::make_unique<RawCursor>(core, spec, std::move(version), std::move(ids)));
  }
  return std::unique_ptr<QueryResult>(
      std::make_unique<AggregateCursor>(core, spec, std::move(version), std::move(ids)));
}

}  // namespace tsdb::engine
