#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <new>

#include "base/checksum.h"
#include "chunk/chunk_directory.h"
#include "chunk/chunk_file.h"
#include "chunk/chunk_file_format.h"
#include "chunk/place_seed.h"
#include "chunk/time_column_cache.h"

namespace tsdb::chunk {

namespace {

/// Reads exactly `n` bytes; a file that ends before is damaged.
Status ReadExactly(const RandomReadFile& file, std::uint64_t offset, std::size_t n, char* out) {
  TSDB_ASSIGN_OR_RETURN(const std::size_t got, file.ReadAt(offset, n, out));
  if (got != n) {
    return Status::Corruption(fmt::format("{}@{}: the file ends {} bytes too early", file.path(), offset, n - got));
  }
  return {};
}

bool SameStatistics(const ChunkStatistics& a, const ChunkStatistics& b) {
  const auto same = [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  };
  return a.count == b.count && a.nan_count == b.nan_count && same(a.min, b.min) && same(a.max, b.max) &&
         same(a.first, b.first) && same(a.last, b.last);
}

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
    TSDB_RETURN_IF_ERROR(ReadDirectory(&bytes));
    TSDB_RETURN_IF_ERROR(At(DecodeDirectory(bytes, footer_, &entries_)));
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
  std::span<const ChunkEntry> entries() const override { return entries_; }

  std::span<const ChunkEntry> Find(SeriesId id) const override {
    const auto first = std::ranges::lower_bound(entries_, id, {}, &ChunkEntry::id);
    return {first, std::ranges::upper_bound(first, entries_.end(), id, {}, &ChunkEntry::id)};
  }

  Status Read(const ChunkEntry& entry, Columns* out) const override {
    try {
      TSDB_RETURN_IF_ERROR(CheckEntry(entry));
      const bool own_times = entry.value_offset == entry.time_offset + entry.time_bytes;
      return own_times ? ReadChunk(entry, out) : ReadChunkWithSharedTimes(entry, out);
    } catch (const std::bad_alloc&) {
      return Status::OutOfMemory(path() + ": no memory for a chunk");
    }
  }

  Status Verify(std::vector<std::string>* damage) const override {
    try {
      return VerifyAll(damage);
    } catch (const std::bad_alloc&) {
      return Status::OutOfMemory(path() + ": no memory to verify it");
    }
  }

  std::uint64_t memory_bytes() const override {
    return sizeof(*this) + entries_.capacity() * sizeof(ChunkEntry) + times_cache_.memory_bytes();
  }

 private:
  /// Puts the path in front of a message that starts at "@offset".
  Status At(const Status& status) const {
    return status.ok() ? Status() : Status(status.code(), path() + std::string(status.message()));
  }

  Status LoadHeader() {
    char header[kChunkFileHeaderBytes];
    TSDB_RETURN_IF_ERROR(ReadExactly(*file_, 0, sizeof header, header));
    return At(DecodeChunkFileHeader({header, sizeof header}, &options_));
  }

  /// The footer was checked: the directory lies inside the file.
  Status ReadDirectory(std::string* bytes) const {
    bytes->resize(static_cast<std::size_t>(footer_.directory_bytes));
    TSDB_RETURN_IF_ERROR(ReadExactly(*file_, footer_.directory_offset, bytes->size(), bytes->data()));
    if (Checksum64(*bytes, PlaceSeed(options_.number, footer_.directory_offset)) != footer_.directory_checksum) {
      return Status::Corruption(fmt::format("{}@{}: directory checksum mismatch", path(), footer_.directory_offset));
    }
    return {};
  }

  /// An entry must be of this file: what is read and decoded by it stays in bounds.
  Status CheckEntry(const ChunkEntry& entry) const {
    const std::uint64_t columns_end = footer_.directory_offset;
    const std::uint64_t count = entry.statistics.count;
    if (count == 0 || count > kChunkSamplesMax || entry.time_bytes > ColumnBytesMax(count) ||
        entry.value_bytes > ColumnBytesMax(count) || entry.time_offset > columns_end ||
        entry.time_bytes > columns_end - entry.time_offset || entry.value_offset > columns_end ||
        entry.value_bytes > columns_end - entry.value_offset) {
      return Status::InvalidArgument(path() + ": the chunk is not of this file's directory");
    }
    return {};
  }

  /// Encoded columns pass through one buffer per thread, so that a read allocates nothing but its result.
  Status ReadBytes(std::uint64_t offset, std::size_t n, std::string_view* data) const {
    thread_local std::string scratch;
    if (scratch.size() < n) {
      scratch.resize(n);
    }
    *data = std::string_view(scratch).substr(0, n);
    return n == 0 ? Status() : ReadExactly(*file_, offset, n, scratch.data());
  }

