#include "engine/query/series_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/masks.h"
#include "engine/retention.h"

namespace tsdb::engine {

namespace {

/// Chunks are read together up to about so many samples: what the caller then does with them stays in the cache.
constexpr std::size_t kBlockSamples = 8192;
/// Sources that overlap are merged together up to about so many samples.
constexpr std::size_t kMergeSamples = 1 << 16;

}  // namespace

Status SeriesReader::Open(SeriesId id, TimeRange range, bool neighbours, const PartJudge* judge) {
  TSDB_ASSIGN_OR_RETURN(visible_from_, VisibleFrom(core_, version_, id));
  range.from = std::max(range.from, visible_from_);
  id_ = id;
  range_ = range;
  masks_.clear();
  sources_.clear();
  memory_.clear();
  memory_views_.clear();
  summaries_.clear();
  done_ = true;
  statistics_of_ = nullptr;
  status_ = Status::Ok();
  ++counts_->series;
  if (range.empty()) {
    return Status::Ok();
  }
  // What lies outside the range is kept for neighbours: it must be of the same moment.
  range_ = neighbours ? TimeRange{visible_from_, kTimestampMax} : range;
  const Status head = ReadHead();
  range_ = range;
  TSDB_RETURN_IF_ERROR(head);
  TSDB_RETURN_IF_ERROR(FindChunks(judge));
  SortSources();
  for (std::size_t i = 0; i < sources_.size() && !summaries_.empty(); ++i) {
    if (sources_[i].file != nullptr && sources_[i].rows == nullptr && !Alone(i)) {
      // What overlaps is merged chunk by chunk.
      std::erase_if(sources_, [](const Source& source) { return source.file != nullptr; });
      summaries_.clear();
      TSDB_RETURN_IF_ERROR(FindChunks(nullptr));
      SortSources();
    }
  }
  return Status::Ok();
}

StatisticsPart SeriesReader::WholeOf(const chunk::SeriesSummary& summary) {
  return {&summary.values, &summary.values, true, true, summary.even, false, summary.first_time, summary.last_time};
}

/// True when the series' share of a file, which lies in the range, is answered as a whole.
Result<bool> SeriesReader::TakeSummary(const ChunkFilePtr& file, std::uint32_t age, const PartJudge& judge) {
  TSDB_ASSIGN_OR_RETURN(chunk::SeriesSummaryPtr summary, file->Summary(id_));
  if (summary == nullptr) {
    return false;
  }
  const Timestamp first = summary->first_time;
  const Timestamp last = summary->last_time;
  if (chunk::Touches(masks_, file->meta().last_commit, {first, last}) ||
      !judge.MayAnswer({first, last, last, last, true, true, true}) || !judge.Answers(WholeOf(*summary))) {
    return false;
  }
  counts_->chunks += summary->chunks;
  sources_.push_back({first, last, file.get(), nullptr, static_cast<std::uint32_t>(summaries_.size()), age,
                      summary->values.count, false});
  summaries_.push_back(std::move(summary));
  return true;
}

void SeriesReader::AddRows(const chunk::ChunkFileReader* file, std::uint32_t age, const chunk::ChunkRows* rows,
                           std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const chunk::ChunkEntry& entry = rows->entries[i];
    if (plan_.filter.MayPass(entry.first_time, entry.last_time)) {
      const bool masked =
          chunk::Touches(masks_, file->meta().last_commit, {entry.first_time, entry.last_time});
      sources_.push_back({entry.first_time, entry.last_time, file, rows, static_cast<std::uint32_t>(i), age,
                          entry.count, masked});
    }
  }
  counts_->chunks += end - begin;
}

Status SeriesReader::FindChunks(const PartJudge* judge) {
  std::uint32_t age = 0;
  std::vector<DirectoryCache::Rows> found;
  for (const ChunkFilePtr& file : version_.files) {
    ++age;
    if (file->meta().first_time > range_.to || file->meta().last_time < range_.from) {
      continue;
    }
    ++counts_->files;
    if (judge != nullptr && plan_.filter.empty() && range_.from <= file->meta().first_time &&
        file->meta().last_time <= range_.to) {
      TSDB_ASSIGN_OR_RETURN(const bool answered, TakeSummary(file, age, *judge));
      if (answered) {
        continue;
      }
    }
    TSDB_RETURN_IF_ERROR(cache_.Find(*file, id_, range_, &found));
    for (const DirectoryCache::Rows& part : found) {
      AddRows(file.get(), age, part.rows, part.begin, part.end);
    }
  }
  return Status::Ok();
}

