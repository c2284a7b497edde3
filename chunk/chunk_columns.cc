#include "chunk/chunk_columns.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "chunk/column_codec.h"

namespace tsdb::chunk {

namespace {

__extension__ using Uint128 = unsigned __int128;

std::uint64_t Distance(Timestamp from, Timestamp to) {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

/// Times of a column at even steps, from sample `begin` on.
void FillEven(const ChunkEntry& entry, std::size_t begin, std::size_t count, Timestamp* out) {
  const std::uint64_t step = entry.count > 1 ? Distance(entry.first_time, entry.last_time) / (entry.count - 1) : 0;
  const std::uint64_t start = static_cast<std::uint64_t>(entry.first_time) + begin * step;
  std::uint64_t time = start;
  for (std::size_t i = 0; i < count; ++i, time += step) {
    out[i] = static_cast<Timestamp>(time);
  }
}

}  // namespace

std::string_view TimesName(std::uint8_t encoding) {
  return encoding == kTimesInDirectory ? "even" : TimeEncodingName(static_cast<TimeEncoding>(encoding));
}

std::string_view ValuesName(std::uint8_t encoding) {
  return encoding == kValuesInDirectory ? "constant" : ValueEncodingName(static_cast<ValueEncoding>(encoding));
}

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

bool ValuesAreConstant(std::span<const double> values) {
  return std::memcmp(values.data(), values.data() + 1, (values.size() - 1) * sizeof(double)) == 0;
}

Timestamp LineTime(Timestamp first, Timestamp last, std::size_t count, std::size_t index) {
  if (count < 2) {
    return first;
  }
  const Uint128 along = static_cast<Uint128>(Distance(first, last)) * index / (count - 1);
  return static_cast<Timestamp>(static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(along));
}

Status DecodeTimeColumn(const ChunkEntry& entry, std::string_view data, Timestamp* out) {
  if (entry.time_encoding == kTimesInDirectory) {
    FillEven(entry, 0, entry.count, out);
    return {};
  }
  TSDB_RETURN_IF_ERROR(DecodeTimes(entry.time_encoding, data, entry.count, out));
  if (out[0] != entry.first_time || out[entry.count - 1] != entry.last_time) {
    return Status::Corruption("the times do not begin and end as the directory says");
  }
  return {};
}

Status DecodeValueColumn(const ChunkEntry& entry, std::string_view data, double* out) {
  if (entry.value_encoding == kValuesInDirectory) {
    std::fill_n(out, entry.count, entry.constant);
    return {};
  }
  return DecodeValues(entry.value_encoding, data, entry.count, out);
}

Status DecodeTimeColumn(const ChunkEntry& entry, std::string_view data, PageRange pages, Timestamp* out) {
  const std::size_t begin = pages.first * kPageSamples;
  const std::size_t count = SamplesInPages(entry.count, pages);
  if (entry.time_encoding == kTimesInDirectory) {
    FillEven(entry, begin, count, out);
    return {};
  }
  if (count == entry.count) {
    return DecodeTimeColumn(entry, data, out);
  }
  std::array<Timestamp, kChunkSamplesMax> all;
  TSDB_RETURN_IF_ERROR(DecodeTimeColumn(entry, data, all.data()));
  std::copy_n(all.data() + begin, count, out);
  return {};
}

Status DecodeValueColumn(const ChunkEntry& entry, std::string_view data, PageRange pages, double* out) {
  if (entry.value_encoding == kValuesInDirectory) {
    std::fill_n(out, SamplesInPages(entry.count, pages), entry.constant);
    return {};
  }
  if (SamplesInPages(entry.count, pages) == entry.count) {
    return DecodeValueColumn(entry, data, out);
  }
  return DecodeValuePages(entry.value_encoding, data, entry.count, pages, out);
}

}  // namespace tsdb::chunk
