#include "engine/query/bucket_scan.h"

#include <algorithm>
#include <utility>

namespace tsdb::engine {

Status BucketScan::Start(SeriesReader* reader, TimeRange window, TimeRange clip) {
  reader_ = reader;
  window_ = window;
  clip_ = clip;
  open_ = false;
  done_ = window.empty();
  piece_ = Piece();
  before_.reset();
  if (needs_.neighbours() && !done_) {
    TSDB_ASSIGN_OR_RETURN(before_, reader->SampleBefore(window.from, true));
  }
  reader->Start(window);
  return Status::Ok();
}

// Whether first and last lie in one bucket, and the edges the aggregators need are known.
bool BucketScan::MayAnswer(const PartPlace& place) const {
  if (!plan_.spec.use_statistics || !needs_.in_statistics()) {
    return false;
  }
  const bool in_open = open_ && bucket_.Contains(place.first);
  const Bucket bucket = in_open ? bucket_ : plan_.grid.At(place.first);
  if (place.last > bucket.last) {
    return false;
  }
  if (place.begins_chunk && place.ends_chunk) {
    return true;
  }
  if (needs_.area) {
    return false;
  }
  const bool empty = !in_open || state_.empty();
  if (needs_.edges) {
    const bool later_in_bucket = place.ends_chunk || place.next_first <= std::min(bucket.last, window_.to);
    // What a filter lets through is the first or the last only where it is known to let through all.
    if ((empty && !place.begins_chunk) || !later_in_bucket || (plan_.filter.values && !place.ends_chunk)) {
      return false;
    }
  }
  if (needs_.increase) {
    // Falls between pages are known, the numbers at their edges are not: all pages up to the end of the chunk.
    return !plan_.filter.values && place.alone && place.chunk_last <= std::min(bucket.last, window_.to) &&
           (place.begins_chunk || !empty);
  }
  return true;
}

bool BucketScan::Answers(const StatisticsPart& part) const {
  const chunk::ValueStatistics& s = *part.values;
  if (needs_.area && (!part.even || s.nan_count != 0)) {
    return false;
  }
  if (needs_.increase && s.has_numbers()) {
    // Inside a chunk the state must already know a number, or begin with the chunk.
    if (!s.resets || (!part.begins_chunk && !(open_ && state_.has_numbers())) ||
        (part.drop_nans && s.nan_count != 0)) {
      return false;
    }
  }
  // The first time of what passes is not known when the first value does not.
  return !(part.drop_nans && s.nan_count != 0 && (plan_.grid.whole() || needs_.neighbours()));
}

void BucketScan::Open(Timestamp time) {
  // Most often the next one.
  bucket_ = open_ && time > bucket_.last && bucket_.last != kTimestampMax && !plan_.grid.whole()
                ? plan_.grid.After(bucket_)
                : plan_.grid.At(time);
  if (!bucket_.Contains(time)) {
    bucket_ = plan_.grid.At(time);
  }
  open_ = true;
  first_time_ = last_time_ = time;
  if (plan_.grid.whole()) {
    bucket_ = {clip_.from == kTimestampMin ? time : clip_.from, clip_.to};
  }
  const Timestamp begin = std::max(bucket_.start, clip_.from);
  state_.Start(needs_, before_, begin == kTimestampMin ? std::nullopt : std::optional<Timestamp>(begin));
}

BucketState::Ending BucketScan::EndingOf(const Bucket& bucket, const std::optional<Number>& after) const {
  BucketState::Ending ending;
  ending.after = after;
  const Timestamp end = std::min(bucket.end(), clip_.to);
  if (end != kTimestampMax) {
    ending.end = end;
  }
  if (needs_.increase) {
    const Timestamp begin = std::max(bucket.start, clip_.from);
    const bool whole_end = clip_.to >= bucket.last && !plan_.grid.whole();
    // Open ends are where the samples are.
    const Timestamp from = begin == kTimestampMin ? first_time_ : begin;
    const Timestamp to = whole_end ? bucket.end() : clip_.to == kTimestampMax ? last_time_ : clip_.to;
    ending.seconds = Distance(from, std::max(from, to)) / plan_.units_per_second;
  }
  return ending;
}

/// Gives the row of the open bucket. `after`: the first number behind it, where it is needed.
void BucketScan::Close(const std::optional<Number>& after) {
  const BucketState::Ending ending = EndingOf(bucket_, after);
  rows_->times.push_back(plan_.grid.RowTime(bucket_));
  for (std::size_t i = 0; i < rows_->columns.size(); ++i) {
    rows_->columns[i].push_back(state_.Finish(plan_.spec.aggregators[i], ending));
  }
  if (keep_edges_) {
    edges_.push_back({bucket_, state_.LastValue(), needs_.area ? state_.last_number() : std::nullopt, after});
  }
  if (needs_.neighbours()) {
    before_ = state_.last_number();
  }
}

// How many samples at the front of the piece lie in the bucket. At even times as many as in the one before, which is
// tried first.
std::size_t BucketScan::CountInBucket() {
  const std::span<const Timestamp> times = piece_.samples.times;
  if (times.empty()) {
    const auto span = static_cast<std::uint64_t>(bucket_.last) - static_cast<std::uint64_t>(piece_.first);
    return static_cast<std::size_t>(std::min<std::uint64_t>(piece_.size(), span / piece_.step + 1));
  }
  const std::size_t guess = std::min(part_size_, times.size());
  if (guess != 0 && times[guess - 1] <= bucket_.last && (guess == times.size() || times[guess] > bucket_.last)) {
    return guess;
  }
  if (times.back() <= bucket_.last) {
    return times.size();
  }
  part_size_ = static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), bucket_.last) - times.begin());
  return part_size_;
}

