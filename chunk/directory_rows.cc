#include "chunk/directory_rows.h"

#include <algorithm>

#include "chunk/chunk_columns.h"
#include "chunk/chunk_file_format.h"
#include "chunk/decimal.h"

namespace tsdb::chunk {

namespace {

// A row's byte of encodings: two nibbles, times low, values high.
constexpr unsigned kNibbleDescribed = 0;     // times: those of an earlier row of the block
constexpr unsigned kNibbleNoTimes = 14;      // times: kTimesInDirectory
constexpr unsigned kNibbleNoValues = 0;      // values: kValuesInDirectory
constexpr unsigned kNibbleByteFollows = 15;  // the encoding does not fit: it is in a byte of its own
constexpr unsigned kNibbleTimeMax = 13;
constexpr unsigned kNibbleValueMax = 14;

/// In place of a constant's exponent: 8 raw bytes follow.
constexpr std::uint8_t kRawConstant = 31;

std::uint64_t Distance(Timestamp from, Timestamp to) {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}
Timestamp Advance(Timestamp from, std::uint64_t distance) {
  return static_cast<Timestamp>(static_cast<std::uint64_t>(from) + distance);
}

bool NeedsPageTimes(const ChunkEntry& entry) {
  return entry.time_encoding != kTimesInDirectory && entry.count > kPageSamples;
}

void PutConstant(std::string* out, double value) {
  const int exponent = ExactExponent(value);
  if (exponent < 0) {
    out->push_back(static_cast<char>(kRawConstant));
    PutFixed64(out, std::bit_cast<std::uint64_t>(value));
    return;
  }
  out->push_back(static_cast<char>(exponent));
  PutVarintSigned(out, MatchDecimal(value, exponent).decimal);
}

bool ReadConstant(ByteReader* reader, double* value) {
  std::uint8_t exponent = 0;
  if (!reader->ReadFixed(&exponent)) {
    return false;
  }
  if (exponent == kRawConstant) {
    return reader->ReadFixed(value);
  }
  std::int64_t decimal = 0;
  if (exponent > kDecimalExponentMax || !reader->ReadVarintSigned(&decimal) || decimal > kDecimalMax ||
      decimal < -kDecimalMax) {
    return false;
  }
  *value = FromDecimal(decimal, exponent);
  return true;
}

}  // namespace

void DirectoryRowWriter::Start(std::uint64_t columns_begin) {
  bytes_.clear();
  rows_ = 0;
  previous_ = {};
  position_ = columns_begin;
  described_.clear();
}

void DirectoryRowWriter::AddTimes(const ChunkEntry& entry, bool same_series, std::uint64_t ordinal,
                                  const RowDetails& details) {
  if (const auto it = described_.find(ordinal); it != described_.end()) {
    PutVarint(&bytes_, described_.size() - 1 - it->second);
    return;
  }
  described_.emplace(ordinal, described_.size());
  if (entry.time_encoding > kNibbleTimeMax) {
    bytes_.push_back(static_cast<char>(entry.time_encoding));
  }
  if (same_series) {
    PutVarint(&bytes_, Distance(previous_.last_time, entry.first_time));
  } else {
    PutVarintSigned(&bytes_, static_cast<std::int64_t>(Distance(previous_.first_time, entry.first_time)));
  }
  PutVarint(&bytes_, Distance(entry.first_time, entry.last_time));
  PutVarintSigned(&bytes_, static_cast<std::int64_t>(entry.count) - static_cast<std::int64_t>(previous_.count));
  if (entry.time_encoding == kTimesInDirectory) {
    return;
  }
  PutVarint(&bytes_, position_ - entry.time_offset);
  PutVarint(&bytes_, entry.time_bytes);
  PutFixed32(&bytes_, entry.time_checksum);
  if (NeedsPageTimes(entry)) {
    for (std::size_t page = 1; page < PageCount(entry.count); ++page) {
      const Timestamp line = LineTime(entry.first_time, entry.last_time, entry.count, page * kPageSamples);
      PutVarintSigned(&bytes_, static_cast<std::int64_t>(Distance(line, details.page_times[page - 1])));
    }
  }
  if (entry.time_offset == position_) {
    position_ += entry.time_bytes;
  }
}

void DirectoryRowWriter::Add(const ChunkEntry& entry, std::uint64_t ordinal, const RowDetails& details) {
  unsigned times = kNibbleDescribed;
  if (!described_.contains(ordinal)) {
    times = entry.time_encoding == kTimesInDirectory ? kNibbleNoTimes
            : entry.time_encoding <= kNibbleTimeMax  ? entry.time_encoding
                                                     : kNibbleByteFollows;
  }
  const unsigned values = entry.value_encoding <= kNibbleValueMax ? entry.value_encoding : kNibbleByteFollows;
  PutVarint(&bytes_, entry.id.value - previous_.id.value);
  bytes_.push_back(static_cast<char>(times | values << 4));
  AddTimes(entry, entry.id == previous_.id, ordinal, details);
  if (entry.value_encoding == kValuesInDirectory) {
    PutConstant(&bytes_, entry.constant);
  } else {
    if (values == kNibbleByteFollows) {
      bytes_.push_back(static_cast<char>(entry.value_encoding));
    }
    PutVarint(&bytes_, entry.value_bytes);
    PutFixed32(&bytes_, entry.value_checksum);
    PutLengthPrefixed(&bytes_, details.statistics);
    position_ += entry.value_bytes;
  }
  previous_ = entry;
  ++rows_;
}

DirectoryRowReader::DirectoryRowReader(std::string_view data, const DirectoryBlock& block)
    : reader_(data), block_(block), position_(block.columns_begin) {}

bool DirectoryRowReader::Next(ChunkEntry* entry, RowDetails* details) {
  if (rows_ == block_.rows) {
    return CheckEnd() && false;
  }
  *entry = ChunkEntry();
  if (!ReadRow(entry, details)) {
    problem_ = problem_ == nullptr ? "the row ends too early or holds an impossible number" : problem_;
    return false;
  }
  previous_ = *entry;
  ++rows_;
  return true;
}

bool DirectoryRowReader::CheckEnd() {
  if (!reader_.empty()) {
    return Fail("bytes after the last row");
  }
  if (previous_.id != block_.last_id) {
    return Fail("the block does not end as the index says");
  }
  return position_ == block_.columns_end || Fail("the columns do not end where those of the next block begin");
}

bool DirectoryRowReader::ReadRow(ChunkEntry* entry, RowDetails* details) {
  std::uint64_t id_step = 0;
  std::uint8_t encodings = 0;
  if (!reader_.ReadVarint(&id_step) || !reader_.ReadFixed(&encodings)) {
    return false;
  }
  const bool same_series = id_step == 0;
  const std::uint64_t id = previous_.id.value + id_step;
  if (id < previous_.id.value || id == 0) {
    return Fail("the series id is out of range");
  }
  const unsigned nibble = encodings & 15;
  std::uint64_t back = 0;
  if (nibble != kNibbleDescribed) {
    TimeColumn column;
    if (!ReadTimes(nibble, same_series, &column)) {
      return false;
    }
    time_columns_.push_back(column);
  } else if (!reader_.ReadVarint(&back) || back >= time_columns_.size()) {
    return Fail("the time column it names is not in the block");
  }
  const TimeColumn& column = time_columns_[time_columns_.size() - 1 - back];
  *entry = column.entry;
  entry->id.value = id;
  if (same_series && entry->first_time <= previous_.last_time) {
    return Fail("the chunk overlaps the one before it");
  }
  if (rows_ == 0 && (entry->id != block_.first_id || entry->first_time != block_.first_time)) {
    return Fail("the block does not begin as the index says");
  }
  details->page_times = std::span<const Timestamp>(page_times_).subspan(column.page_times_at, column.page_times);
  details->statistics = {};
  return ReadValues(encodings >> 4, entry) &&
         (entry->value_encoding == kValuesInDirectory || reader_.ReadLengthPrefixed(&details->statistics));
}

bool DirectoryRowReader::ReadTimes(unsigned nibble, bool same_series, TimeColumn* column) {
  return ReadEncoding(nibble, kNibbleNoTimes, &column->entry.time_encoding) &&
         ReadTimeRange(same_series, &column->entry) &&
         (column->entry.time_encoding == kTimesInDirectory || ReadTimePlace(column));
}

bool DirectoryRowReader::ReadTimeRange(bool same_series, ChunkEntry* entry) {
  std::uint64_t first = 0;
  std::uint64_t span = 0;
  std::int64_t count_change = 0;
  if (!reader_.ReadVarint(&first) || !reader_.ReadVarint(&span) || !reader_.ReadVarintSigned(&count_change)) {
    return false;
  }
  entry->first_time = same_series ? Advance(previous_.last_time, first)
                                  : Advance(previous_.first_time, static_cast<std::uint64_t>(UnZigZag(first)));
  entry->last_time = Advance(entry->first_time, span);
  if (entry->first_time < kTimestampMin || entry->last_time < entry->first_time) {
    return Fail("the times are out of range");
  }
  const std::uint64_t count = previous_.count + static_cast<std::uint64_t>(count_change);
  if (count == 0 || count > kChunkSamplesMax || span < count - 1 || (count == 1 && span != 0)) {
    return Fail("the count of samples is out of range");
  }
  entry->count = static_cast<std::uint32_t>(count);
  return entry->time_encoding != kTimesInDirectory || count == 1 || span % (count - 1) == 0 ||
         Fail("the times are not evenly spaced");
}

bool DirectoryRowReader::ReadTimePlace(TimeColumn* column) {
  ChunkEntry& entry = column->entry;
  std::uint64_t back = 0;
  if (!reader_.ReadVarint(&back) || !ReadLength(entry.count, &entry.time_bytes, &entry.time_checksum)) {
    return false;
  }
  if (back != 0) {
    // An earlier column of the file.
    if (back > position_ - kChunkFileHeaderBytes || entry.time_bytes > back) {
      return Fail("the time column lies outside the columns before it");
    }
    entry.time_offset = position_ - back;
  } else if (!TakePlace(entry.time_bytes, &entry.time_offset)) {
    return false;
  }
  return !NeedsPageTimes(entry) || ReadPageTimes(column);
}

bool DirectoryRowReader::ReadPageTimes(TimeColumn* column) {
  const ChunkEntry& entry = column->entry;
  column->page_times_at = page_times_.size();
  column->page_times = PageCount(entry.count) - 1;
  Timestamp before = entry.first_time;
  for (std::size_t page = 1; page <= column->page_times; ++page) {
    std::int64_t residual = 0;
    if (!reader_.ReadVarintSigned(&residual)) {
      return false;
    }
    const std::size_t index = page * kPageSamples;
    const Timestamp time = Advance(LineTime(entry.first_time, entry.last_time, entry.count, index),
                                   static_cast<std::uint64_t>(residual));
    if (time <= before || time > entry.last_time || Distance(before, time) < kPageSamples ||
        Distance(time, entry.last_time) < entry.count - 1 - index) {
      return Fail("the first times of the pages are out of range");
    }
    page_times_.push_back(before = time);
  }
  return true;
}

bool DirectoryRowReader::ReadValues(unsigned nibble, ChunkEntry* entry) {
  if (!ReadEncoding(nibble, kNibbleNoValues, &entry->value_encoding)) {
    return false;
  }
  if (entry->value_encoding == kValuesInDirectory) {
    entry->value_offset = position_;
    return ReadConstant(&reader_, &entry->constant);
  }
  return ReadLength(entry->count, &entry->value_bytes, &entry->value_checksum) &&
         TakePlace(entry->value_bytes, &entry->value_offset);
}

/// `none` is the nibble of a column without bytes, whose encoding is 0.
bool DirectoryRowReader::ReadEncoding(unsigned nibble, unsigned none, std::uint8_t* encoding) {
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

bool DirectoryRowReader::ReadLength(std::uint32_t count, std::uint32_t* bytes, std::uint32_t* checksum) {
  std::uint64_t n = 0;
  if (!reader_.ReadVarint(&n) || !reader_.ReadFixed(checksum)) {
    return false;
  }
  *bytes = static_cast<std::uint32_t>(n);
  return (n != 0 && n <= ColumnBytesMax(count)) || Fail("the column's length is out of range");
}

bool DirectoryRowReader::TakePlace(std::uint32_t bytes, std::uint64_t* offset) {
  if (bytes > block_.columns_end - position_) {
    return Fail("the column reaches into those of the next block");
  }
  *offset = position_;
  position_ += bytes;
  return true;
}

}  // namespace tsdb::chunk
