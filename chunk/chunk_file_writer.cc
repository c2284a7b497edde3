#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "base/checksum.h"
#include "base/safeguard.h"
#include "chunk/chunk_columns.h"
#include "chunk/chunk_directory.h"
#include "chunk/chunk_file.h"
#include "chunk/chunk_file_format.h"
#include "chunk/column_codec.h"
#include "chunk/place_seed.h"
#include "chunk/shared_times.h"
#include "chunk/statistics_codec.h"

namespace tsdb::chunk {

namespace {

/// Columns wait in memory until there are this many bytes of them.
constexpr std::size_t kBufferBytes = 1 << 20;

template <typename T>
std::string_view AsBytes(std::span<const T> column) {
  return {reinterpret_cast<const char*>(column.data()), column.size_bytes()};
}

class Writer final : public ChunkFileWriter {
 public:
  Writer(std::unique_ptr<WritableFile> file, std::string path, const ChunkFileOptions& options)
      : file_(std::move(file)), path_(std::move(path)), options_(options), directory_(options.number) {
    buffer_.reserve(kBufferBytes + kBufferBytes / 4);
    buffer_.append(EncodeChunkFileHeader(options));
    position_ = buffer_.size();
    footer_.first_time = kTimestampMax;
    footer_.last_time = kTimestampMin;
  }

  Status Add(SeriesId id, ColumnsView columns) override {
    if (status_.ok()) {
      try {
        status_ = AddChunk(id, columns);
      } catch (const std::bad_alloc&) {
        status_ = Status::OutOfMemory(path_ + ": no memory for a chunk");
      }
    }
    return status_;
  }

  std::uint64_t bytes() const override { return position_ + directory_.bytes() + kChunkFileFooterBytes; }

  Result<ChunkFileMeta> Finish() override {
    if (status_.ok() && footer_.chunks == 0) {
      return Status::InvalidArgument(path_ + ": a chunk file needs at least one chunk");
    }
    if (status_.ok()) {
      try {
        status_ = WriteEnd();
      } catch (const std::bad_alloc&) {
        status_ = Status::OutOfMemory(path_ + ": no memory for the directory");
      }
    }
    TSDB_RETURN_IF_ERROR(status_);
    status_ = Status::InvalidArgument(path_ + ": the chunk file is finished");
    ChunkFileMeta meta;
    meta.number = options_.number;
    meta.bytes = footer_.file_bytes;
    meta.first_commit = options_.first_commit;
    meta.last_commit = options_.last_commit;
    meta.first_time = footer_.first_time;
    meta.last_time = footer_.last_time;
    meta.series = footer_.series;
    meta.chunks = footer_.chunks;
    meta.samples = footer_.samples;
    meta.level = options_.level;
    return meta;
  }

 private:
  Status AddChunk(SeriesId id, ColumnsView columns) {
    TSDB_RETURN_IF_ERROR(CheckInput(id, columns));
    ChunkEntry entry;
    entry.id = id;
    entry.count = static_cast<std::uint32_t>(columns.times.size());
    std::uint64_t ordinal = directory_.time_columns();
    TSDB_RETURN_IF_ERROR(AddTimes(columns.times, &entry, &ordinal));
    TSDB_RETURN_IF_ERROR(AddValues(columns.values, &entry));
    directory_.Add(entry, ordinal, Describe(columns, entry), position_);

    footer_.chunks += 1;
    footer_.series += id != previous_.id ? 1 : 0;
    footer_.samples += columns.times.size();
    footer_.first_time = std::min(footer_.first_time, entry.first_time);
    footer_.last_time = std::max(footer_.last_time, entry.last_time);
    previous_ = entry;
    return buffer_.size() >= kBufferBytes ? WriteBuffer() : Status();
  }

  Status CheckInput(SeriesId id, ColumnsView columns) const {
    const auto refuse = [&](std::string_view what) {
      return Status::InvalidArgument(fmt::format("{}: series {}: {}", path_, id.value, what));
    };
    const std::size_t count = columns.times.size();
    if (count == 0 || count > kChunkSamplesMax || columns.values.size() != count) {
      return refuse(fmt::format("a chunk of {} times and {} values", count, columns.values.size()));
    }
    if (id.value == 0 || id < previous_.id ||
        (id == previous_.id && columns.times.front() <= previous_.last_time)) {
      return refuse("chunks must ascend by series and time and not overlap");
    }
    bool rises = columns.times.front() >= kTimestampMin;
    for (std::size_t i = 1; i < count; ++i) {
      rises &= columns.times[i - 1] < columns.times[i];
    }
    return rises ? Status() : refuse("the times of a chunk must rise");
  }

