// SeriesReader: the samples of one series in a range, merged from head and files, in pieces.
//
//   file chunks ┐                                   ┌ piece 1   sources that overlap in time are decoded and merged
//   sealed gens ┼─► sources sorted by time ─► steps ┼ piece 2   together; others pass one by one, and may be answered
//   mutable gen ┘                                   └ …         by their statistics
//
// Of samples at one time the newest wins: mutable generation, sealed ones (newest first), files (highest last commit
// first). What the filter of the query refuses does not come out.
//
// Thread safety: none; one per thread. The version of the plan must stay pinned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "chunk/chunk_rows.h"
#include "chunk/column_buffer.h"
#include "chunk/columns.h"
#include "chunk/tombstone.h"
#include "engine/core.h"
#include "engine/query/bucket_state.h"
#include "engine/query/directory_cache.h"
#include "engine/query/query_plan.h"
#include "engine/version.h"
#include "tsdb/status.h"
#include "tsdb/types.h"

namespace tsdb::engine {

/// Where a part of a chunk lies that statistics might answer: the whole chunk, or one of its pages.
struct PartPlace {
  Timestamp first = 0;
  Timestamp last = 0;              // of a page that does not end its chunk: a bound
  Timestamp next_first = 0;        // where the next page of the chunk begins, when there is one
  Timestamp chunk_last = 0;
  bool begins_chunk = false;
  bool ends_chunk = false;
  bool alone = false;              // no other source overlaps its chunk
};

/// Decides what statistics may answer.
class PartJudge {
 public:
  virtual ~PartJudge() = default;
  /// Cheap, before the statistics are read.
  virtual bool MayAnswer(const PartPlace& place) const = 0;
  virtual bool Answers(const StatisticsPart& part) const = 0;
  /// False: pieces may come without the times of their samples where these are even.
  virtual bool NeedsTimes() const = 0;
};

/// Some samples, in order of time, or the statistics of some.
struct Piece {
  chunk::ColumnsView samples;  // without times: they are even, from `first` on
  Timestamp first = 0;
  std::uint64_t step = 0;
  StatisticsPart part;

  bool decoded() const { return part.values == nullptr; }
  std::size_t size() const { return samples.values.size(); }
  Timestamp time(std::size_t index) const {
    return samples.times.empty() ? static_cast<Timestamp>(static_cast<std::uint64_t>(first) + index * step)
                                 : samples.times[index];
  }
  /// Leaves out the first `count` samples.
  void Drop(std::size_t count) {
    first = static_cast<Timestamp>(static_cast<std::uint64_t>(first) + count * step);
    samples.times = samples.times.subspan(samples.times.empty() ? 0 : count);
    samples.values = samples.values.subspan(count);
  }
};

class SeriesReader {
 public:
  /// `cache`: keeps the rows of this reader's series until the next Open.
  SeriesReader(QueryPlan& plan, DirectoryCache& cache, QueryStatistics* counts)
      : plan_(plan), core_(plan.core), version_(*plan.version), cache_(cache), counts_(counts) {}

  /// Takes what the head holds at this moment (under the stripe of the series: one commit prefix) and finds the chunks
  /// that overlap `range`. `neighbours`: samples outside it will be asked for. `judge`: of whole files it may take what
  /// all chunks of the series add up to; the range is then read in one pass, with this judge.
  Status Open(SeriesId id, TimeRange range, bool neighbours, const PartJudge* judge = nullptr);
  /// True when there is no source at all.
  bool empty() const { return sources_.empty(); }

  /// Begins to read what of the range lies in `window`, oldest first.
  void Start(TimeRange window);
  /// Next samples; false at the end or on error. Views are valid until the next call.
  bool Next(const PartJudge* judge, Piece* piece);
  const Status& status() const { return status_; }

  /// For reading from the end: where a window that ends at `end` should begin, so that it holds some samples and not
  /// very many; nullopt when there is nothing up to `end`. `first`: it may be small.
  std::optional<Timestamp> WindowBefore(Timestamp end, bool first) const;

  /// The nearest sample before (behind) a time that passes the filter, also outside the range; `numbers`: that is no
  /// NaN. Begins a pass of its own: Start again afterwards.
  Result<std::optional<Number>> SampleBefore(Timestamp time, bool numbers);
  Result<std::optional<Number>> SampleAfter(Timestamp time, bool numbers);
  /// The newest sample in the range, from statistics where they tell.
  Result<std::optional<Number>> Newest();

