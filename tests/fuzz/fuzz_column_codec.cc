// The column codecs over any bytes. As an encoded column: the first byte names the encoding, two the count, the rest is
// the column; it is decoded or refused, and both kernels agree. As a column of values and of times: what is encoded
// comes back bit for bit.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/coding.h"
#include "chunk/codec_kernels.h"
#include "chunk/column_codec.h"

namespace {

using namespace tsdb;
using namespace tsdb::chunk;

constexpr std::size_t kCountMax = 8192;

void Require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// Decodes with one of the kernels from a copy that ends where the column ends.
bool Decode(std::uint8_t encoding, std::string_view column, bool scalar, std::vector<double>* values) {
  const std::unique_ptr<char[]> exact(new char[column.size()]);
  std::memcpy(exact.get(), column.data(), column.size());
  UseScalarKernels(scalar);
  const bool ok = DecodeValues(encoding, {exact.get(), column.size()}, values->size(), values->data()).ok();
  UseScalarKernels(false);
  return ok;
}

void CheckColumn(std::uint8_t encoding, std::size_t count, std::string_view column) {
  std::vector<double> fast(count);
  std::vector<double> plain(count);
  const bool ok = Decode(encoding, column, false, &fast);
  Require(Decode(encoding, column, true, &plain) == ok);
  Require(!ok || count == 0 || std::memcmp(fast.data(), plain.data(), count * sizeof(double)) == 0);
  for (std::size_t page = 0; page * kPageSamples < count; ++page) {
    // What the whole gives, a page alone gives too; a page may also come out of a column that is damaged elsewhere.
    const std::size_t samples = SamplesInPages(count, {page, 1});
    const bool page_ok = DecodeValuePages(encoding, column, count, {page, 1}, plain.data()).ok();
    Require(page_ok || !ok);
    Require(!ok || std::memcmp(plain.data(), fast.data() + page * kPageSamples, samples * sizeof(double)) == 0);
  }
  std::vector<Timestamp> times(count);
  if (DecodeTimes(encoding, column, count, times.data()).ok()) {
    Require(std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) == times.end());
  }
}

void CheckRoundTrip(std::string_view data) {
  const std::size_t count = std::min(data.size() / sizeof(double), kCountMax);
  if (count == 0) {
    return;
  }
  std::vector<double> values(count);
  std::memcpy(values.data(), data.data(), count * sizeof(double));
  std::vector<Timestamp> times(count);
  std::memcpy(times.data(), data.data(), count * sizeof(Timestamp));
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  for (const Effort effort : {Effort::kFast, Effort::kDense}) {
    std::string bytes;
    const ValueEncoding encoding = EncodeValues(values, effort, &bytes);
    std::vector<double> out(count);
    Require(DecodeValues(static_cast<std::uint8_t>(encoding), bytes, count, out.data()).ok());
    Require(std::memcmp(values.data(), out.data(), count * sizeof(double)) == 0);
    bytes.clear();
    const TimeEncoding time_encoding = EncodeTimes(times, effort, &bytes);
    std::vector<Timestamp> out_times(times.size());
    Require(DecodeTimes(static_cast<std::uint8_t>(time_encoding), bytes, times.size(), out_times.data()).ok());
    Require(times == out_times);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (size >= 3) {
    CheckColumn(data[0], LoadFixed<std::uint16_t>(input.data() + 1) % (kCountMax + 1), input.substr(3));
  }
  CheckRoundTrip(input);
  return 0;
}