/// The first number of what is left of the piece.
std::optional<Number> BucketScan::NextNumber() const {
  if (!piece_.decoded()) {
    return Number{piece_.part.first, piece_.part.chunk->first_number};
  }
  for (std::size_t i = 0; i < piece_.samples.times.size(); ++i) {
    if (piece_.samples.values[i] == piece_.samples.values[i]) {
      return Number{piece_.samples.times[i], piece_.samples.values[i]};
    }
  }
  return std::nullopt;
}

Status BucketScan::Next(std::size_t rows_max, RowBlock* rows) {
  rows_ = rows;
  rows->Reset(plan_.spec.aggregators.size());
  edges_.clear();
  while (!done_ && rows->size() < rows_max) {
    const bool left = piece_.decoded() ? piece_.size() != 0 : true;
    if (!left && !reader_->Next(this, &piece_)) {
      TSDB_RETURN_IF_ERROR(reader_->status());
      if (open_) {
        std::optional<Number> after;
        if (needs_.area) {
          TSDB_ASSIGN_OR_RETURN(after, reader_->SampleAfter(window_.to, true));
        }
        Close(after);
      }
      done_ = true;
      break;
    }
    const Timestamp time = piece_.decoded() ? piece_.time(0) : piece_.part.first;
    if (!open_ || time > bucket_.last) {
      if (open_) {
        std::optional<Number> after;
        if (needs_.area && !(after = NextNumber())) {
          // Only NaN in this piece: the number behind is looked for, and the pass taken up again here.
          const Timestamp resume = piece_.samples.times.front();
          TSDB_ASSIGN_OR_RETURN(after, reader_->SampleAfter(piece_.samples.times.back(), true));
          Close(after);
          Open(resume);
          reader_->Start({resume, window_.to});
          piece_ = Piece();
          continue;
        }
        Close(after);
      }
      Open(time);
    }
    if (piece_.decoded()) {
      const std::size_t count = CountInBucket();
      last_time_ = piece_.time(count - 1);
      state_.Add({piece_.samples.times.first(std::min(count, piece_.samples.times.size())),
                  piece_.samples.values.first(count)},
                 needs_);
      piece_.Drop(count);
    } else {
      last_time_ = piece_.part.last;
      state_.Add(piece_.part, needs_);
      piece_ = Piece();
    }
  }
  return Status::Ok();
}

}  // namespace tsdb::engine
