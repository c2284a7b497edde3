#include "chunk/chunk_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/coding.h"
#include "chunk/column_codec.h"
#include "chunk/statistics_codec.h"

namespace tsdb::chunk {

namespace {

// A row's byte of encodings: two nibbles, times low, values high.
constexpr unsigned kNibbleShared = 0;        // times: those of an earlier chunk
constexpr unsigned kNibbleNoTimes = 14;      // times: kTimesInDirectory
constexpr unsigned kNibbleNoValues = 0;      // values: kValuesInDirectory
constexpr unsigned kNibbleByteFollows = 15;  // the encoding does not fit: it is in a byte of its own
constexpr unsigned kNibbleTimeMax = 13;
constexpr unsigned kNibbleValueMax = 14;

/// No row is shorter: id, encodings, column, statistics (2).
constexpr std::uint64_t kRowBytesMin = 5;

std::uint64_t Distance(Timestamp from, Timestamp to) {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}
Timestamp Advance(Timestamp from, std::uint64_t distance) {
  return static_cast<Timestamp>(static_cast<std::uint64_t>(from) + distance);
}

/// Reads rows one after another; what is wrong with one is left in `problem`.
class RowDecoder {
 public:
  RowDecoder(std::string_view data, const ChunkFileFooter& footer, std::vector<ChunkEntry>* entries)
      : reader_(data), footer_(footer), entries_(entries) {}

  const ByteReader& reader() const { return reader_; }
  const char* problem() const { return problem_; }
  std::uint64_t position() const { return position_; }
  std::uint64_t time_columns() const { return column_rows_.size(); }
  std::uint64_t series() const { return series_; }
  std::uint64_t samples() const { return samples_; }

  bool ReadRow() {
    ChunkEntry entry;
    if (!ReadRow(&entry)) {
      problem_ = problem_ == nullptr ? "the row ends too early or holds an impossible number" : problem_;
      return false;
    }
    samples_ += entry.statistics.count;
    previous_ = entry;
    entries_->push_back(entry);
    return true;
  }

 private:
  bool Fail(const char* problem) {
    problem_ = problem;
    return false;
  }

  bool ReadRow(ChunkEntry* entry) {
    std::uint64_t id_delta = 0;
    std::uint8_t encodings = 0;
    if (!reader_.ReadVarint(&id_delta) || !reader_.ReadFixed(&encodings)) {
      return false;
    }
    entry->id.value = previous_.id.value + id_delta;
    if (entry->id.value < previous_.id.value || entry->id.value == 0) {
      return Fail("the series id is out of range");
    }
    const bool same_series = id_delta == 0;
    series_ += same_series ? 0 : 1;
    const unsigned time_nibble = encodings & 15;
    if (time_nibble == kNibbleShared ? !ReadShared(entry) : !ReadTimes(time_nibble, same_series, entry)) {
      return false;
    }
    if (same_series && entry->first_time <= previous_.last_time) {
      return Fail("the chunk overlaps the one before it");
    }
    return ReadValues(encodings >> 4, entry) && ReadStatistics(entry);
  }

  bool ReadShared(ChunkEntry* entry) {
    std::uint64_t back = 0;
    if (!reader_.ReadVarint(&back) || back >= column_rows_.size()) {
      return Fail("the shared time column does not exist");
    }
    const ChunkEntry& owner = (*entries_)[column_rows_[column_rows_.size() - 1 - back]];
    entry->first_time = owner.first_time;
    entry->last_time = owner.last_time;
    entry->statistics.count = owner.statistics.count;
    entry->time_offset = owner.time_offset;
    entry->time_bytes = owner.time_bytes;
    entry->time_checksum = owner.time_checksum;
    entry->time_encoding = owner.time_encoding;
    return true;
  }