  /// A reader of the same series, at the same commit prefix, for a range outside this one's.
  Result<std::unique_ptr<SeriesReader>> OpenBeside(TimeRange range) const;

 private:
  struct Source {
    Timestamp first = 0;
    Timestamp last = 0;
    const chunk::ChunkFileReader* file = nullptr;    // null: it is in memory
    const chunk::ChunkRows* rows = nullptr;          // of a file; null: it is a summary
    std::uint32_t row = 0;                           // of those; position in summaries_, or memory_views_
    std::uint32_t age = 0;                           // order of precedence: higher wins
    std::uint32_t samples = 0;                       // about; of memory at most what fits
    /// Some of its samples do not count: it is decoded and filtered (ReadSource), never answered by statistics.
    bool masked = false;
  };
  /// What is left to do of the chunk at hand.
  struct Item {
    TimeRange range;              // to be decoded
    bool decode = false;
    bool whole = false;           // of statistics: the chunk
    std::size_t page = 0;
    StatisticsPart part;
  };

  Status ReadHead();
  Status FindChunks(const PartJudge* judge);
  Result<bool> TakeSummary(const ChunkFilePtr& file, std::uint32_t age, const PartJudge& judge);
  static StatisticsPart WholeOf(const chunk::SeriesSummary& summary);
  void AddRows(const chunk::ChunkFileReader* file, std::uint32_t age, const chunk::ChunkRows* rows, std::size_t begin,
               std::size_t end);
  void SortSources();
  bool Alone(std::size_t index) const;
  Status Step(const PartJudge* judge);
  Status TakeLone(std::size_t index, TimeRange clip, bool alone, const PartJudge* judge);
  bool Decodes(const Source& source, TimeRange clip, const PartJudge* judge) const;
  Status TakeChain(std::size_t index, TimeRange clip, const PartJudge* judge);
  std::uint64_t EvenStep(const Source& source) const;
  void GiveEven(Timestamp first, std::uint64_t step, TimeRange clip);
  Status TakeOverlapping();
  Status TakeItem(const Item& item);
  Status PlanChunk(const Source& source, TimeRange clip, bool alone, const PartJudge* judge);
  void PlanPages(const Source& source, TimeRange clip, bool alone, const PartJudge* judge);
  Status LoadStatistics(const Source& source);
  bool Refuses(const chunk::ValueStatistics& values) const;
  bool PassesAll(const chunk::ValueStatistics& values) const;
  /// `scratch`: one of scratch_.
  Status ReadSource(const Source& source, TimeRange clip, chunk::ColumnBuffer* scratch, chunk::ColumnsView* view);
  void Give(chunk::ColumnsView view);
  Result<std::optional<Number>> NearestInRange(TimeRange range, bool backwards, bool numbers);
  Result<std::optional<Number>> Nearest(Timestamp time, bool backwards, bool numbers);

  QueryPlan& plan_;
  Core& core_;
  const Version& version_;
  DirectoryCache& cache_;
  QueryStatistics* const counts_;

  SeriesId id_;
  TimeRange range_;
  Timestamp visible_from_ = kTimestampMin;     // what is older has expired
  std::vector<chunk::DeletedRange> masks_;     // deletes of the series, of the same moment as the head
  std::deque<chunk::Columns> memory_;
  std::vector<chunk::ColumnsView> memory_views_;  // of this reader's memory_, or of that it was opened beside
  std::vector<chunk::SeriesSummaryPtr> summaries_;
  std::vector<Source> sources_;        // ascending by (first, age)
  std::vector<Timestamp> last_until_;  // the latest end of sources_[0..i]

  // The pass.
  TimeRange window_;
  Timestamp cursor_ = 0;               // what lies before was given
  bool done_ = true;
  std::size_t next_ = 0;               // the first source that begins at or behind the cursor
  std::vector<std::size_t> carried_;   // earlier ones that reach behind it
  std::vector<Item> items_;
  std::size_t next_item_ = 0;
  const Source* source_ = nullptr;     // of the items
  chunk::ChunkStatistics statistics_;  // of it
  const Source* statistics_of_ = nullptr;
  Piece piece_;
  bool have_piece_ = false;
  chunk::Columns merged_;
  chunk::Columns filtered_;
  std::vector<chunk::ColumnBuffer> scratch_;
  std::vector<chunk::Columns> undeleted_;      // of masked sources, by the position in scratch_
  Status status_;
};

}  // namespace tsdb::engine
