#include "chunk/column_codec.h"

#include <bit>

#include "base/coding.h"

namespace tsdb::chunk {

std::string_view TimeEncodingName(TimeEncoding encoding) {
  switch (encoding) {
    case TimeEncoding::kConstantStep:
      return "constant step";
    case TimeEncoding::kDeltaBlocks:
      return "delta blocks";
  }
  return "unknown";
}

std::string_view ValueEncodingName(ValueEncoding encoding) {
  switch (encoding) {
    case ValueEncoding::kConstant:
      return "constant";
    case ValueEncoding::kDecimalBlocks:
      return "decimal blocks";
    case ValueEncoding::kBits:
      return "bits";
  }
  return "unknown";
}

TimeEncoding EncodeTimes(std::span<const Timestamp> times, std::string* out) {
  std::uint64_t previous = 0;
  for (const Timestamp time : times) {
    PutVarint(out, static_cast<std::uint64_t>(time) - previous);
    previous = static_cast<std::uint64_t>(time);
  }
  return TimeEncoding::kDeltaBlocks;
}

ValueEncoding EncodeValues(std::span<const double> values, std::string* out) {
  for (const double value : values) {
    PutFixed64(out, std::bit_cast<std::uint64_t>(value));
  }
  return ValueEncoding::kBits;
}

Status DecodeTimes(std::uint8_t encoding, std::string_view data, std::size_t count, Timestamp* out) {
  if (encoding != static_cast<std::uint8_t>(TimeEncoding::kDeltaBlocks)) {
    return Status::NotSupported("time encoding " + std::to_string(encoding));
  }
  ByteReader reader(data);
  std::uint64_t time = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t delta = 0;
    if (!reader.ReadVarint(&delta)) {
      return Status::Corruption("time column ends early");
    }
    time += delta;
    out[i] = static_cast<Timestamp>(time);
    if (i > 0 && out[i] <= out[i - 1]) {
      return Status::Corruption("times do not rise");
    }
  }
  return reader.empty() ? Status::Ok() : Status::Corruption("bytes after the time column");
}

Status DecodeValues(std::uint8_t encoding, std::string_view data, std::size_t count, double* out) {
  if (encoding != static_cast<std::uint8_t>(ValueEncoding::kBits)) {
    return Status::NotSupported("value encoding " + std::to_string(encoding));
  }
  if (data.size() != count * sizeof(double)) {
    return Status::Corruption("value column has the wrong size");
  }
  std::memcpy(out, data.data(), data.size());
  return Status::Ok();
}

}  // namespace tsdb::chunk