  bool ReadTimes(unsigned nibble, bool same_series, ChunkEntry* entry) {
    std::uint64_t first = 0;
    std::uint64_t span = 0;
    std::int64_t count_change = 0;
    if (!ReadEncoding(nibble, kNibbleNoTimes, &entry->time_encoding) || !reader_.ReadVarint(&first) ||
        !reader_.ReadVarint(&span) || !reader_.ReadVarintSigned(&count_change)) {
      return false;
    }
    entry->first_time = same_series ? Advance(previous_.last_time, first)
                                    : Advance(previous_.first_time, static_cast<std::uint64_t>(UnZigZag(first)));
    entry->last_time = Advance(entry->first_time, span);
    if (entry->first_time < kTimestampMin || entry->last_time < entry->first_time) {
      return Fail("the times are out of range");
    }
    const std::uint64_t count = previous_.statistics.count + static_cast<std::uint64_t>(count_change);
    if (count == 0 || count > kChunkSamplesMax || span < count - 1 || (count == 1 && span != 0)) {
      return Fail("the count of samples is out of range");
    }
    entry->statistics.count = static_cast<std::uint32_t>(count);
    if (entry->time_encoding == kTimesInDirectory && count > 1 && span % (count - 1) != 0) {
      return Fail("the times are not evenly spaced");
    }
    column_rows_.push_back(entries_->size());
    entry->time_offset = position_;
    return entry->time_encoding == kTimesInDirectory ||
           ReadColumn(entry->statistics.count, &entry->time_bytes, &entry->time_checksum);
  }

  bool ReadValues(unsigned nibble, ChunkEntry* entry) {
    if (!ReadEncoding(nibble, kNibbleNoValues, &entry->value_encoding)) {
      return false;
    }
    entry->value_offset = position_;
    return entry->value_encoding == kValuesInDirectory ||
           ReadColumn(entry->statistics.count, &entry->value_bytes, &entry->value_checksum);
  }

  /// `none` is the nibble of a column without bytes, whose encoding is 0.
  bool ReadEncoding(unsigned nibble, unsigned none, std::uint8_t* encoding) {
    if (nibble == none) {
      *encoding = 0;
      return true;
    }
    if (nibble == kNibbleByteFollows) {
      return reader_.ReadFixed(encoding) && (*encoding != 0 || Fail("the encoding is out of range"));
    }
    *encoding = static_cast<std::uint8_t>(nibble);
    return true;
  }

  bool ReadColumn(std::uint32_t count, std::uint32_t* bytes, std::uint32_t* checksum) {
    std::uint64_t n = 0;
    if (!reader_.ReadVarint(&n) || !reader_.ReadFixed(checksum)) {
      return false;
    }
    if (n == 0 || n > ColumnBytesMax(count) || n > footer_.directory_offset - position_) {
      return Fail("the column reaches beyond its bounds");
    }
    *bytes = static_cast<std::uint32_t>(n);
    position_ += n;
    return true;
  }

  bool ReadStatistics(ChunkEntry* entry) {
    ChunkStatistics& s = entry->statistics;
    if (!DecodeStatistics(&reader_, &s)) {
      return false;
    }
    if (s.nan_count > s.count || (entry->value_encoding == kValuesInDirectory && !ValuesAreConstant(s))) {
      return Fail("the statistics contradict the row");
    }
    return true;
  }

  ByteReader reader_;
  const ChunkFileFooter& footer_;
  std::vector<ChunkEntry>* entries_;
  std::vector<std::size_t> column_rows_;  // by ordinal of a time column: the row that brought it
  ChunkEntry previous_;
  std::uint64_t position_ = kChunkFileHeaderBytes;
  std::uint64_t series_ = 0;
  std::uint64_t samples_ = 0;
  const char* problem_ = nullptr;
};

}  // namespace

bool TimesAreEven(std::span<const Timestamp> times) {
  if (times.size() < 3) {
    return true;
  }
  const std::uint64_t step = Distance(times[0], times[1]);
  std::uint64_t differences = 0;
  for (std::size_t i = 2; i < times.size(); ++i) {
    differences |= Distance(times[i - 1], times[i]) ^ step;
  }
  return differences == 0;
}

bool ValuesAreConstant(const ChunkStatistics& s) {
  const auto bits = std::bit_cast<std::uint64_t>(s.first);
  return s.nan_count == 0 && s.first == s.first && bits == std::bit_cast<std::uint64_t>(s.last) &&
         bits == std::bit_cast<std::uint64_t>(s.min) && bits == std::bit_cast<std::uint64_t>(s.max);
}

Status DecodeTimeColumn(const ChunkEntry& entry, std::string_view data, Timestamp* out) {
  const std::size_t count = entry.statistics.count;
  if (entry.time_encoding != kTimesInDirectory) {
    TSDB_RETURN_IF_ERROR(DecodeTimes(entry.time_encoding, data, count, out));
    if (out[0] != entry.first_time || out[count - 1] != entry.last_time) {
      return Status::Corruption("the times do not begin and end as the directory says");
    }
    return {};
  }
  const std::uint64_t step = count > 1 ? Distance(entry.first_time, entry.last_time) / (count - 1) : 0;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = Advance(entry.first_time, i * step);
  }
  return {};
}

