// The head chunk over any bytes. As a snapshot: the first two bytes are the count, the rest are the bits; they are
// decoded or refused, and times rise. As samples: pairs of a step and a value are appended and come back bit for bit.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/coding.h"
#include "chunk/head_chunk.h"

namespace {

using namespace tsdb;
using namespace tsdb::chunk;

void Require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void CheckSnapshot(std::string_view input) {
  const HeadChunk::Snapshot snapshot = {LoadFixed<std::uint16_t>(input.data()), std::string(input.substr(2))};
  std::vector<Timestamp> times;
  std::vector<double> values;
  const Status status = DecodeHeadChunk(snapshot, &times, &values);
  Require(status.ok() || status.code() == StatusCode::kCorruption);
  Require(times.size() == values.size() && (!status.ok() || times.size() == snapshot.count));
  Require(std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) == times.end());
}

/// Each sample: one byte, how wide its step is; up to 8 bytes of step; 8 bytes of value.
void CheckSamples(std::string_view input) {
  ByteReader reader(input);
  HeadChunk head;
  std::vector<Timestamp> times;
  std::vector<double> values;
  std::uint8_t width = 0;
  std::uint64_t step = 0;
  double value = 0;
  std::uint64_t time = std::uint64_t{1} << 63;  // the smallest
  while (reader.ReadFixed(&width)) {
    if (width % 4 != 0 && !reader.ReadFixed(&step)) {  // else the step as before
      break;
    }
    if (width % 8 != 1 && !reader.ReadFixed(&value)) {  // else the value as before
      break;
    }
    const std::uint64_t next = time + 1 + (step >> (width % 64));
    if (static_cast<Timestamp>(next) <= static_cast<Timestamp>(time)) {
      break;
    }
    time = next;
    head.Append(static_cast<Timestamp>(time), value);
    times.push_back(static_cast<Timestamp>(time));
    values.push_back(value);
  }
  std::vector<Timestamp> out_times;
  std::vector<double> out_values;
  Require(DecodeHeadChunk(head.TakeSnapshot(), &out_times, &out_values).ok());
  Require(out_times == times && out_values.size() == values.size());
  Require(values.empty() || std::memcmp(out_values.data(), values.data(), values.size() * sizeof(double)) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (size >= 2) {
    CheckSnapshot(input);
  }
  CheckSamples(input);
  return 0;
}
