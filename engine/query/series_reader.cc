#include "engine/query/series_reader.h"

#include <algorithm>
#include <utility>

#include "engine/masks.h"
#include "engine/retention.h"

namespace tsdb::engine {

namespace {

/// Chunks are read together up to about so many samples: what the caller then does with them stays in the cache.
constexpr std::size_t kBlockSamples = 8192;

}  // namespace

Status SeriesReader::Open(Core& core, const Version& version, SeriesId id, TimeRange range, bool reverse) {
  TSDB_ASSIGN_OR_RETURN(const Timestamp visible, VisibleFrom(core, version, id));
  range.from = std::max(range.from, visible);
  range_ = range;
  sources_.clear();
  memory_.clear();
  runs_.clear();
  next_run_ = 0;
  status_ = Status::Ok();
  if (range.empty()) {
    return Status::Ok();
  }
  TSDB_RETURN_IF_ERROR(ReadHead(core, version, id, range));
  TSDB_RETURN_IF_ERROR(FindChunks(version, id, range));
  BuildRuns(reverse);
  return Status::Ok();
}

Status SeriesReader::FindChunks(const Version& version, SeriesId id, TimeRange range) {
  rows_used_ = 0;
  std::uint32_t age = 0;
  for (const ChunkFilePtr& file : version.files) {
    ++age;
    if (file->meta().first_time > range.to || file->meta().last_time < range.from) {
      continue;
    }
    if (rows_used_ == rows_.size()) {
      rows_.emplace_back();
    }
    chunk::ChunkRows& rows = rows_[rows_used_];
    TSDB_RETURN_IF_ERROR(file->Find(id, range, &rows));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sources_.push_back({rows.entries[i].first_time, rows.entries[i].last_time, age, file.get(), rows_used_, i,
                          rows.entries[i].count,
                          chunk::Touches(masks_, file->meta().last_commit,
                                         {rows.entries[i].first_time, rows.entries[i].last_time})});
    }
    rows_used_ += rows.empty() ? 0 : 1;
  }
  return Status::Ok();
}

Status SeriesReader::ReadHead(Core& core, const Version& version, SeriesId id, TimeRange range) {
  std::vector<HeadSeries::Snapshot> snapshots;  // oldest generation first
  {
    // A sealed generation may still be taking in its last commits: everything is copied under one hold of the stripe.
    Stripe& stripe = core.stripes[StripeOf(id)];
    MutexLock lock(stripe.mutex);
    if (!stripe.Settle()) {
      return Status::OutOfMemory("samples that were written found no memory yet: free some and try again");
    }
    const auto take = [&](const Generation& generation) {
      const HeadSeries* series = generation.Find(id);
      snapshots.push_back(series == nullptr ? HeadSeries::Snapshot{} : series->TakeSnapshot(range));
    };
    for (const auto& generation : version.sealed) {
      take(*generation);
    }
    take(*version.mutable_generation);
    masks_ = MasksOf(version, id, range);
  }
  auto age = static_cast<std::uint32_t>(version.files.size());
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    ++age;
    chunk::Columns columns;
    TSDB_RETURN_IF_ERROR(DecodeSnapshot(snapshots[i], range, &columns));
    if (i < version.sealed.size()) {
      chunk::RemoveDeleted(masks_, version.sealed[i]->cut, &columns);
    }
    if (!columns.empty()) {
      sources_.push_back({columns.times.front(), columns.times.back(), age, nullptr, memory_.size(), 0, 0, false});
      memory_.push_back(std::move(columns));
    }
  }
  return Status::Ok();
}

bool SeriesReader::FollowsInFile(const Run& run, const Source& source) const {
  const Source& before = sources_[run.end - 1];
  return (run.chain || run.end - run.begin == 1) && source.file != nullptr && source.file == before.file &&
         !source.masked && !before.masked &&
         source.row == before.row + 1 && run.samples + source.samples <= kBlockSamples;
}

