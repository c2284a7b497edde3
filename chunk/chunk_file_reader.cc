#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

#include "base/checksum.h"
#include "base/safeguard.h"
#include "chunk/chunk_columns.h"
#include "chunk/chunk_directory.h"
#include "chunk/chunk_file.h"
#include "chunk/chunk_file_format.h"
#include "chunk/place_seed.h"
#include "chunk/read_ahead.h"
#include "chunk/time_column_cache.h"

namespace tsdb::chunk {

namespace {

/// Neighbouring columns are read together up to about so many bytes.
constexpr std::uint64_t kReadBytes = 1 << 20;

/// Series with fewer chunks each are not added up.
constexpr std::uint64_t kSummaryChunks = 64;

class Reader final : public ChunkFileReader {
 public:
  explicit Reader(std::unique_ptr<RandomReadFile> file) : file_(std::move(file)) {}

  Status Load() {
    const std::uint64_t size = file_->size();
    if (size < kChunkFileHeaderBytes + kChunkFileFooterBytes) {
      return Status::Corruption(fmt::format("{}@0: {} bytes are too few for a chunk file", path(), size));
    }
    TSDB_RETURN_IF_ERROR(LoadHeader());
    std::string bytes(kChunkFileFooterBytes, '\0');
    TSDB_RETURN_IF_ERROR(ReadExactly(*file_, size - kChunkFileFooterBytes, bytes.size(), bytes.data()));
    TSDB_RETURN_IF_ERROR(At(DecodeChunkFileFooter(bytes, options_.number, size, &footer_)));
    TSDB_RETURN_IF_ERROR(ReadIndex(&bytes));
    TSDB_RETURN_IF_ERROR(At(DecodeDirectoryIndex(bytes, footer_, &blocks_, &totals_)));
    meta_.number = options_.number;
    meta_.bytes = size;
    meta_.first_commit = options_.first_commit;
    meta_.last_commit = options_.last_commit;
    meta_.first_time = footer_.first_time;
    meta_.last_time = footer_.last_time;
    meta_.series = footer_.series;
    meta_.chunks = footer_.chunks;
    meta_.samples = footer_.samples;
    meta_.level = options_.level;
    return {};
  }

  const ChunkFileOptions& options() const override { return options_; }
  const ChunkFileMeta& meta() const override { return meta_; }
  const std::string& path() const override { return file_->path(); }
  const ChunkFileTotals& totals() const override { return totals_; }
  std::size_t blocks() const override { return blocks_.size(); }

  Status Find(SeriesId id, TimeRange range, ChunkRows* rows) const override {
    rows->Clear();
    try {
      auto block = blocks_.begin() + static_cast<std::ptrdiff_t>(FindBlock(id, range.from));
      for (; block != blocks_.end() && std::pair(block->first_id, block->first_time) <= std::pair(id, range.to);
           ++block) {
        TSDB_RETURN_IF_ERROR(ReadRows(*block, id, range, rows));
      }
      return {};
    } catch (const std::bad_alloc&) {
      return Status::OutOfMemory(path() + ": no memory for its directory");
    }
  }

  Result<SeriesSummaryPtr> Summary(SeriesId id) const override {
    if (meta_.chunks < kSummaryChunks * meta_.series) {
      return SeriesSummaryPtr();
    }
    if (SeriesSummaryPtr summary = summaries_.Find(id)) {
      return summary;
    }
    ChunkRows rows;
    TSDB_RETURN_IF_ERROR(Find(id, {}, &rows));
    auto summary = Summarize(rows);
    if (!summary.ok()) {
      return summary.status().WithContext(path());
    }
    if (*summary != nullptr) {
      summaries_.Insert(id, *summary);
    }
    return summary;
  }

  Status ReadBlock(std::size_t block, ChunkRows* rows) const override {
    rows->Clear();
    if (block >= blocks_.size()) {
      return Status::InvalidArgument(fmt::format("{}: no block {} in its directory", path(), block));
    }
    try {
      return ReadRows(blocks_[block], std::nullopt, {}, rows);
    } catch (const std::bad_alloc&) {
      return Status::OutOfMemory(path() + ": no memory for its directory");
    }
  }

  // The last block that does not begin behind the first chunk wanted; that chunk may begin before the time.
  std::size_t FindBlock(SeriesId id, Timestamp from) const override {
    auto block = std::upper_bound(
        blocks_.begin(), blocks_.end(), std::pair(id, from),
        [](const auto& key, const DirectoryBlock& b) { return key < std::pair(b.first_id, b.first_time); });
    block -= block == blocks_.begin() || std::prev(block)->last_id < id ? 0 : 1;
    return static_cast<std::size_t>(block - blocks_.begin());
  }

