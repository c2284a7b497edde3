#include "compaction/picker.h"

#include <algorithm>
#include <optional>

#include "compaction/output_plan.h"

namespace tsdb::compaction {

namespace {

using chunk::ChunkFileMeta;

constexpr std::size_t kFlushedFilesMin = 4;
constexpr std::size_t kFlushedFilesMax = 16;       // of one cut
constexpr std::size_t kFinalFlushedFilesMax = 64;  // of one cut when all is to be merged
constexpr std::size_t kPartitionFilesMax = 8;

class Picker {
 public:
  Picker(std::span<const ChunkFileMeta> files, const PickOptions& options)
      : files_(files), options_(options), partitions_(FindPartitions(files, options.unit)) {}

  const std::vector<Partition>& partitions() const { return partitions_; }

  struct CutBounds {
    std::size_t flushed_min = 0;
    std::size_t flushed_max = 0;
    /// Later files do not count.
    CommitNumber last_commit;
    /// A large rest is not written anew for a few bytes.
    bool spare_rest = false;
  };
  /// The rest and the oldest flushed files.
  std::optional<Pick> Cut(const CutBounds& bounds) const {
    std::vector<const ChunkFileMeta*> taken;
    std::size_t flushed = 0;
    std::uint64_t flushed_bytes = 0;
    std::uint64_t rest_bytes = 0;
    for (const ChunkFileMeta& file : files_) {
      if (file.level > kLevelRest) {
        continue;
      }
      if (flushed == bounds.flushed_max || !Readable(file) ||
          (file.level == kLevelFlushed && file.last_commit > bounds.last_commit)) {
        break;
      }
      flushed += file.level == kLevelFlushed ? 1 : 0;
      (file.level == kLevelFlushed ? flushed_bytes : rest_bytes) += file.bytes;
      taken.push_back(&file);
    }
    if (taken.empty() || flushed < bounds.flushed_min ||
        (bounds.spare_rest && flushed < bounds.flushed_max && flushed_bytes < rest_bytes / 8)) {
      return std::nullopt;
    }
    Pick pick;
    pick.cut = true;
    pick.files = Numbers(taken);
    return pick;
  }

  /// Partitions inside a longer span that is cold, when they fit into one file.
  std::optional<Pick> Join() const {
    for (std::uint32_t level = kLevelLongest; level > kLevelDay; --level) {
      for (std::size_t begin = 0; begin < partitions_.size();) {
        const TimeRange span = SpanOf(partitions_[begin].span.from, level, options_.unit);
        std::uint64_t bytes = 0;
        std::vector<const ChunkFileMeta*> files;
        std::size_t end = begin;
        for (; end < partitions_.size() && partitions_[end].span.from <= span.to; ++end) {
          bytes += partitions_[end].bytes;
          files.insert(files.end(), partitions_[end].files.begin(), partitions_[end].files.end());
        }
        const bool worthwhile = partitions_[begin].level < level && end - begin > 1 && bytes <= kJoinBytesMax &&
                                IsCold(span, level, options_.now, options_.unit);
        if (worthwhile && Mergeable(files)) {
          return Into(files, span, level);
        }
        begin = end;
      }
    }
    return std::nullopt;
  }

  /// The newest files of a partition that has too many. A merge of all of a cold partition's makes it dense.
  std::optional<Pick> Tidy(const Partition& partition) const {
    if (partition.files.size() <= kPartitionFilesMax) {
      return std::nullopt;
    }
    std::size_t begin = partition.files.size() - 1;
    std::uint64_t bytes = partition.files[begin]->bytes;
    while (begin > 0 && (partition.files[begin - 1]->bytes <= 2 * bytes || partition.files.size() - begin < 2)) {
      bytes += partition.files[--begin]->bytes;
    }
    return All(partition, begin, IsCold(partition.span, partition.level, options_.now, options_.unit));
  }