  /// Checks and decodes; `data` is the times' bytes.
  Status TakeTimes(const ChunkEntry& entry, std::string_view data, Columns* out) const {
    out->times.resize(entry.statistics.count);
    if (!data.empty() && Checksum32(data, PlaceSeed(options_.number, entry.time_offset)) != entry.time_checksum) {
      return Damaged(Status::Corruption("checksum mismatch"), entry, "times", entry.time_offset);
    }
    return Damaged(DecodeTimeColumn(entry, data, out->times.data()), entry, "times", entry.time_offset);
  }

  Status TakeValues(const ChunkEntry& entry, std::string_view data, Columns* out) const {
    out->values.resize(entry.statistics.count);
    if (!data.empty() && Checksum32(data, PlaceSeed(options_.number, entry.value_offset)) != entry.value_checksum) {
      return Damaged(Status::Corruption("checksum mismatch"), entry, "values", entry.value_offset);
    }
    return Damaged(DecodeValueColumn(entry, data, out->values.data()), entry, "values", entry.value_offset);
  }

  Status Damaged(const Status& status, const ChunkEntry& entry, std::string_view what, std::uint64_t offset) const {
    if (status.ok()) {
      return {};
    }
    return status.WithContext(
        fmt::format("{}@{}: {} of series {} from {} on", path(), offset, what, entry.id.value, entry.first_time));
  }

  /// Both columns from the disk, in one read when they are neighbours.
  Status ReadChunk(const ChunkEntry& entry, Columns* out) const {
    std::string_view data;
    if (entry.value_offset == entry.time_offset + entry.time_bytes) {
      TSDB_RETURN_IF_ERROR(
          ReadBytes(entry.time_offset, static_cast<std::size_t>(entry.time_bytes) + entry.value_bytes, &data));
      TSDB_RETURN_IF_ERROR(TakeTimes(entry, data.substr(0, entry.time_bytes), out));
      return TakeValues(entry, data.substr(entry.time_bytes), out);
    }
    TSDB_RETURN_IF_ERROR(ReadBytes(entry.time_offset, entry.time_bytes, &data));
    TSDB_RETURN_IF_ERROR(TakeTimes(entry, data, out));
    TSDB_RETURN_IF_ERROR(ReadBytes(entry.value_offset, entry.value_bytes, &data));
    return TakeValues(entry, data, out);
  }

  /// The times of another chunk, which the chunks before this one may have used too.
  Status ReadChunkWithSharedTimes(const ChunkEntry& entry, Columns* out) const {
    const bool cacheable = entry.time_bytes != 0;
    const TimeColumnCache::Column cached = cacheable ? times_cache_.Find(entry.time_offset) : nullptr;
    if (cached == nullptr || cached->size() != entry.statistics.count) {
      TSDB_RETURN_IF_ERROR(ReadChunk(entry, out));
      if (cacheable) {
        times_cache_.Insert(entry.time_offset, out->times);
      }
      return {};
    }
    out->times.assign(cached->begin(), cached->end());
    std::string_view data;
    TSDB_RETURN_IF_ERROR(ReadBytes(entry.value_offset, entry.value_bytes, &data));
    return TakeValues(entry, data, out);
  }

  /// Header, footer and directory as they are on the disk now.
  Status CheckFixedParts() const {
    ChunkFileOptions options;
    ChunkFileFooter footer;
    char header[kChunkFileHeaderBytes];
    TSDB_RETURN_IF_ERROR(ReadExactly(*file_, 0, sizeof header, header));
    TSDB_RETURN_IF_ERROR(At(DecodeChunkFileHeader({header, sizeof header}, &options)));
    std::string bytes(kChunkFileFooterBytes, '\0');
    TSDB_RETURN_IF_ERROR(ReadExactly(*file_, meta_.bytes - bytes.size(), bytes.size(), bytes.data()));
    TSDB_RETURN_IF_ERROR(At(DecodeChunkFileFooter(bytes, options_.number, meta_.bytes, &footer)));
    return ReadDirectory(&bytes);
  }

  Status VerifyAll(std::vector<std::string>* damage) const {
    TSDB_RETURN_IF_ERROR(Note(CheckFixedParts(), damage));
    // The columns of the directory fill what lies between header and directory: nothing stays unread.
    Columns columns;
    for (const ChunkEntry& entry : entries_) {
      const Status read = ReadChunk(entry, &columns);
      TSDB_RETURN_IF_ERROR(Note(read, damage));
      if (read.ok() && !SameStatistics(ComputeStatistics(columns.values), entry.statistics)) {
        damage->push_back(fmt::format("{}@{}: the statistics of series {} from {} on are not those of its values",
                                      path(), footer_.directory_offset, entry.id.value, entry.first_time));
      }
    }
    return {};
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
  // Constant after Load.
  ChunkFileOptions options_;
  ChunkFileMeta meta_;
  ChunkFileFooter footer_;
  std::vector<ChunkEntry> entries_;
  // Self-synchronised.
  mutable TimeColumnCache times_cache_;
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