  Status Read(const ChunkEntry& entry, Columns* out) const override {
    try {
      TSDB_RETURN_IF_ERROR(CheckEntry(entry));
      out->times.resize(entry.count);
      out->values.resize(entry.count);
      const PageRange all = {0, PageCount(entry.count)};
      std::string_view near;
      const std::uint64_t begin = ColumnsBegin(entry);
      TSDB_RETURN_IF_ERROR(ReadBytes(begin, ColumnsEnd(entry) - begin, &near));
      TSDB_RETURN_IF_ERROR(TakeValues(entry, all, near, begin, out->values.data()));
      return TakeTimes(entry, all, near, begin, out->times.data());
    } catch (const std::bad_alloc&) {
      return Status::OutOfMemory(path() + ": no memory for a chunk");
    }
  }

  Status ReadPages(const ChunkRows& rows, std::size_t begin, std::size_t end, TimeRange range,
                   ColumnBuffer* out) const override {
    return ReadRowsOf(rows, begin, end, range, true, out);
  }

  Result<Timestamp> ReadValues(const ChunkRows& rows, std::size_t begin, std::size_t end, TimeRange range,
                               ColumnBuffer* out) const override {
    TSDB_RETURN_IF_ERROR(ReadRowsOf(rows, begin, end, range, false, out));
    return rows.PageTime(begin, PagesIn(rows, begin, range).first);
  }

  Status Verify(std::vector<std::string>* damage) const override {
    try {
      return VerifyAll(damage);
    } catch (const std::bad_alloc&) {
      return Status::OutOfMemory(path() + ": no memory to verify it");
    }
  }

  std::uint64_t memory_bytes() const override {
    return sizeof(*this) + blocks_.capacity() * sizeof(DirectoryBlock) + times_cache_.memory_bytes() +
           summaries_.memory_bytes();
  }

 private:
  Status ReadRowsOf(const ChunkRows& rows, std::size_t begin, std::size_t end, TimeRange range, bool with_times,
                    ColumnBuffer* out) const {
    try {
      while (begin < end) {
        std::size_t stop = begin;
        std::uint64_t bytes = 0;
        for (; stop < end && bytes < kReadBytes; ++stop) {
          TSDB_RETURN_IF_ERROR(CheckEntry(rows.entries[stop]));
          bytes = ColumnsEnd(rows.entries[stop]) - ColumnsBegin(rows.entries[begin]);
        }
        TSDB_RETURN_IF_ERROR(ReadNeighbours(rows, begin, stop, range, with_times, out));
        begin = stop;
      }
      return {};
    } catch (const std::bad_alloc&) {
      return Status::OutOfMemory(path() + ": no memory for chunks");
    }
  }

  /// Puts the path in front of a message that starts at "@offset".
  Status At(const Status& status) const {
    return status.ok() ? Status() : Status(status.code(), path() + std::string(status.message()));
  }

  Status LoadHeader() {
    char header[kChunkFileHeaderBytes];
    TSDB_RETURN_IF_ERROR(ReadExactly(*file_, 0, sizeof header, header));
    return At(DecodeChunkFileHeader({header, sizeof header}, &options_));
  }

  /// The footer was checked: the index lies inside the file.
  Status ReadIndex(std::string* bytes) const {
    bytes->resize(static_cast<std::size_t>(meta_bytes() - kChunkFileFooterBytes - footer_.index_offset));
    TSDB_RETURN_IF_ERROR(ReadExactly(*file_, footer_.index_offset, bytes->size(), bytes->data()));
    const std::uint64_t checksum = Checksum64(*bytes, PlaceSeed(options_.number, footer_.index_offset));
    if (TSDB_MISMATCH("chunk-file/index", checksum != footer_.index_checksum)) {
      return Status::Corruption(fmt::format("{}@{}: checksum mismatch in the index of the directory", path(),
                                            footer_.index_offset));
    }
    return {};
  }

  std::uint64_t meta_bytes() const { return footer_.file_bytes; }