Status SeriesReader::ReadHead() {
  std::vector<HeadSeries::Snapshot> snapshots;  // oldest generation first
  {
    // A sealed generation may still be taking in its last commits: everything is copied under one hold of the stripe.
    Stripe& stripe = core_.stripes[StripeOf(id_)];
    MutexLock lock(stripe.mutex);
    if (!stripe.Settle()) {
      return Status::OutOfMemory("samples that were written found no memory yet: free some and try again");
    }
    const auto take = [&](const Generation& generation) {
      const HeadSeries* series = generation.Find(id_);
      snapshots.push_back(series == nullptr ? HeadSeries::Snapshot{} : series->TakeSnapshot(range_));
    };
    for (const auto& generation : version_.sealed) {
      take(*generation);
    }
    take(*version_.mutable_generation);
    masks_ = MasksOf(version_, id_, range_);
  }
  auto age = static_cast<std::uint32_t>(version_.files.size());
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    const HeadSeries::Snapshot& snapshot = snapshots[i];
    ++age;
    if (snapshot.parts.empty()) {
      continue;
    }
    chunk::Columns columns;
    TSDB_RETURN_IF_ERROR(DecodeSnapshot(snapshot, range_, &columns));
    if (i < version_.sealed.size()) {
      chunk::RemoveDeleted(masks_, version_.sealed[i]->cut, &columns);
    }
    if (!columns.empty()) {
      counts_->samples_in_memory += columns.size();
      memory_.push_back(std::move(columns));
      const chunk::ColumnsView view = {memory_.back().times, memory_.back().values};
      const auto samples = static_cast<std::uint32_t>(std::min<std::size_t>(view.times.size(), 1u << 31));
      sources_.push_back({view.times.front(), view.times.back(), nullptr, nullptr,
                          static_cast<std::uint32_t>(memory_views_.size()), age, samples, false});
      memory_views_.push_back(view);
    }
  }
  return Status::Ok();
}

void SeriesReader::SortSources() {
  const auto before = [](const Source& a, const Source& b) {
    return std::pair(a.first, a.age) < std::pair(b.first, b.age);
  };
  if (!std::is_sorted(sources_.begin(), sources_.end(), before)) {
    std::sort(sources_.begin(), sources_.end(), before);
  }
  last_until_.resize(sources_.size());
  Timestamp last = kTimestampMin;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    last_until_[i] = last = std::max(last, sources_[i].last);
  }
}

void SeriesReader::Start(TimeRange window) {
  window_ = {std::max(window.from, range_.from), std::min(window.to, range_.to)};
  done_ = window_.empty() || sources_.empty() || !status_.ok();
  cursor_ = window_.from;
  carried_.clear();
  items_.clear();
  next_item_ = 0;
  have_piece_ = false;
  // Sources before the first whose predecessors all end before the window are over.
  next_ = static_cast<std::size_t>(std::lower_bound(last_until_.begin(), last_until_.end(), window_.from) -
                                   last_until_.begin());
  while (next_ < sources_.size() && sources_[next_].first < window_.from) {
    if (sources_[next_].last >= window_.from) {
      carried_.push_back(next_);
    }
    ++next_;
  }
}

bool SeriesReader::Next(const PartJudge* judge, Piece* piece) {
  while (status_.ok() && (next_item_ < items_.size() || !done_)) {
    have_piece_ = false;
    piece_ = Piece();
    if (next_item_ < items_.size()) {
      status_ = TakeItem(items_[next_item_++]);
    } else {
      status_ = Step(judge);
    }
    if (status_.ok() && have_piece_) {
      *piece = piece_;
      return true;
    }
  }
  return false;
}

/// True when nothing else lies between its ends.
bool SeriesReader::Alone(std::size_t index) const {
  return (index + 1 == sources_.size() || sources_[index + 1].first > sources_[index].last) &&
         (index == 0 || last_until_[index - 1] < sources_[index].first);
}

Status SeriesReader::Step(const PartJudge* judge) {
  if (carried_.empty() && (next_ == sources_.size() || sources_[next_].first > window_.to)) {
    done_ = true;
    return Status::Ok();
  }
  // One source only, up to where the next one begins.
  const bool one_carried = carried_.size() == 1;
  const std::size_t index = one_carried ? carried_[0] : next_;
  if (one_carried || carried_.empty()) {
    const std::size_t behind = one_carried ? next_ : next_ + 1;
    Timestamp to = std::min(sources_[index].last, window_.to);
    if (behind == sources_.size() || sources_[behind].first > to) {
      const TimeRange clip = {std::max(cursor_, sources_[index].first), to};
      carried_.clear();
      next_ = behind;
      if (to == kTimestampMax) {
        done_ = true;
      } else {
        cursor_ = to + 1;
      }
      return TakeLone(index, clip, Alone(index), judge);
    }
  }
  return TakeOverlapping();
}

