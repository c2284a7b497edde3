#include "compaction/series_merger.h"

#include <algorithm>
#include <utility>

namespace tsdb::compaction {

void SeriesMerger::Start(std::vector<Piece> pieces, TimeRange range, std::span<const chunk::DeletedRange> masks) {
  range_ = range;
  masks_ = masks;
  pieces_ = std::move(pieces);
  std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) {
    return std::pair(a.entry.first_time, a.age) < std::pair(b.entry.first_time, b.age);
  });
  next_ = 0;
  for (OpenPiece& piece : open_) {
    spare_.push_back(std::move(piece.columns));
  }
  open_.clear();
  status_ = Status::Ok();
}

// Their memory is used again only now: the view handed out last may have been theirs.
void SeriesMerger::CloseUsedUp() {
  std::erase_if(open_, [&](OpenPiece& piece) {
    if (!piece.rest.times.empty()) {
      return false;
    }
    spare_.push_back(std::move(piece.columns));
    return true;
  });
}

void SeriesMerger::OpenNext() {
  const Piece& piece = pieces_[next_++];
  std::unique_ptr<chunk::Columns> columns;
  if (spare_.empty()) {
    columns = std::make_unique<chunk::Columns>();
  } else {
    columns = std::move(spare_.back());
    spare_.pop_back();
  }
  status_ = piece.file->Read(piece.entry, columns.get());
  if (!status_.ok()) {
    failed_file_ = piece.file;
    return;
  }
  chunk::ColumnsView rest = chunk::Slice({columns->times, columns->values}, range_);
  samples_read_ += rest.times.size();
  const CommitNumber last_commit = piece.file->meta().last_commit;
  if (chunk::Touches(masks_, last_commit, {piece.entry.first_time, piece.entry.last_time})) {
    const std::size_t before = rest.times.size();
    chunk::RemoveDeleted(masks_, last_commit, columns.get());
    rest = chunk::Slice({columns->times, columns->values}, range_);
    samples_deleted_ += before - rest.times.size();
  }
  const auto at = std::find_if(open_.begin(), open_.end(), [&](const OpenPiece& o) { return o.age > piece.age; });
  open_.insert(at, OpenPiece{piece.age, std::move(columns), rest});
}

void SeriesMerger::TakeBelow(Timestamp bound, bool bounded, chunk::ColumnsView* view) {
  views_.clear();
  std::size_t total = 0;
  for (OpenPiece& piece : open_) {
    const auto& times = piece.rest.times;
    const auto end = bounded ? std::lower_bound(times.begin(), times.end(), bound) : times.end();
    const auto count = static_cast<std::size_t>(end - times.begin());
    if (count != 0) {
      views_.push_back({times.first(count), piece.rest.values.first(count)});
      piece.rest = {times.subspan(count), piece.rest.values.subspan(count)};
      total += count;
    }
  }
  if (views_.size() == 1) {
    *view = views_.front();
    return;
  }
  chunk::MergeColumns(views_, &merged_);
  samples_replaced_ += total - merged_.size();
  *view = {merged_.times, merged_.values};
}

bool SeriesMerger::Next(chunk::ColumnsView* view) {
  CloseUsedUp();
  while (status_.ok()) {
    // Everything that begins before the next sample to come has to be open.
    while (next_ < pieces_.size() && status_.ok()) {
      const Timestamp begin = pieces_[next_].entry.first_time;
      const bool due =
          std::ranges::all_of(open_, [&](const OpenPiece& piece) { return begin <= piece.rest.times.front(); });
      if (!due) {
        break;
      }
      OpenNext();
      CloseUsedUp();  // one that lay outside of the range
    }
    if (!status_.ok() || open_.empty()) {
      return false;
    }
    const bool bounded = next_ < pieces_.size();
    TakeBelow(bounded ? pieces_[next_].entry.first_time : Timestamp{}, bounded, view);
    if (!view->times.empty()) {
      return true;
    }
  }
  return false;
}

}  // namespace tsdb::compaction
