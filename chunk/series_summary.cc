#include "chunk/series_summary.h"

#include <limits>
#include <utility>

namespace tsdb::chunk {
namespace {

/// Holds the flag, or does not when somebody else has it.
class TryHold {
 public:
  explicit TryHold(std::atomic_flag* flag) : flag_(flag->test_and_set(std::memory_order_acquire) ? nullptr : flag) {}
  ~TryHold() {
    if (flag_ != nullptr) {
      flag_->clear(std::memory_order_release);
    }
  }
  TryHold(const TryHold&) = delete;
  TryHold& operator=(const TryHold&) = delete;
  bool held() const { return flag_ != nullptr; }

 private:
  std::atomic_flag* const flag_;
};

std::uint64_t Distance(Timestamp from, Timestamp to) {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

/// Step of a chunk with even times; 0 for a single sample, which fits any step.
std::uint64_t StepOf(const ChunkEntry& entry) {
  return entry.count == 1 ? 0 : Distance(entry.first_time, entry.last_time) / (entry.count - 1);
}

}  // namespace

Result<SeriesSummaryPtr> Summarize(const ChunkRows& rows) {
  if (rows.empty()) {
    return SeriesSummaryPtr();
  }
  auto sum = std::make_shared<SeriesSummary>();
  sum->first_time = rows.entries.front().first_time;
  sum->last_time = rows.entries.back().last_time;
  sum->chunks = rows.size();
  sum->even = true;
  std::uint64_t step = 0;
  std::uint64_t count = 0;
  ChunkStatistics& all = sum->values;
  all.first_number = all.last_number = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ChunkEntry& entry = rows.entries[i];
    TSDB_ASSIGN_OR_RETURN(const ChunkStatistics part, rows.Statistics(i));
    if (i == 0) {
      all.first = part.first;
    }
    all.last = part.last;
    if (part.has_numbers()) {
      if (!all.has_numbers()) {
        all.first_number = part.first_number;
      } else if (part.first_number < all.last_number && all.resets) {
        all.resets->Add(all.last_number);
      }
      all.last_number = part.last_number;
    }
    all.Merge(part);
    count += entry.count;
    const std::uint64_t own = StepOf(entry);
    step = step == 0 ? own : step;
    sum->even = sum->even && entry.time_encoding == kTimesInDirectory && (own == 0 || own == step) &&
                (i == 0 || Distance(rows.entries[i - 1].last_time, entry.first_time) == step);
  }
  // Counted in 32 bits.
  return count <= std::numeric_limits<std::uint32_t>::max() ? SeriesSummaryPtr(std::move(sum)) : nullptr;
}

SeriesSummaryPtr SeriesSummaryCache::Find(SeriesId id) {
  const TryHold hold(&busy_);
  const Slot& slot = slots_[id.value % slots_.size()];
  return hold.held() && slot.id == id ? slot.summary : nullptr;
}

void SeriesSummaryCache::Insert(SeriesId id, SeriesSummaryPtr summary) {
  const TryHold hold(&busy_);
  if (hold.held()) {
    Slot& slot = slots_[id.value % slots_.size()];
    used_.fetch_add(slot.summary == nullptr ? 1 : 0, std::memory_order_relaxed);
    slot = {id, std::move(summary)};
  }
}

}  // namespace tsdb::chunk