Status DecodeValueColumn(const ChunkEntry& entry, std::string_view data, double* out) {
  const std::size_t count = entry.statistics.count;
  if (entry.value_encoding != kValuesInDirectory) {
    return DecodeValues(entry.value_encoding, data, count, out);
  }
  std::fill(out, out + count, entry.statistics.first);
  return {};
}

void DirectoryEncoder::Add(const ChunkEntry& entry, std::optional<std::uint64_t> shared_column) {
  unsigned times = kNibbleShared;
  if (!shared_column) {
    times = entry.time_encoding == kTimesInDirectory ? kNibbleNoTimes
            : entry.time_encoding <= kNibbleTimeMax  ? entry.time_encoding
                                                     : kNibbleByteFollows;
  }
  const unsigned values = entry.value_encoding == kValuesInDirectory ? kNibbleNoValues
                          : entry.value_encoding <= kNibbleValueMax  ? entry.value_encoding
                                                                     : kNibbleByteFollows;
  const bool same_series = entry.id == previous_.id;
  PutVarint(&bytes_, entry.id.value - previous_.id.value);
  bytes_.push_back(static_cast<char>(times | values << 4));
  if (shared_column) {
    PutVarint(&bytes_, time_columns_ - 1 - *shared_column);
  } else {
    if (times == kNibbleByteFollows) {
      bytes_.push_back(static_cast<char>(entry.time_encoding));
    }
    if (same_series) {
      PutVarint(&bytes_, Distance(previous_.last_time, entry.first_time));
    } else {
      PutVarintSigned(&bytes_, static_cast<std::int64_t>(Distance(previous_.first_time, entry.first_time)));
    }
    PutVarint(&bytes_, Distance(entry.first_time, entry.last_time));
    PutVarintSigned(&bytes_, static_cast<std::int64_t>(entry.statistics.count) -
                                 static_cast<std::int64_t>(previous_.statistics.count));
    if (entry.time_encoding != kTimesInDirectory) {
      PutVarint(&bytes_, entry.time_bytes);
      PutFixed32(&bytes_, entry.time_checksum);
    }
    ++time_columns_;
  }
  if (values == kNibbleByteFollows) {
    bytes_.push_back(static_cast<char>(entry.value_encoding));
  }
  if (entry.value_encoding != kValuesInDirectory) {
    PutVarint(&bytes_, entry.value_bytes);
    PutFixed32(&bytes_, entry.value_checksum);
  }
  EncodeStatistics(entry.statistics, &bytes_);
  previous_ = entry;
}

Status DecodeDirectory(std::string_view data, const ChunkFileFooter& footer, std::vector<ChunkEntry>* entries) {
  entries->clear();
  const auto corruption = [&](std::uint64_t offset, std::string_view what) {
    return Status::Corruption(fmt::format("@{}: directory: {}", footer.directory_offset + offset, what));
  };
  if (footer.chunks == 0 || footer.chunks > data.size() / kRowBytesMin) {
    return corruption(0, fmt::format("{} chunks do not fit {} bytes", footer.chunks, data.size()));
  }
  entries->reserve(static_cast<std::size_t>(footer.chunks));
  RowDecoder decoder(data, footer, entries);
  for (std::uint64_t row = 0; row < footer.chunks; ++row) {
    if (!decoder.ReadRow()) {
      return corruption(decoder.reader().offset(), fmt::format("row {}: {}", row, decoder.problem()));
    }
  }
  if (!decoder.reader().empty()) {
    return corruption(decoder.reader().offset(), "bytes after the last row");
  }
  if (decoder.position() != footer.directory_offset) {
    return corruption(0, fmt::format("the columns end at {}", decoder.position()));
  }
  Timestamp first_time = kTimestampMax;
  Timestamp last_time = kTimestampMin;
  for (const ChunkEntry& entry : *entries) {
    first_time = std::min(first_time, entry.first_time);
    last_time = std::max(last_time, entry.last_time);
  }
  if (decoder.series() != footer.series || decoder.samples() != footer.samples ||
      decoder.time_columns() != footer.time_columns || first_time != footer.first_time ||
      last_time != footer.last_time) {
    return corruption(0, "counts or times differ from the footer's");
  }
  return {};
}

}  // namespace tsdb::chunk
