// SampleWriter: what every parser hands its samples to. It gathers them into batches, lets the sink append them, maps
// slots of the SeriesCache to the refs the sink gave, and keeps the ImportSummary.
//
// A row (the samples of one line) is taken whole or not at all: labels are built, and may be refused, before the first
// sample of the row reaches the batch, so a refused line leaves no series behind.
//
// Counting: read = stored + replaced + ignored + rejected, once the last batch was sent. A line that cannot be read
// counts as one sample read and rejected.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/series_cache.h"
#include "tsdb/ingest.h"

namespace tsdb::ingest {

/// A value and the slot of its series.
struct SlotValue {
  std::uint32_t slot = 0;
  double value = 0;
};

/// Labels of the series that raw bytes name; the parser's knowledge of its own format. An error refuses the line.
using LabelBuilder = std::function<Result<Labels>(std::string_view prefix, std::string_view field)>;

class SampleWriter {
 public:
  static constexpr std::size_t kErrorsShownMax = 20;
  /// The cache starts again when it holds more than this.
  static constexpr std::size_t kCacheBytesMax = 192ull << 20;

  SampleWriter(const ImportOptions& options, BatchSink sink, LabelBuilder build_labels);

  SeriesCache& cache() { return cache_; }
  ImportSummary& summary() { return summary_; }
  const ImportSummary& summary() const { return summary_; }
  /// OK until the import has to end: the sink failed, or stop_on_error met a bad line or sample.
  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  /// The clock for samples without a time.
  Timestamp Now() const { return options_.now(); }

  /// The samples of one line, all at `time`. False when the line was refused (a label set that cannot be).
  bool AddRow(std::uint64_t line, Timestamp time, std::span<const SlotValue> row);
  /// Samples of one series that stand on one line.
  bool AddSeries(std::uint64_t line, std::uint32_t slot, std::span<const Timestamp> times,
                 std::span<const double> values);

  /// A line that cannot be read: `reason`, then `text` (what was wrong, may be empty) quoted.
  void RejectLine(std::uint64_t line, std::string_view reason, std::string_view text = {});
  /// A sample of a good line that cannot be stored.
  void RejectSample(std::uint64_t line, std::string_view reason, std::string_view text = {}) {
    RejectLine(line, reason, text);
  }
  /// Something accepted without effect: an exemplar, a creation time.
  void Ignore() {
    ++summary_.read;
    ++summary_.ignored;
  }
  /// Ends the import with an error that is not about one line.
  void End(Status status) {
    if (status_.ok()) {
      status_ = std::move(status);
    }
  }
  void CountRounded(std::uint64_t n) { summary_.rounded += n; }

  /// Sends the batch when it is full. The cache may be cleared: slot numbers taken before are void.
  void SendIfFull();
  /// Sends what was gathered.
  void Send();

 private:
  struct LineStart {
    std::size_t index;  // of the first entry of the line
    std::uint64_t line;
  };

  /// Gives every slot of `row` a ref or a label set in the batch; on failure refuses the line and adds no label set.
  bool Resolve(std::uint64_t line, std::span<const SlotValue> row);
  bool IsResolved(const SeriesCache::Slot& slot) const { return slot.ref != 0 || slot.batch == batch_number_; }
  void Push(const SeriesCache::Slot& slot, Timestamp time, double value) {
    if (slot.ref != 0) {
      batch_.Add(SeriesRef{SeriesId{slot.ref}}, time, value);
    } else {
      batch_.Add(WriteBatch::LocalSeries{slot.local}, time, value);
    }
  }
  void StartLine(std::uint64_t line) {
    if (lines_.empty() || lines_.back().line != line) {
      lines_.push_back({batch_.size(), line});
    }
  }
  std::uint64_t LineOf(std::size_t index) const;
  /// Appends `batch`, counts, and learns the refs of its label sets (those of the slots `local_slots`). Positions of
  /// samples whose series was dropped go to `dropped` when that is given, else they count as refused.
  void Append(const WriteBatch& batch, std::span<const std::uint32_t> local_slots, std::vector<std::size_t>* dropped,
              const std::function<std::uint64_t(std::size_t)>& line_of);
  void RetryDropped(const std::vector<std::size_t>& dropped);
  /// Counts something refused, keeps its message when it is among the first, and ends the import under stop_on_error.
  void Refuse(std::uint64_t line, StatusCode code, std::string_view message);
  std::string At(std::uint64_t line, std::string_view message) const;

  ImportOptions options_;
  BatchSink sink_;
  LabelBuilder build_labels_;
  SeriesCache cache_;
  ImportSummary summary_;
  Status status_;

  WriteBatch batch_;
  std::uint64_t batch_number_ = 1;
  std::vector<std::uint32_t> local_slots_;  // slot of each label set of the batch
  std::vector<LineStart> lines_;
  std::vector<std::pair<std::uint32_t, Labels>> fresh_;  // scratch of Resolve
};

}  // namespace tsdb::ingest