// What overlaps, up to where one of the sources ends; further while it is little.
Status SeriesReader::TakeOverlapping() {
  std::vector<std::size_t> taken = carried_;
  std::size_t next = next_;
  if (taken.empty()) {
    taken.push_back(next++);
  }
  const Timestamp from = std::max(cursor_, carried_.empty() ? sources_[taken[0]].first : cursor_);
  std::size_t samples = 0;
  Timestamp longest = from;
  Timestamp shortest = kTimestampMax;
  const auto count = [&](std::size_t index) {
    samples += sources_[index].samples;
    longest = std::max(longest, sources_[index].last);
    shortest = std::min(shortest, sources_[index].last);
  };
  for (const std::size_t index : taken) {
    count(index);
  }
  while (next < sources_.size() && sources_[next].first <= std::min(longest, window_.to) &&
         (samples < kMergeSamples || sources_[next].first <= from)) {
    taken.push_back(next);
    count(next++);
  }
  // All of them when that is the whole group; else only up to the first end, so that the next ones come in time.
  const bool whole = next == sources_.size() || sources_[next].first > longest;
  Timestamp to = std::min(whole ? longest : std::max(shortest, from), window_.to);
  if (!whole && sources_[next].first <= to) {
    to = std::max(from, sources_[next].first - 1);
  }
  const TimeRange clip = {from, to};
  std::sort(taken.begin(), taken.end(), [this](std::size_t a, std::size_t b) {
    return std::pair(sources_[a].age, sources_[a].first) < std::pair(sources_[b].age, sources_[b].first);
  });
  if (scratch_.size() < taken.size()) {
    scratch_.resize(taken.size());
  }
  std::vector<chunk::ColumnsView> views;
  for (const std::size_t index : taken) {
    if (sources_[index].first <= to && sources_[index].last >= from) {
      views.emplace_back();
      TSDB_RETURN_IF_ERROR(ReadSource(sources_[index], clip, &scratch_[views.size() - 1], &views.back()));
    }
  }
  carried_.clear();
  for (const std::size_t index : taken) {
    if (sources_[index].last > to) {
      carried_.push_back(index);
    }
  }
  next_ = next;
  if (to >= window_.to) {
    done_ = true;
  } else {
    cursor_ = to + 1;
  }
  // Those that were taken and begin later are carried: the cursor is before them, which costs nothing.
  chunk::MergeColumns(views, &merged_);
  Give({merged_.times, merged_.values});
  return Status::Ok();
}

Status SeriesReader::TakeLone(std::size_t index, TimeRange clip, bool alone, const PartJudge* judge) {
  const Source& source = sources_[index];
  source_ = &source;
  items_.clear();
  next_item_ = 0;
  if (source.file == nullptr) {
    const chunk::ColumnsView view = chunk::Slice(memory_views_[source.row], clip);
    Give(view);
    return plan_.Spend(view.times.size());
  }
  if (source.rows == nullptr) {
    const chunk::SeriesSummary& summary = *summaries_[source.row];
    piece_.part = WholeOf(summary);
    have_piece_ = true;
    counts_->samples_answered += summary.values.count;
    counts_->chunks_answered += summary.chunks;
    return plan_.Spend(0);
  }
  if (!source.masked && alone && Decodes(source, clip, judge)) {
    return TakeChain(index, clip, judge);
  }
  if (!source.masked && (judge != nullptr || !plan_.filter.empty())) {
    return PlanChunk(source, clip, alone, judge);
  }
  items_.push_back({clip, true, false, 0, {}});
  return Status::Ok();
}

/// True when nothing of a chunk can be answered by statistics, nor passed over by a filter.
bool SeriesReader::Decodes(const Source& source, TimeRange clip, const PartJudge* judge) const {
  if (!plan_.filter.empty()) {
    return false;
  }
  if (judge == nullptr) {
    return true;
  }
  const bool whole = clip.from <= source.first && clip.to >= source.last;
  if (whole && judge->MayAnswer({source.first, source.last, source.last, source.last, true, true, true})) {
    return false;
  }
  const std::size_t pages = chunk::PageCount(source.samples);
  for (std::size_t page = 0; pages > 1 && page < pages; ++page) {
    const bool ends = page + 1 == pages;
    const Timestamp first = source.rows->PageTime(source.row, page);
    const Timestamp next = ends ? source.last : source.rows->PageTime(source.row, page + 1);
    const Timestamp last = ends ? source.last : next - 1;
    if (first >= clip.from && last <= clip.to &&
        judge->MayAnswer({first, last, next, source.last, page == 0, ends, true})) {
      return false;
    }
  }
  return true;
}

/// Of a chunk with even times; 0 when they are not, or there is one sample only.
std::uint64_t SeriesReader::EvenStep(const Source& source) const {
  const chunk::ChunkEntry& entry = source.rows->entries[source.row];
  return entry.time_encoding == chunk::kTimesInDirectory && entry.count > 1
             ? (static_cast<std::uint64_t>(source.last) - static_cast<std::uint64_t>(source.first)) / (entry.count - 1)
             : 0;
}