  /// Appends the rows of a block: all, or those of one series that overlap the range.
  Status ReadRows(const DirectoryBlock& block, std::optional<SeriesId> id, TimeRange range, ChunkRows* rows) const {
    const auto damaged = [&](std::size_t offset, std::string_view what) {
      return Status::Corruption(fmt::format("{}@{}: directory: {}: {} chunks from series {} on cannot be found", path(),
                                            block.offset + offset, what, block.rows, block.first_id.value));
    };
    std::string_view data;
    TSDB_RETURN_IF_ERROR(ReadBytes(block.offset, block.bytes, &data));
    if (TSDB_MISMATCH("chunk-file/block",
                      Checksum32(data, PlaceSeed(options_.number, block.offset)) != block.checksum)) {
      return damaged(0, "checksum mismatch");
    }
    DirectoryRowReader reader(data, block);
    ChunkEntry entry;
    RowDetails details;
    while (reader.Next(&entry, &details)) {
      if (id && (entry.id < *id || (entry.id == *id && entry.last_time < range.from))) {
        continue;
      }
      if (id && (entry.id > *id || entry.first_time > range.to)) {
        return {};
      }
      entry.statistics_at = static_cast<std::uint32_t>(rows->statistics.size());
      entry.statistics_bytes = static_cast<std::uint32_t>(details.statistics.size());
      entry.page_times_at = static_cast<std::uint32_t>(rows->page_times.size());
      rows->statistics.append(details.statistics);
      rows->page_times.insert(rows->page_times.end(), details.page_times.begin(), details.page_times.end());
      rows->entries.push_back(entry);
    }
    return reader.problem() == nullptr ? Status() : damaged(reader.offset(), reader.problem());
  }

  /// An entry must be of this file: what is read and decoded by it stays in bounds.
  Status CheckEntry(const ChunkEntry& entry) const {
    const std::uint64_t columns_end = footer_.directory_offset;
    const std::uint64_t count = entry.count;
    if (count == 0 || count > kChunkSamplesMax || entry.time_bytes > ColumnBytesMax(count) ||
        entry.value_bytes > ColumnBytesMax(count) || entry.time_offset > columns_end ||
        entry.time_bytes > columns_end - entry.time_offset || entry.value_offset > columns_end ||
        entry.value_bytes > columns_end - entry.value_offset) {
      return Status::InvalidArgument(path() + ": the chunk is not of this file's directory");
    }
    return {};
  }

  /// The bytes a chunk brought: its values, behind its times when they are not those of an earlier chunk.
  static std::uint64_t ColumnsBegin(const ChunkEntry& entry) {
    const bool own_times = entry.time_bytes != 0 && entry.time_offset + entry.time_bytes == entry.value_offset;
    return own_times ? entry.time_offset : entry.value_offset;
  }
  static std::uint64_t ColumnsEnd(const ChunkEntry& entry) { return entry.value_offset + entry.value_bytes; }

  Status ReadBytes(std::uint64_t offset, std::size_t n, std::string_view* data) const {
    *data = {};
    return n == 0 ? Status() : read_ahead_.Read(*file_, offset, n, data);
  }

  /// The pages of a row that overlap the range, which the row does.
  static PageRange PagesIn(const ChunkRows& rows, std::size_t index, TimeRange range) {
    const ChunkEntry& entry = rows.entries[index];
    PageRange pages = {0, PageCount(entry.count)};
    while (pages.count > 1 && rows.PageTime(index, pages.count - 1) > range.to) {
      --pages.count;
    }
    while (pages.count > 1 && rows.PageTime(index, pages.first + 1) <= range.from) {
      ++pages.first;
      --pages.count;
    }
    return pages;
  }

  /// Rows whose columns lie side by side, in one read.
  Status ReadNeighbours(const ChunkRows& rows, std::size_t begin, std::size_t end, TimeRange range, bool with_times,
                        ColumnBuffer* out) const {
    const std::uint64_t near_begin = ColumnsBegin(rows.entries[begin]);
    const std::uint64_t near_end = ColumnsEnd(rows.entries[end - 1]);
    if (near_end < near_begin) {
      return Status::InvalidArgument(path() + ": chunks to be read must be in order");
    }
    std::string_view near;
    TSDB_RETURN_IF_ERROR(ReadBytes(near_begin, static_cast<std::size_t>(near_end - near_begin), &near));
    for (std::size_t i = begin; i < end; ++i) {
      const ChunkEntry& entry = rows.entries[i];
      if (entry.last_time < range.from || entry.first_time > range.to) {
        continue;
      }
      const PageRange pages = PagesIn(rows, i, range);
      out->Reserve(SamplesInPages(entry.count, pages));
      TSDB_RETURN_IF_ERROR(TakeValues(entry, pages, near, near_begin, out->values_end()));
      if (with_times) {
        TSDB_RETURN_IF_ERROR(TakeTimes(entry, pages, near, near_begin, out->times_end()));
      }
      out->Extend(SamplesInPages(entry.count, pages));
    }
    return {};
  }