// Sources whose times overlap go into one run; runs follow one another in time. So do neighbours in a file that overlap
// nothing: they are read at once.
void SeriesReader::BuildRuns(bool reverse) {
  std::sort(sources_.begin(), sources_.end(), [](const Source& a, const Source& b) {
    return std::pair(a.first, a.age) < std::pair(b.first, b.age);
  });
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    if (!runs_.empty() && source.first <= runs_.back().last) {
      SplitLast();
      runs_.back().end = i + 1;
      runs_.back().last = std::max(runs_.back().last, source.last);
    } else if (!runs_.empty() && FollowsInFile(runs_.back(), source)) {
      Run& run = runs_.back();
      run = {run.begin, i + 1, source.last, run.samples + source.samples, true};
    } else {
      runs_.push_back({i, i + 1, source.last, source.samples, false});
    }
  }
  if (reverse) {
    std::reverse(runs_.begin(), runs_.end());
  }
}

// The last run will be merged with what overlaps its end: of a chain that is its last chunk only.
void SeriesReader::SplitLast() {
  Run& run = runs_.back();
  if (!run.chain) {
    return;
  }
  const Timestamp last = run.last;
  --run.end;
  const Source& left = sources_[run.end - 1];
  run.last = left.last;
  run.chain = run.end - run.begin > 1;
  runs_.push_back({run.end, run.end + 1, last, 0, false});
}

Status SeriesReader::ReadSource(const Source& source, std::size_t buffer, chunk::ColumnsView* view) {
  if (source.file == nullptr) {
    *view = {memory_[source.place].times, memory_[source.place].values};
    return Status::Ok();
  }
  chunk::ColumnBuffer& scratch = scratch_[buffer];
  scratch.Clear();
  TSDB_RETURN_IF_ERROR(source.file->ReadPages(rows_[source.place], source.row, source.row + 1, range_, &scratch));
  *view = chunk::Slice(scratch.view(), range_);
  if (source.masked) {
    chunk::Columns& filtered = filtered_[buffer];
    filtered.times.assign(view->times.begin(), view->times.end());
    filtered.values.assign(view->values.begin(), view->values.end());
    chunk::RemoveDeleted(masks_, source.file->meta().last_commit, &filtered);
    *view = {filtered.times, filtered.values};
  }
  return Status::Ok();
}

Status SeriesReader::ReadRun(const Run& run) {
  const std::size_t count = run.end - run.begin;
  const std::size_t buffers = run.chain ? 1 : count;
  if (scratch_.size() < buffers) {
    scratch_.resize(buffers);
    filtered_.resize(buffers);
  }
  if (run.chain) {
    const Source& first = sources_[run.begin];
    scratch_[0].Clear();
    TSDB_RETURN_IF_ERROR(
        first.file->ReadPages(rows_[first.place], first.row, first.row + count, range_, &scratch_[0]));
    view_ = chunk::Slice(scratch_[0].view(), range_);
    return Status::Ok();
  }
  if (count == 1) {
    return ReadSource(sources_[run.begin], 0, &view_);
  }
  std::sort(sources_.begin() + static_cast<std::ptrdiff_t>(run.begin),
            sources_.begin() + static_cast<std::ptrdiff_t>(run.end),
            [](const Source& a, const Source& b) { return std::pair(a.age, a.first) < std::pair(b.age, b.first); });
  std::vector<chunk::ColumnsView> views(count);
  for (std::size_t i = 0; i < count; ++i) {
    TSDB_RETURN_IF_ERROR(ReadSource(sources_[run.begin + i], i, &views[i]));
  }
  chunk::MergeColumns(views, &block_);
  view_ = {block_.times, block_.values};
  return Status::Ok();
}

bool SeriesReader::Next(chunk::ColumnsView* block) {
  while (status_.ok() && next_run_ < runs_.size()) {
    status_ = ReadRun(runs_[next_run_++]);
    if (status_.ok() && !view_.times.empty()) {
      *block = view_;
      return true;
    }
  }
  return false;
}

}  // namespace tsdb::engine