  Status AddTimes(std::span<const Timestamp> times, ChunkEntry* entry, std::uint64_t* ordinal) {
    const std::uint64_t hash = SharedTimes::Hash(times);
    if (const SharedTimes::Column* column = shared_times_.Find(hash, times)) {
      entry->first_time = column->entry.first_time;
      entry->last_time = column->entry.last_time;
      entry->time_offset = column->entry.time_offset;
      entry->time_bytes = column->entry.time_bytes;
      entry->time_checksum = column->entry.time_checksum;
      entry->time_encoding = column->entry.time_encoding;
      *ordinal = column->ordinal;
      return {};
    }
    entry->first_time = times.front();
    entry->last_time = times.back();
    entry->time_offset = position_;
    entry->time_encoding = kTimesInDirectory;
    const std::size_t begin = buffer_.size();
    if (!TimesAreEven(times)) {
      entry->time_encoding = static_cast<std::uint8_t>(EncodeTimes(times, options_.effort, &buffer_));
    }
    const std::string_view data = std::string_view(buffer_).substr(begin);
    const Status decoded = DecodeTimeColumn(*entry, data, times_scratch_.data());
    if (!decoded.ok() || std::memcmp(times_scratch_.data(), times.data(), times.size_bytes()) != 0) {
      return EncodedWrong(*entry, "times", decoded);
    }
    TSDB_RETURN_IF_ERROR(TakeColumn(data, *entry, &entry->time_bytes, &entry->time_checksum));
    shared_times_.Remember({hash, *ordinal, *entry, std::string(data)});
    return {};
  }

  Status AddValues(std::span<const double> values, ChunkEntry* entry) {
    entry->value_offset = position_;
    entry->value_encoding = kValuesInDirectory;
    const std::size_t begin = buffer_.size();
    if (ValuesAreConstant(values)) {
      entry->constant = values.front();
    } else {
      entry->value_encoding = static_cast<std::uint8_t>(EncodeValues(values, options_.effort, &buffer_));
    }
    const std::string_view data = std::string_view(buffer_).substr(begin);
    const Status decoded = DecodeValueColumn(*entry, data, values_scratch_.data());
    if (!decoded.ok() || std::memcmp(values_scratch_.data(), values.data(), values.size_bytes()) != 0) {
      return EncodedWrong(*entry, "values", decoded);
    }
    return TakeColumn(data, *entry, &entry->value_bytes, &entry->value_checksum);
  }

  /// What the row says beside the entry; valid until the next call.
  RowDetails Describe(ColumnsView columns, const ChunkEntry& entry) {
    RowDetails details;
    page_times_.clear();
    if (entry.time_encoding != kTimesInDirectory) {
      for (std::size_t i = kPageSamples; i < entry.count; i += kPageSamples) {
        page_times_.push_back(columns.times[i]);
      }
    }
    details.page_times = page_times_;
    if (entry.value_encoding != kValuesInDirectory) {
      statistics_.clear();
      EncodeStatistics(ComputeStatistics(columns.values), &statistics_);
      details.statistics = statistics_;
    }
    return details;
  }

  /// The column at the end of the buffer becomes part of the file. One without bytes stays at size and checksum 0.
  Status TakeColumn(std::string_view data, const ChunkEntry& entry, std::uint32_t* bytes, std::uint32_t* checksum) {
    if (data.size() > ColumnBytesMax(entry.count)) {
      return Status::Internal(fmt::format("{}: series {}: {} samples were encoded into {} bytes: please report", path_,
                                          entry.id.value, entry.count, data.size()));
    }
    if (!data.empty()) {
      *bytes = static_cast<std::uint32_t>(data.size());
      *checksum = Checksum32(data, PlaceSeed(options_.number, position_));
      position_ += data.size();
    }
    return {};
  }

  Status EncodedWrong(const ChunkEntry& entry, std::string_view column, const Status& decoded) const {
    return Status::Internal(fmt::format("{}: series {}: the encoded {} from {} on do not decode to the same bits{}{}: "
                                        "please report; the originals are kept",
                                        path_, entry.id.value, column, entry.first_time, decoded.ok() ? "" : ": ",
                                        decoded.message()));
  }

  Status WriteBuffer() {
    TSDB_RETURN_IF_ERROR(file_->Append(buffer_));
    buffer_.clear();
    return {};
  }

  Status WriteEnd() {
    const std::string directory = directory_.Finish(&footer_);
    footer_.file_bytes = position_ + directory.size() + kChunkFileFooterBytes;
    buffer_.append(directory);
    buffer_.append(EncodeChunkFileFooter(footer_, options_.number));
    TSDB_RETURN_IF_ERROR(WriteBuffer());
    TSDB_RETURN_IF_ERROR(TSDB_SYNC("chunk-file/bytes", file_->Sync()));
    return file_->Close();
  }

  const std::unique_ptr<WritableFile> file_;
  const std::string path_;
  const ChunkFileOptions options_;
  Status status_;
  std::string buffer_;           // the end of the file that was not written yet
  std::uint64_t position_ = 0;   // where the next column goes
  DirectoryEncoder directory_;
  SharedTimes shared_times_;
  ChunkFileFooter footer_;
  ChunkEntry previous_;
  std::vector<Timestamp> page_times_;
  std::string statistics_;
  std::array<Timestamp, kChunkSamplesMax> times_scratch_;
  std::array<double, kChunkSamplesMax> values_scratch_;
};

}  // namespace

Result<std::unique_ptr<ChunkFileWriter>> ChunkFileWriter::Create(FileSystem& fs, const std::string& path,
                                                                 const ChunkFileOptions& options) {
  if (options.first_commit > options.last_commit) {
    return Status::InvalidArgument(path + ": first commit lies after the last");
  }
  TSDB_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, fs.OpenWritable(path, OpenMode::kCreate));
  return std::unique_ptr<ChunkFileWriter>(std::make_unique<Writer>(std::move(file), path, options));
}

}  // namespace tsdb::chunk