  /// Checks and decodes; `near` are the bytes of the file from `near_begin` on. `out` has room for the pages.
  Status TakeValues(const ChunkEntry& entry, PageRange pages, std::string_view near, std::uint64_t near_begin,
                    double* out) const {
    if (entry.value_offset < near_begin || entry.value_offset - near_begin + entry.value_bytes > near.size()) {
      return Status::InvalidArgument(path() + ": chunks to be read must be in order");
    }
    const std::string_view data =
        near.substr(static_cast<std::size_t>(entry.value_offset - near_begin), entry.value_bytes);
    if (TSDB_MISMATCH("chunk-file/values",
                      !data.empty() && Checksum32(data, PlaceSeed(options_.number, entry.value_offset)) !=
                                           entry.value_checksum)) {
      return Damaged(Status::Corruption("checksum mismatch"), entry, "values", entry.value_offset);
    }
    return Damaged(DecodeValueColumn(entry, data, pages, out), entry, "values", entry.value_offset);
  }

  /// The same for the times, which may lie elsewhere: then they are another chunk's too, and remembered. `near` may be
  /// gone afterwards.
  Status TakeTimes(const ChunkEntry& entry, PageRange pages, std::string_view near, std::uint64_t near_begin,
                   Timestamp* out) const {
    if (entry.time_bytes == 0) {
      return DecodeTimeColumn(entry, {}, pages, out);
    }
    if (entry.time_offset >= near_begin && entry.time_offset - near_begin + entry.time_bytes <= near.size()) {
      const auto at = static_cast<std::size_t>(entry.time_offset - near_begin);
      return CheckAndDecodeTimes(entry, pages, near.substr(at, entry.time_bytes), out);
    }
    TimeColumnCache::Column column = times_cache_.Find(entry.time_offset);
    if (column == nullptr || column->size() != entry.count) {
      std::string far(entry.time_bytes, '\0');
      TSDB_RETURN_IF_ERROR(ReadExactly(*file_, entry.time_offset, far.size(), far.data()));
      std::vector<Timestamp> times(entry.count);
      TSDB_RETURN_IF_ERROR(CheckAndDecodeTimes(entry, {0, PageCount(entry.count)}, far, times.data()));
      column = times_cache_.Insert(entry.time_offset, std::move(times));
    }
    std::copy_n(column->data() + pages.first * kPageSamples, SamplesInPages(entry.count, pages), out);
    return {};
  }

  Status CheckAndDecodeTimes(const ChunkEntry& entry, PageRange pages, std::string_view data, Timestamp* out) const {
    if (TSDB_MISMATCH("chunk-file/times",
                      Checksum32(data, PlaceSeed(options_.number, entry.time_offset)) != entry.time_checksum)) {
      return Damaged(Status::Corruption("checksum mismatch"), entry, "times", entry.time_offset);
    }
    return Damaged(DecodeTimeColumn(entry, data, pages, out), entry, "times", entry.time_offset);
  }

  Status Damaged(const Status& status, const ChunkEntry& entry, std::string_view what, std::uint64_t offset) const {
    if (status.ok()) {
      return {};
    }
    read_ahead_.Forget();  // who tries again reads it again
    return status.WithContext(
        fmt::format("{}@{}: {} of series {} from {} on", path(), offset, what, entry.id.value, entry.first_time));
  }

  /// Header, footer and index as they are on the disk now.
  Status CheckFixedParts() const {
    ChunkFileOptions options;
    ChunkFileFooter footer;
    char header[kChunkFileHeaderBytes];
    TSDB_RETURN_IF_ERROR(ReadExactly(*file_, 0, sizeof header, header));
    TSDB_RETURN_IF_ERROR(At(DecodeChunkFileHeader({header, sizeof header}, &options)));
    std::string bytes(kChunkFileFooterBytes, '\0');
    TSDB_RETURN_IF_ERROR(ReadExactly(*file_, meta_.bytes - bytes.size(), bytes.size(), bytes.data()));
    TSDB_RETURN_IF_ERROR(At(DecodeChunkFileFooter(bytes, options_.number, meta_.bytes, &footer)));
    return ReadIndex(&bytes);
  }

