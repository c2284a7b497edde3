#include "compaction/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <utility>

#include "compaction/chunk_cutter.h"
#include "compaction/merge_source.h"
#include "compaction/output_files.h"
#include "compaction/partition.h"
#include "compaction/series_merger.h"

namespace tsdb::compaction {

namespace {

/// Kept free on top of what a merge needs.
constexpr std::uint64_t kSpareBytes = 1 << 20;

std::int64_t SteadyNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class MergeJob {
 public:
  MergeJob(const MergeInput& input, FileSystem& fs)
      : input_(input), fs_(fs), files_(fs), start_nanos_(SteadyNanos()), tombstones_(input.tombstones) {}

  Result<chunk::ManifestEdit> Run() {
    std::uint64_t bytes = 0;
    std::uint64_t samples = 0;
    first_commit_ = input_.files.front()->meta().first_commit;
    for (const chunk::ChunkFileReader* file : input_.files) {
      bytes += file->meta().bytes;
      samples += file->meta().samples;
      first_commit_ = std::min(first_commit_, file->meta().first_commit);
      edit_.removed_chunk_files.push_back(file->meta().number);
    }
    last_commit_ = input_.files.back()->meta().last_commit;
    input_.control->samples_total.store(samples, std::memory_order_relaxed);
    input_.control->samples_done.store(0, std::memory_order_relaxed);
    input_.control->bytes_written.store(0, std::memory_order_relaxed);
    input_.control->damaged_file.store(0, std::memory_order_relaxed);
    TSDB_RETURN_IF_ERROR(CheckSpace(bytes));
    for (const MergeOutput& output : input_.outputs) {
      TSDB_RETURN_IF_ERROR(WriteOutput(output));
    }
    if (samples_in_ != samples || samples_out_ + samples_replaced_ + samples_deleted_ != samples) {
      return Status::Internal(fmt::format("merge: of {} samples {} were read, {} written, {} replaced and {} "
                                          "deleted: please report; the originals are kept",
                                          samples, samples_in_, samples_out_, samples_replaced_, samples_deleted_));
    }
    TSDB_RETURN_IF_ERROR(files_.SyncFolders());
    files_.Keep();
    return std::move(edit_);
  }

 private:
  /// Merged files are hardly ever larger than what they were made of; a disk that fills up meanwhile is still an error,
  /// only a later one.
  Status CheckSpace(std::uint64_t bytes) const {
    TSDB_ASSIGN_OR_RETURN(const std::uint64_t free, fs_.FreeBytes(input_.database_path));
    if (free < bytes || free - bytes < kSpareBytes) {
      return Status::NoSpace(fmt::format("{}: merging {} files needs up to {} bytes beside them, the disk has {} free: "
                                         "free some space, or leave it as it is",
                                         input_.database_path, input_.files.size(), bytes + kSpareBytes, free));
    }
    return {};
  }

  Status WriteOutput(const MergeOutput& output) {
    std::vector<TimeRange> ranges = output.ranges;
    MergeSource source(input_.files, ranges);
    SeriesMerger merger;
    SeriesId id;
    std::vector<SeriesMerger::Piece> pieces;
    std::vector<chunk::DeletedRange> masks;
    while (source.Next(&id, &pieces)) {
      std::uint64_t samples = 0;
      for (const SeriesMerger::Piece& piece : pieces) {
        samples += piece.entry.count;
      }
      FindMasks(id, &masks);
      ChunkCutter cutter(samples, input_.chunk_samples_max, [&](chunk::ColumnsView chunk) {
        return AddChunk(output.level, id, chunk);
      });
      for (const TimeRange& range : ranges) {
        std::vector<SeriesMerger::Piece> in_range;
        if (ranges.size() > 1) {
          std::ranges::copy_if(pieces, std::back_inserter(in_range), [&](const SeriesMerger::Piece& piece) {
            return piece.entry.first_time <= range.to && piece.entry.last_time >= range.from;
          });
        } else {
          in_range.swap(pieces);
        }
        merger.Start(std::move(in_range), range, masks);
        chunk::ColumnsView view;
        while (merger.Next(&view)) {
          TSDB_RETURN_IF_ERROR(cutter.Add(view));
        }
        if (!merger.status().ok()) {
          return NoteDamage(merger.status(), *merger.failed_file());
        }
      }
      TSDB_RETURN_IF_ERROR(cutter.Finish());
      input_.control->samples_done.store(samples_in_ + merger.samples_read(), std::memory_order_relaxed);
    }
    if (!source.status().ok()) {
      return NoteDamage(source.status(), *source.failed_file());
    }
    samples_in_ += merger.samples_read();
    samples_replaced_ += merger.samples_replaced();
    samples_deleted_ += merger.samples_deleted();
    return writer_ != nullptr ? FinishFile() : Status();
  }

  // What no reader sees any more is as good as deleted by a commit later than all.
  void FindMasks(SeriesId id, std::vector<chunk::DeletedRange>* masks) const {
    constexpr CommitNumber kLast{UINT64_MAX};
    masks->clear();
    tombstones_.Collect(id, TimeRange{}, masks);
    if (input_.dead != nullptr && input_.dead->Contains(id.value)) {
      masks->push_back({TimeRange{}, kLast});
    } else if (input_.floor != kTimestampMin &&
               (input_.above_floor == nullptr || !input_.above_floor->Contains(id.value))) {
      masks->push_back({{kTimestampMin, input_.floor - 1}, kLast});
    }
  }

  Status NoteDamage(const Status& status, const chunk::ChunkFileReader& file) {
    if (status.code() == StatusCode::kCorruption) {
      input_.control->damaged_file.store(file.meta().number, std::memory_order_relaxed);
    }
    return status;
  }

  Status AddChunk(std::uint32_t level, SeriesId id, chunk::ColumnsView chunk) {
    if (writer_ == nullptr) {
      TSDB_RETURN_IF_ERROR(StartFile(level));
    }
    TSDB_RETURN_IF_ERROR(writer_->Add(id, chunk));
    samples_out_ += chunk.times.size();
    const std::uint64_t written = bytes_finished_ + writer_->bytes();
    input_.control->bytes_written.store(written, std::memory_order_relaxed);
    return CheckIn(*input_.control, written, start_nanos_);
  }

  Status StartFile(std::uint32_t level) {
    chunk::ChunkFileOptions options;
    options.store_high = input_.store_high;
    options.store_low = input_.store_low;
    options.number = input_.file_numbers->Take();
    options.first_commit = first_commit_;
    options.last_commit = last_commit_;
    options.level = level;
    options.effort = IsDense(level) ? chunk::Effort::kDense : chunk::Effort::kFast;
    TSDB_ASSIGN_OR_RETURN(const std::string path,
                          files_.NewFile(input_.database_path, chunk::ChunkFileName(options.number)));
    TSDB_ASSIGN_OR_RETURN(writer_, chunk::ChunkFileWriter::Create(fs_, path, options));
    return {};
  }

  Status FinishFile() {
    TSDB_ASSIGN_OR_RETURN(chunk::ChunkFileMeta meta, writer_->Finish());
    bytes_finished_ += meta.bytes;
    input_.control->bytes_written.store(bytes_finished_, std::memory_order_relaxed);
    edit_.added_chunk_files.push_back(meta);
    writer_ = nullptr;
    return {};
  }

  const MergeInput& input_;
  FileSystem& fs_;
  OutputFiles files_;
  const std::int64_t start_nanos_;
  CommitNumber first_commit_;
  CommitNumber last_commit_;
  std::unique_ptr<chunk::ChunkFileWriter> writer_;  // closed before the files are removed
  std::uint64_t bytes_finished_ = 0;
  std::uint64_t samples_in_ = 0;
  std::uint64_t samples_out_ = 0;
  std::uint64_t samples_replaced_ = 0;
  std::uint64_t samples_deleted_ = 0;
  const chunk::TombstoneSet tombstones_;
  chunk::ManifestEdit edit_;
};

Status CheckInput(const MergeInput& input) {
  if (input.files.empty() || input.outputs.empty() || input.file_numbers == nullptr || input.control == nullptr ||
      input.chunk_samples_max == 0 || input.chunk_samples_max > chunk::kChunkSamplesMax) {
    return Status::InvalidArgument(fmt::format("merge: {} files into {} outputs with chunks of {} samples",
                                               input.files.size(), input.outputs.size(), input.chunk_samples_max));
  }
  for (std::size_t i = 1; i < input.files.size(); ++i) {
    if (input.files[i - 1]->meta().last_commit > input.files[i]->meta().last_commit) {
      return Status::InvalidArgument(fmt::format("merge: {} is newer than {}", input.files[i - 1]->path(),
                                                 input.files[i]->path()));
    }
  }
  std::vector<TimeRange> ranges;
  for (const MergeOutput& output : input.outputs) {
    ranges.insert(ranges.end(), output.ranges.begin(), output.ranges.end());
    if (!std::ranges::is_sorted(output.ranges, {}, &TimeRange::from)) {
      return Status::InvalidArgument("merge: the ranges of an output must ascend");
    }
  }
  std::ranges::sort(ranges, {}, &TimeRange::from);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].empty() || (i != 0 && ranges[i].from <= ranges[i - 1].to)) {
      return Status::InvalidArgument("merge: the outputs must not overlap");
    }
  }
  return {};
}

}  // namespace

Result<chunk::ManifestEdit> Merge(const MergeInput& input, FileSystem& fs) {
  TSDB_RETURN_IF_ERROR(CheckInput(input));
  try {
    return MergeJob(input, fs).Run();
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory("merge: no memory");
  }
}

}  // namespace tsdb::compaction
