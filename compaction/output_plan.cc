#include "compaction/output_plan.h"

#include <algorithm>
#include <utility>

namespace tsdb::compaction {

namespace {

/// A chunk's bytes are spread over at most so many days.
constexpr std::uint64_t kPiecesMax = 16;
/// What is left in the rest may grow to this before smaller files are made.
constexpr std::uint64_t kRestBytesMax = 32ull << 20;
constexpr std::uint64_t kSmallOutputBytesMin = 64ull << 10;

struct Share {
  TimeRange span;
  std::uint32_t level = kLevelDay;
  std::uint64_t bytes = 0;
};

/// Bytes of the days in a span.
std::uint64_t BytesOfDays(const DayBytes& days, TimeRange span) {
  std::uint64_t bytes = 0;
  for (auto day = days.lower_bound(span.from); day != days.end() && day->first <= span.to; ++day) {
    bytes += day->second;
  }
  return bytes;
}

std::uint64_t BytesOfPartitions(std::span<const Partition> partitions, TimeRange span) {
  std::uint64_t bytes = 0;
  auto partition = std::ranges::lower_bound(partitions, span.from, {}, [](const Partition& p) { return p.span.to; });
  for (; partition != partitions.end() && partition->span.from <= span.to; ++partition) {
    bytes += partition->bytes;
  }
  return bytes;
}

Share ChooseSpan(Timestamp day, const DayBytes& days, std::span<const Partition> partitions,
                 const OutputPlanOptions& options) {
  const auto found = std::ranges::lower_bound(partitions, day, {}, [](const Partition& p) { return p.span.to; });
  const Partition* existing = found != partitions.end() && found->span.from <= day ? &*found : nullptr;
  const std::uint32_t least = existing == nullptr ? kLevelDay : existing->level;
  for (std::uint32_t level = kLevelLongest; level > least; --level) {
    const TimeRange span = SpanOf(day, level, options.unit);
    if (IsCold(span, level, options.now, options.unit) &&
        BytesOfDays(days, span) + BytesOfPartitions(partitions, span) <= kJoinBytesMax) {
      return {span, level, 0};
    }
  }
  return {SpanOf(day, least, options.unit), least, 0};
}

/// The spans the days go into, ascending, with their bytes.
std::vector<Share> FindShares(const DayBytes& days, std::span<const Partition> partitions,
                              const OutputPlanOptions& options) {
  std::vector<Share> shares;
  for (const auto& [day, bytes] : days) {
    if (shares.empty() || !shares.back().span.Contains(day)) {
      shares.push_back(ChooseSpan(day, days, partitions, options));
    }
    shares.back().bytes += bytes;
  }
  return shares;
}

/// The largest shares that pay for a file of their own, ascending by time.
void KeepWorthwhile(std::vector<Share>* shares, bool final_form) {
  std::ranges::stable_sort(*shares, std::greater(), &Share::bytes);
  std::uint64_t rest_bytes = 0;
  for (const Share& share : *shares) {
    rest_bytes += share.bytes < kOutputBytesMin ? share.bytes : 0;
  }
  const std::uint64_t least = final_form ? 0 : rest_bytes > kRestBytesMax ? kSmallOutputBytesMin : kOutputBytesMin;
  const auto small = std::ranges::find_if(*shares, [&](const Share& share) { return share.bytes < least; });
  const auto count = std::min<std::size_t>(kOutputsMax, static_cast<std::size_t>(small - shares->begin()));
  shares->resize(count);
  std::ranges::sort(*shares, {}, [](const Share& share) { return share.span.from; });
}

/// Adds a chunk's bytes to the days it covers, as if they were even.
void Spread(const chunk::ChunkEntry& entry, double bytes_per_sample, TimeUnit unit, DayBytes* days) {
  const auto day_length = static_cast<std::uint64_t>(86'400 * UnitsPerSecond(unit));
  const std::uint64_t span = static_cast<std::uint64_t>(entry.last_time) - static_cast<std::uint64_t>(entry.first_time);
  const std::uint64_t pieces = std::min(kPiecesMax, span / day_length + 1);
  const auto bytes = static_cast<std::uint64_t>(bytes_per_sample * static_cast<double>(entry.count) /
                                                static_cast<double>(pieces));
  for (std::uint64_t i = 0; i < pieces; ++i) {
    const std::uint64_t step = pieces == 1 ? 0 : span / (pieces - 1) * i;
    const auto time = static_cast<Timestamp>(static_cast<std::uint64_t>(entry.first_time) + step);
    (*days)[SpanOf(time, kLevelDay, unit).from] += bytes;
  }
}

/// All times outside of the spans.
std::vector<TimeRange> Complement(const std::vector<Share>& shares) {
  std::vector<TimeRange> ranges;
  Timestamp from = kTimestampMin;
  for (const Share& share : shares) {
    if (share.span.from > from) {
      ranges.push_back({from, share.span.from - 1});
    }
    if (share.span.to == kTimestampMax) {
      return ranges;
    }
    from = share.span.to + 1;
  }
  ranges.push_back({from, kTimestampMax});
  return ranges;
}

}  // namespace

Result<DayBytes> EstimateDayBytes(std::span<const chunk::ChunkFileReader* const> files, TimeUnit unit,
                                  const chunk::ChunkFileReader** failed) {
  DayBytes days;
  chunk::ChunkRows rows;
  for (const chunk::ChunkFileReader* file : files) {
    // Directory and the like are spread over the samples.
    const double bytes_per_sample =
        static_cast<double>(file->meta().bytes) / static_cast<double>(std::max<std::uint64_t>(1, file->meta().samples));
    for (std::size_t block = 0; block < file->blocks(); ++block) {
      if (Status status = file->ReadBlock(block, &rows); !status.ok()) {
        *failed = file;
        return status;
      }
      for (const chunk::ChunkEntry& entry : rows.entries) {
        Spread(entry, bytes_per_sample, unit, &days);
      }
    }
  }
  return days;
}

std::vector<MergeOutput> PlanOutputs(const DayBytes& days, std::span<const Partition> partitions,
                                     const OutputPlanOptions& options) {
  std::vector<Share> shares = FindShares(days, partitions, options);
  KeepWorthwhile(&shares, options.final_form);
  std::vector<MergeOutput> outputs;
  for (const Share& share : shares) {
    const bool warm =
        share.level == kLevelDay && !options.final_form && !IsCold(share.span, kLevelDay, options.now, options.unit);
    outputs.push_back({{share.span}, warm ? kLevelWarmDay : share.level});
  }
  if (std::vector<TimeRange> rest = Complement(shares); !rest.empty()) {
    outputs.push_back({std::move(rest), kLevelRest});
  }
  return outputs;
}

}  // namespace tsdb::compaction