// A chunk and those that follow it in its file, when nothing overlaps them and all are decoded: read at once. Where the
// times go on in even steps and nobody needs them they are not written out.
Status SeriesReader::TakeChain(std::size_t index, TimeRange clip, const PartJudge* judge) {
  const Source& first = sources_[index];
  std::size_t samples = first.samples;
  std::size_t end = index + 1;
  const std::uint64_t step = judge != nullptr && !judge->NeedsTimes() ? EvenStep(first) : 0;
  while (end < sources_.size() && end == next_) {
    const Source& source = sources_[end];
    const TimeRange part = {source.first, std::min(source.last, window_.to)};
    if (source.file != first.file || source.rows != first.rows || source.row != first.row + (end - index) ||
        source.masked || samples + source.samples > kBlockSamples || part.empty() || !Alone(end) ||
        !Decodes(source, part, judge)) {
      break;
    }
    if (step != 0 && (EvenStep(source) != step || static_cast<std::uint64_t>(source.first) -
                                                          static_cast<std::uint64_t>(sources_[end - 1].last) != step)) {
      break;
    }
    samples += source.samples;
    clip.to = part.to;
    next_ = ++end;
    if (part.to == kTimestampMax) {
      done_ = true;
    } else {
      cursor_ = part.to + 1;
    }
  }
  if (scratch_.empty()) {
    scratch_.resize(1);
  }
  scratch_[0].Clear();
  const std::size_t rows_end = first.row + (end - index);
  if (step != 0) {
    TSDB_ASSIGN_OR_RETURN(const Timestamp begin,
                          first.file->ReadValues(*first.rows, first.row, rows_end, clip, &scratch_[0]));
    GiveEven(begin, step, clip);
  } else {
    TSDB_RETURN_IF_ERROR(first.file->ReadPages(*first.rows, first.row, rows_end, clip, &scratch_[0]));
    Give(chunk::Slice(scratch_[0].view(), clip));
  }
  counts_->samples_decoded += scratch_[0].size();
  return plan_.Spend(scratch_[0].size());
}

Status SeriesReader::ReadSource(const Source& source, TimeRange clip, chunk::ColumnBuffer* scratch,
                                chunk::ColumnsView* view) {
  if (source.file == nullptr) {
    *view = chunk::Slice(memory_views_[source.row], clip);
    return plan_.Spend(view->times.size());
  }
  scratch->Clear();
  TSDB_RETURN_IF_ERROR(source.file->ReadPages(*source.rows, source.row, source.row + 1, clip, scratch));
  counts_->samples_decoded += scratch->size();
  *view = chunk::Slice(scratch->view(), clip);
  if (source.masked) {
    if (undeleted_.size() < scratch_.size()) {
      undeleted_.resize(scratch_.size());
    }
    chunk::Columns& left = undeleted_[static_cast<std::size_t>(scratch - scratch_.data())];
    left.times.assign(view->times.begin(), view->times.end());
    left.values.assign(view->values.begin(), view->values.end());
    chunk::RemoveDeleted(masks_, source.file->meta().last_commit, &left);
    *view = {left.times, left.values};
  }
  return plan_.Spend(scratch->size());
}

/// Lets out what of scratch_[0] lies in the range; its times are even, from `first` on.
void SeriesReader::GiveEven(Timestamp first, std::uint64_t step, TimeRange clip) {
  const std::span<const double> values = scratch_[0].view().values;
  const auto steps_to = [&](Timestamp time) {
    return (static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(first)) / step;
  };
  const std::uint64_t skip =
      std::min<std::uint64_t>(values.size(), clip.from <= first ? 0 : steps_to(clip.from - 1) + 1);
  const std::uint64_t end = std::min<std::uint64_t>(values.size(), clip.to < first ? 0 : steps_to(clip.to) + 1);
  piece_.samples = {{}, values.subspan(skip, std::max(skip, end) - skip)};
  piece_.first = static_cast<Timestamp>(static_cast<std::uint64_t>(first) + skip * step);
  piece_.step = step;
  have_piece_ = !piece_.samples.values.empty();
}

/// Lets out what the filter passes.
void SeriesReader::Give(chunk::ColumnsView view) {
  if (!plan_.filter.empty()) {
    filtered_.Clear();
    for (std::size_t i = 0; i < view.times.size(); ++i) {
      if (plan_.filter.Passes(view.times[i], view.values[i])) {
        filtered_.times.push_back(view.times[i]);
        filtered_.values.push_back(view.values[i]);
      }
    }
    view = {filtered_.times, filtered_.values};
  }
  piece_.samples = view;
  have_piece_ = !view.times.empty();
}

}  // namespace tsdb::engine