  /// What the rows add up to, to be compared with the footer.
  struct Sums {
    std::uint64_t series = 0;
    std::uint64_t samples = 0;
    Timestamp first_time = kTimestampMax;
    Timestamp last_time = kTimestampMin;
    SeriesId last_id;
  };

  Status VerifyAll(std::vector<std::string>* damage) const {
    read_ahead_.Forget();
    TSDB_RETURN_IF_ERROR(Note(CheckFixedParts(), damage));
    // The columns of the rows fill what lies between header and directory: nothing stays unread.
    Sums sums;
    ChunkRows rows;
    bool all_rows = true;
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      const Status status = ReadBlock(block, &rows);
      TSDB_RETURN_IF_ERROR(Note(status, damage));
      all_rows = all_rows && status.ok();
      TSDB_RETURN_IF_ERROR(VerifyRows(blocks_[block], rows, &sums, damage));
    }
    if (all_rows && (sums.series != footer_.series || sums.samples != footer_.samples ||
                     sums.first_time != footer_.first_time || sums.last_time != footer_.last_time)) {
      damage->push_back(fmt::format("{}@{}: counts or times of the rows differ from the footer's", path(),
                                    meta_.bytes - kChunkFileFooterBytes));
    }
    return {};
  }

  Status VerifyRows(const DirectoryBlock& block, const ChunkRows& rows, Sums* sums,
                    std::vector<std::string>* damage) const {
    Columns columns;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const ChunkEntry& entry = rows.entries[i];
      sums->series += entry.id != sums->last_id ? 1 : 0;
      sums->last_id = entry.id;
      sums->samples += entry.count;
      sums->first_time = std::min(sums->first_time, entry.first_time);
      sums->last_time = std::max(sums->last_time, entry.last_time);
      const Status read = Read(entry, &columns);
      TSDB_RETURN_IF_ERROR(Note(read, damage));
      if (read.ok()) {
        VerifyRow(block, rows, i, columns, damage);
      }
    }
    return {};
  }

  void VerifyRow(const DirectoryBlock& block, const ChunkRows& rows, std::size_t index, const Columns& columns,
                 std::vector<std::string>* damage) const {
    const ChunkEntry& entry = rows.entries[index];
    const auto note = [&](std::string_view what) {
      damage->push_back(fmt::format("{}@{}: {} of series {} from {} on are not those of its samples", path(),
                                    block.offset, what, entry.id.value, entry.first_time));
    };
    const auto statistics = rows.Statistics(index);
    ChunkStatistics computed = ComputeStatistics(columns.values);
    if (statistics.ok()) {
      PoolPages(statistics->page_step, &computed);
    }
    if (!statistics.ok() || !SameStatistics(computed, *statistics)) {
      note("the statistics");
    }
    for (std::size_t page = 1; page < PageCount(entry.count); ++page) {
      if (rows.PageTime(index, page) != columns.times[page * kPageSamples]) {
        note("the first times of the pages");
        return;
      }
    }
  }

  /// Damage goes into the list; other errors (I/O, memory, handles) are none and end the check.
  static Status Note(const Status& status, std::vector<std::string>* damage) {
    if (status.code() != StatusCode::kCorruption && status.code() != StatusCode::kNotSupported) {
      return status;
    }
    damage->emplace_back(status.message());
    return {};
  }

  const std::unique_ptr<RandomReadFile> file_;
  const ReadAhead read_ahead_;
  // Constant after Load.
  ChunkFileOptions options_;
  ChunkFileMeta meta_;
  ChunkFileFooter footer_;
  std::vector<DirectoryBlock> blocks_;
  ChunkFileTotals totals_;
  // Self-synchronised.
  mutable TimeColumnCache times_cache_;
  mutable SeriesSummaryCache summaries_;
};

}  // namespace

Result<std::unique_ptr<ChunkFileReader>> ChunkFileReader::Open(FileSystem& fs, const std::string& path) {
  TSDB_ASSIGN_OR_RETURN(std::unique_ptr<RandomReadFile> file, fs.OpenReadable(path));
  try {
    auto reader = std::make_unique<Reader>(std::move(file));
    TSDB_RETURN_IF_ERROR(reader->Load());
    return std::unique_ptr<ChunkFileReader>(std::move(reader));
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory(path + ": no memory for the directory");
  }
}

}  // namespace tsdb::chunk