  /// A day that became cold and is too large to be joined is brought into its final form. What comes later is dense
  /// already and is not worth writing all of it anew.
  std::optional<Pick> Finish(const Partition& partition) const {
    const bool warm = std::ranges::any_of(partition.files, [](const auto* file) { return !IsDense(file->level); });
    const bool large = partition.bytes > kJoinBytesMax / 8;
    if (!warm || !large || !IsCold(partition.span, kLevelDay, options_.now, options_.unit)) {
      return std::nullopt;
    }
    return MakeFinal(partition);
  }

  /// All files of a partition into a dense one.
  std::optional<Pick> MakeFinal(const Partition& partition) const {
    if (partition.files.size() == 1 && IsDense(partition.files.front()->level)) {
      return std::nullopt;
    }
    return All(partition, 0, true);
  }

 private:
  static std::vector<std::uint64_t> Numbers(const std::vector<const ChunkFileMeta*>& files) {
    std::vector<std::uint64_t> numbers;
    for (const ChunkFileMeta* file : files) {
      numbers.push_back(file->number);
    }
    return numbers;
  }

  bool Readable(const ChunkFileMeta& file) const { return !options_.unreadable.contains(file.number); }

  /// False when one of the files, or one that may lie between them, cannot be read.
  bool Mergeable(const std::vector<const ChunkFileMeta*>& files) const {
    CommitNumber first = files.front()->first_commit;
    CommitNumber last = files.front()->last_commit;
    TimeRange times{files.front()->first_time, files.front()->last_time};
    for (const ChunkFileMeta* file : files) {
      first = std::min(first, file->first_commit);
      last = std::max(last, file->last_commit);
      times.from = std::min(times.from, file->first_time);
      times.to = std::max(times.to, file->last_time);
    }
    return std::ranges::none_of(files_, [&](const ChunkFileMeta& file) {
      return !Readable(file) && file.first_commit <= last && file.last_commit >= first && file.first_time <= times.to &&
             file.last_time >= times.from;
    });
  }

  /// `files` come partition by partition; merged they must follow one another in commits.
  static Pick Into(std::vector<const ChunkFileMeta*> files, TimeRange span, std::uint32_t level) {
    std::ranges::sort(files);  // by address: ascending by last commit
    Pick pick;
    pick.files = Numbers(files);
    pick.span = span;
    pick.level = level;
    return pick;
  }

  std::optional<Pick> All(const Partition& partition, std::size_t begin, bool dense) const {
    const std::vector<const ChunkFileMeta*> files(partition.files.begin() + static_cast<std::ptrdiff_t>(begin),
                                                  partition.files.end());
    if (!Mergeable(files)) {
      return std::nullopt;
    }
    return Into(files, partition.span, partition.level == kLevelDay && !dense ? kLevelWarmDay : partition.level);
  }

  const std::span<const ChunkFileMeta> files_;
  const PickOptions& options_;
  const std::vector<Partition> partitions_;
};

}  // namespace

Pick PickMerge(std::span<const ChunkFileMeta> files, const PickOptions& options) {
  const Picker picker(files, options);
  if (const auto pick = picker.Cut({kFlushedFilesMin, kFlushedFilesMax, CommitNumber{UINT64_MAX}, true})) {
    return *pick;
  }
  if (const auto pick = picker.Join()) {
    return *pick;
  }
  for (const Partition& partition : picker.partitions()) {
    if (const auto pick = picker.Tidy(partition)) {
      return *pick;
    }
    if (const auto pick = picker.Finish(partition)) {
      return *pick;
    }
  }
  return {};
}

Pick PickFinal(std::span<const ChunkFileMeta> files, const PickOptions& options, CommitNumber last_commit,
               bool rest_is_final) {
  const Picker picker(files, options);
  const std::size_t flushed_min = rest_is_final ? 1 : 0;
  if (const auto pick = picker.Cut({flushed_min, kFinalFlushedFilesMax, last_commit, false})) {
    return *pick;
  }
  if (const auto pick = picker.Join()) {
    return *pick;
  }
  for (const Partition& partition : picker.partitions()) {
    if (const auto pick = picker.MakeFinal(partition)) {
      return *pick;
    }
  }
  return {};
}

}  // namespace tsdb::compaction
