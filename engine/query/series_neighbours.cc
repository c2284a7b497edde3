// SeriesReader: reading from the end, and what lies nearest to a time.
#include <algorithm>
#include <utility>

#include "engine/query/series_reader.h"

namespace tsdb::engine {
namespace {

/// A window read from the end holds at most about so many samples unless one source alone has more.
constexpr std::size_t kWindowSamples = 1 << 16;

}  // namespace

std::optional<Timestamp> SeriesReader::WindowBefore(Timestamp end, bool first) const {
  // Sources that begin up to the end; the one that begins last opens the window.
  auto it = std::upper_bound(sources_.begin(), sources_.end(), end,
                             [](Timestamp t, const Source& source) { return t < source.first; });
  // Those that end before the range do not count.
  while (it != sources_.begin() && std::prev(it)->last < range_.from) {
    --it;
  }
  if (it == sources_.begin() || last_until_[static_cast<std::size_t>(it - sources_.begin()) - 1] < range_.from) {
    return std::nullopt;
  }
  --it;
  const auto index = static_cast<std::size_t>(it - sources_.begin());
  const bool overlapped = index != 0 && last_until_[index - 1] >= it->first;
  if (!overlapped && first && it->file != nullptr && it->samples > chunk::kPageSamples) {
    // The last page that begins up to the end.
    const std::size_t pages = chunk::PageCount(it->samples);
    std::size_t page = pages - 1;
    while (page > 0 && it->rows->PageTime(it->row, page) > end) {
      --page;
    }
    return std::max(range_.from, it->rows->PageTime(it->row, page));
  }
  Timestamp start = it->first;
  std::size_t samples = it->samples;
  const bool widen = overlapped || !first;
  while (widen && it != sources_.begin() && samples + std::prev(it)->samples <= kWindowSamples) {
    --it;
    samples += it->samples;
    start = it->first;
  }
  return std::max(range_.from, start);
}

Result<std::unique_ptr<SeriesReader>> SeriesReader::OpenBeside(TimeRange range) const {
  auto reader = std::make_unique<SeriesReader>(plan_, cache_, counts_);
  reader->id_ = id_;
  reader->range_ = range;
  reader->visible_from_ = visible_from_;
  reader->masks_ = masks_;
  reader->memory_views_ = memory_views_;
  TSDB_RETURN_IF_ERROR(reader->FindChunks(nullptr));
  for (const Source& source : sources_) {
    if (source.file == nullptr) {
      reader->sources_.push_back(source);
    }
  }
  reader->SortSources();
  return reader;
}

// Of what was found: the last (first) sample of a range that passes.
Result<std::optional<Number>> SeriesReader::NearestInRange(TimeRange range, bool backwards, bool numbers) {
  const auto search = [&](TimeRange window, bool last) -> Result<std::optional<Number>> {
    std::optional<Number> found;
    Start(window);
    Piece piece;
    while (Next(nullptr, &piece)) {
      const chunk::ColumnsView& samples = piece.samples;
      for (std::size_t k = 0; k < samples.times.size(); ++k) {
        const std::size_t i = last ? samples.times.size() - 1 - k : k;
        if (!numbers || samples.values[i] == samples.values[i]) {
          found = Number{samples.times[i], samples.values[i]};
          break;
        }
      }
      if (found && !last) {
        return found;
      }
    }
    TSDB_RETURN_IF_ERROR(status_);
    return found;
  };
  if (!backwards) {
    return search(range, false);
  }
  bool first = true;
  for (Timestamp end = range.to; end >= range.from;) {
    const std::optional<Timestamp> start = WindowBefore(end, first);
    first = false;
    if (!start) {
      break;
    }
    const Timestamp from = std::max(*start, range.from);
    TSDB_ASSIGN_OR_RETURN(const auto found, search({from, end}, true));
    if (found || from == kTimestampMin) {
      return found;
    }
    end = from - 1;
  }
  return std::optional<Number>();
}

Result<std::optional<Number>> SeriesReader::Nearest(Timestamp time, bool backwards, bool numbers) {
  const TimeRange inside = backwards ? TimeRange{range_.from, std::min(range_.to, time - 1)}
                                     : TimeRange{std::max(range_.from, time + 1), range_.to};
  if (!inside.empty()) {
    TSDB_ASSIGN_OR_RETURN(const auto found, NearestInRange(inside, backwards, numbers));
    if (found) {
      return found;
    }
  }
  // Outside the range: in spans that grow, so that a long series is not looked through for one sample.
  Timestamp edge = backwards ? std::min(range_.from, time) : std::max(range_.to, time);
  Timestamp far = edge;
  for (const ChunkFilePtr& file : version_.files) {
    far = backwards ? std::min(far, file->meta().first_time) : std::max(far, file->meta().last_time);
  }
  for (const Source& source : sources_) {
    far = backwards ? std::min(far, source.first) : std::max(far, source.last);
  }
  far = std::max(far, visible_from_);
  std::uint64_t span = 1 << 16;
  while (backwards ? edge > far : edge < far) {
    TimeRange range;
    if (backwards) {
      const auto left = static_cast<std::uint64_t>(edge) - static_cast<std::uint64_t>(far);
      range = {span >= left ? far : static_cast<Timestamp>(static_cast<std::uint64_t>(edge) - span), edge - 1};
      edge = range.from;
    } else {
      const auto left = static_cast<std::uint64_t>(far) - static_cast<std::uint64_t>(edge);
      range = {edge + 1, span >= left ? far : static_cast<Timestamp>(static_cast<std::uint64_t>(edge) + span)};
      edge = range.to;
    }
    TSDB_ASSIGN_OR_RETURN(const auto beside, OpenBeside(range));
    TSDB_ASSIGN_OR_RETURN(const auto found, beside->NearestInRange(range, backwards, numbers));
    if (found) {
      return found;
    }
    span = span > (~std::uint64_t{0} >> 5) ? ~std::uint64_t{0} : span * 32;
  }
  return std::optional<Number>();
}

Result<std::optional<Number>> SeriesReader::SampleBefore(Timestamp time, bool numbers) {
  if (time == kTimestampMin) {
    return std::optional<Number>();
  }
  return Nearest(time, true, numbers);
}

Result<std::optional<Number>> SeriesReader::SampleAfter(Timestamp time, bool numbers) {
  if (time == kTimestampMax) {
    return std::optional<Number>();
  }
  return Nearest(time, false, numbers);
}

Result<std::optional<Number>> SeriesReader::Newest() {
  if (sources_.empty() || range_.empty()) {
    return std::optional<Number>();
  }
  if (plan_.filter.empty() && plan_.spec.use_statistics) {
    const auto newest = std::max_element(sources_.begin(), sources_.end(), [](const Source& a, const Source& b) {
      return std::pair(a.last, a.age) < std::pair(b.last, b.age);
    });
    if (newest->last <= range_.to && newest->last >= range_.from && !newest->masked) {
      if (newest->file == nullptr) {
        return std::optional<Number>(Number{newest->last, memory_views_[newest->row].values.back()});
      }
      TSDB_RETURN_IF_ERROR(LoadStatistics(*newest));
      ++counts_->chunks_answered;
      return std::optional<Number>(Number{newest->last, statistics_.last});
    }
  }
  return NearestInRange(range_, true, false);
}

}  // namespace tsdb::engine
