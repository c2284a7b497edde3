#include "chunk/column_codec.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "chunk/bit_stream.h"
#include "chunk/codec_kernels.h"
#include "column_shapes.h"

namespace tsdb::chunk {
namespace {

using shapes::Below;

/// Bytes at the very end of an allocation, so that a sanitizer sees a read behind them.
struct Exact {
  explicit Exact(std::string_view bytes) : size(bytes.size()), data(new char[bytes.size()]) {
    std::memcpy(data.get(), bytes.data(), size);
  }
  std::string_view view() const { return {data.get(), size}; }
  std::size_t size;
  std::unique_ptr<char[]> data;
};

struct EncodedValues {
  ValueEncoding encoding;
  std::string bytes;
};
constexpr Effort kEfforts[] = {Effort::kFast, Effort::kDense};

EncodedValues Encode(std::span<const double> values, Effort effort = Effort::kFast) {
  EncodedValues encoded{ValueEncoding::kBits, "x"};  // appends
  encoded.encoding = EncodeValues(values, effort, &encoded.bytes);
  EXPECT_EQ(encoded.bytes[0], 'x');
  encoded.bytes.erase(0, 1);
  return encoded;
}

::testing::AssertionResult RoundTripsWith(Effort effort, std::span<const double> values) {
  const EncodedValues encoded = Encode(values, effort);
  const Exact bytes(encoded.bytes);
  std::vector<double> out(values.size());
  const Status status =
      DecodeValues(static_cast<std::uint8_t>(encoded.encoding), bytes.view(), values.size(), out.data());
  if (!status.ok()) {
    return ::testing::AssertionFailure() << status.ToString();
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::bit_cast<std::uint64_t>(out[i]) != std::bit_cast<std::uint64_t>(values[i])) {
      return ::testing::AssertionFailure() << "value " << i << " of " << values.size() << " as "
                                           << ValueEncodingName(encoded.encoding) << ": " << std::hexfloat << out[i]
                                           << " instead of " << values[i];
    }
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult RoundTrips(std::span<const double> values) {
  for (const Effort effort : kEfforts) {
    if (auto result = RoundTripsWith(effort, values); !result) {
      return result;
    }
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult RoundTripsWith(Effort effort, std::span<const Timestamp> times) {
  std::string encoded;
  const TimeEncoding encoding = EncodeTimes(times, effort, &encoded);
  const Exact bytes(encoded);
  std::vector<Timestamp> out(times.size());
  const Status status = DecodeTimes(static_cast<std::uint8_t>(encoding), bytes.view(), times.size(), out.data());
  if (!status.ok()) {
    return ::testing::AssertionFailure() << status.ToString();
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (out[i] != times[i]) {
      return ::testing::AssertionFailure() << "time " << i << " of " << times.size() << " as "
                                           << TimeEncodingName(encoding) << ": " << out[i] << " instead of "
                                           << times[i];
    }
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult RoundTrips(std::span<const Timestamp> times) {
  for (const Effort effort : kEfforts) {
    if (auto result = RoundTripsWith(effort, times); !result) {
      return result;
    }
  }
  return ::testing::AssertionSuccess();
}

std::size_t RandomCount(shapes::Random& random) {
  switch (Below(random, 8)) {
    case 0:
      return 1 + Below(random, 4);
    case 1:
      return 255 + Below(random, 3);
    case 2:
      return 1024;
    default:
      return 1 + Below(random, 700);
  }
}

TEST(ValueColumn, ComesBackBitForBitForEveryShape) {
  const std::uint64_t seed = 1130;
  SCOPED_TRACE("seed " + std::to_string(seed));
  shapes::Random random(seed);
  for (int round = 0; round < 14'000; ++round) {
    const int shape = round % shapes::kValueShapes;
    const std::size_t count = RandomCount(random);
    ASSERT_TRUE(RoundTrips(shapes::Values(random, shape, count))) << "round " << round << " shape " << shape;
  }
}

TEST(ValueColumn, ComesBackForTheLongestChunk) {
  shapes::Random random(3);
  for (int shape = 0; shape < shapes::kValueShapes; ++shape) {
    ASSERT_TRUE(RoundTrips(shapes::Values(random, shape, 8192))) << "shape " << shape;
  }
  for (int shape = 0; shape < shapes::kTimeShapes; ++shape) {
    ASSERT_TRUE(RoundTrips(shapes::Times(random, shape, 8192))) << "times of shape " << shape;
  }
}

TEST(ValueColumn, AnyPagesOfItAreThatSliceOfTheWhole) {
  shapes::Random random(4);
  for (int shape = 0; shape < 2 * shapes::kValueShapes; ++shape) {
    for (const std::size_t count : {1000u, 1024u, 1025u, 5000u, 8192u}) {
      const std::vector<double> values = shapes::Values(random, shape / 2, count);
      const EncodedValues encoded = Encode(values, kEfforts[shape % 2]);
      const Exact bytes(encoded.bytes);
      const std::size_t pages = (count + kPageSamples - 1) / kPageSamples;
      for (std::size_t first = 0; first < pages; ++first) {
        const PageRange range = {first, 1 + Below(random, pages)};
        const std::size_t samples = SamplesInPages(count, range);
        ASSERT_EQ(samples, std::min(count, (first + range.count) * kPageSamples) - first * kPageSamples);
        std::vector<double> out(samples);
        const Status status = DecodeValuePages(static_cast<std::uint8_t>(encoded.encoding), bytes.view(), count, range,
                                               out.data());
        ASSERT_TRUE(status.ok()) << status.ToString();
        ASSERT_EQ(std::memcmp(out.data(), values.data() + first * kPageSamples, samples * sizeof(double)), 0)
            << "shape " << shape << " count " << count << " page " << first;
      }
    }
  }
}

TEST(ValueColumn, PagesBehindItsEndAreAnInvalidArgument) {
  const EncodedValues encoded = Encode(std::vector<double>(1024, 2.5));
  double value = 0;
  const auto number = static_cast<std::uint8_t>(encoded.encoding);
  EXPECT_EQ(DecodeValuePages(number, encoded.bytes, 1024, {1, 1}, &value).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(DecodeValuePages(number, encoded.bytes, 1024, {0, 0}, &value).code(), StatusCode::kInvalidArgument);
}

TEST(ValueColumn, ComesBackForEachAwkwardValueAloneAndAmongDecimals) {
  for (const double awkward : shapes::Awkward()) {
    ASSERT_TRUE(RoundTrips(std::vector<double>{awkward}));
    std::vector<double> values(300, 1.25);
    for (const std::size_t at : {0u, 1u, 150u, 255u, 256u, 299u}) {
      values[at] = awkward;
      ASSERT_TRUE(RoundTrips(values)) << awkward << " at " << at;
    }
  }
}

TEST(ValueColumn, DecimalsOfEveryNumberOfDigitsComeBack) {
  shapes::Random random(5);
  for (int digits = 1; digits <= 17; ++digits) {
    std::vector<double> values;
    for (int i = 0; i < 600; ++i) {
      const double scale = std::pow(10.0, digits);
      values.push_back(std::floor(static_cast<double>(random() >> 11) / 9007199254740992.0 * scale) / scale);
    }
    ASSERT_TRUE(RoundTrips(values)) << digits;
  }
}

TEST(ValueColumn, ChoosesTheEncodingByCost) {
  EXPECT_EQ(Encode(std::vector<double>(500, 0.1)).encoding, ValueEncoding::kConstant);
  shapes::Random random(6);
  EXPECT_EQ(Encode(shapes::Values(random, 8, 500)).encoding, ValueEncoding::kDecimalBlocks);
  EXPECT_EQ(Encode(shapes::Values(random, 1, 500)).encoding, ValueEncoding::kBits);
  EXPECT_EQ(Encode(shapes::Values(random, 1, 500), Effort::kDense).encoding, ValueEncoding::kBits);
  EXPECT_EQ(Encode(shapes::Values(random, 5, 500), Effort::kDense).encoding, ValueEncoding::kTokens);
}

TEST(ValueColumn, OfPagesThatHaveLittleInCommonKeepsThemApart) {
  shapes::Random random(7);
  std::vector<double> values;
  std::size_t alone = 0;
  for (const std::size_t count : {kPageSamples, kPageSamples, kPageSamples, std::size_t{500}}) {
    const std::size_t page = values.size() / kPageSamples;
    std::vector<double> part;
    for (std::size_t i = 0; i < count; ++i) {
      part.push_back(page == 0   ? 0.5
                     : page == 1 ? static_cast<double>(Below(random, 100'000)) / 1000
                     : page == 2 ? 4096 * static_cast<double>(Below(random, 9))
                                 : std::bit_cast<double>(random()));
    }
    alone += Encode(part, Effort::kDense).bytes.size();
    values.insert(values.end(), part.begin(), part.end());
  }
  const EncodedValues encoded = Encode(values, Effort::kDense);
  EXPECT_EQ(encoded.encoding, ValueEncoding::kApart);
  EXPECT_LE(encoded.bytes.size(), alone + 16);
  EXPECT_TRUE(RoundTrips(values));
  EXPECT_NE(Encode(values).encoding, ValueEncoding::kApart);  // not where speed counts
}

TEST(ValueColumn, IsSmallWhereTheDataIs) {
  std::vector<double> hundredths;
  std::vector<double> pages;
  std::vector<double> spikes(1024, 17.5);
  shapes::Random random(8);
  for (int i = 0; i < 1024; ++i) {
    hundredths.push_back(static_cast<double>(Below(random, 256)) / 100);
    pages.push_back(static_cast<double>(Below(random, 16)) * 4096);
  }
  spikes[500] = 1e9;
  EXPECT_LE(Encode(hundredths).bytes.size(), 1024u + 32);
  EXPECT_LE(Encode(pages).bytes.size(), 512u + 32);
  EXPECT_LE(Encode(spikes).bytes.size(), 32u);
}

TEST(ValueColumn, NearMissesAndStrayValuesDoNotSpoilTheRest) {
  std::vector<double> values;
  for (int i = 0; i < 1024; ++i) {
    values.push_back(static_cast<double>(i % 10) / 10);
  }
  values[100] = 6.0820000000000025;
  values[200] = std::numeric_limits<double>::quiet_NaN();
  values[300] = -0.0;
  const EncodedValues encoded = Encode(values);
  EXPECT_EQ(encoded.encoding, ValueEncoding::kDecimalBlocks);
  EXPECT_LE(encoded.bytes.size(), 600u);
  EXPECT_TRUE(RoundTrips(values));
}

TEST(TimeColumn, ComesBackForEveryShape) {
  const std::uint64_t seed = 77;
  SCOPED_TRACE("seed " + std::to_string(seed));
  shapes::Random random(seed);
  for (int round = 0; round < 9'000; ++round) {
    const int shape = round % shapes::kTimeShapes;
    const std::size_t count = RandomCount(random);
    ASSERT_TRUE(RoundTrips(shapes::Times(random, shape, count))) << "round " << round << " shape " << shape;
  }
}

TEST(TimeColumn, TheWidestGapsComeBack) {
  const std::int64_t low = std::numeric_limits<std::int64_t>::min();
  const std::int64_t high = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(RoundTrips(std::vector<Timestamp>{low}));
  EXPECT_TRUE(RoundTrips(std::vector<Timestamp>{low, high}));
  EXPECT_TRUE(RoundTrips(std::vector<Timestamp>{low, 0, high}));
  EXPECT_TRUE(RoundTrips(std::vector<Timestamp>{low, low + 1, -1, 0, 1, high - 1, high}));
}

TEST(TimeColumn, AGridTakesAFewBytes) {
  std::vector<Timestamp> times;
  for (int i = 0; i < 1000; ++i) {
    times.push_back(1'700'000'000'000 + 10'000 * i);
  }
  std::string bytes;
  EXPECT_EQ(EncodeTimes(times, Effort::kFast, &bytes), TimeEncoding::kConstantStep);
  EXPECT_LE(bytes.size(), 10u);
}

TEST(TimeColumn, JitterAroundAGridCostsItsOwnSizeOnly) {
  shapes::Random random(12);
  std::vector<Timestamp> times;
  for (int i = 0; i < 1024; ++i) {
    times.push_back(1'700'000'000'000 + 10'000 * i + static_cast<Timestamp>(Below(random, 16)));
  }
  std::string bytes;
  EXPECT_EQ(EncodeTimes(times, Effort::kFast, &bytes), TimeEncoding::kDeltaBlocks);
  EXPECT_LE(bytes.size(), 1024u / 2 + 40);
}

TEST(TimeColumn, TimesThatDoNotRiseAreCorruption) {
  std::string bytes;
  const std::vector<Timestamp> rising = {1, 2, 4, 8, 16, 32};
  const auto encoding = static_cast<std::uint8_t>(EncodeTimes(rising, Effort::kFast, &bytes));
  std::vector<Timestamp> out(rising.size());
  ASSERT_TRUE(DecodeTimes(encoding, bytes, rising.size(), out.data()).ok());
  // A constant step of 0, and one that runs over the end.
  EXPECT_EQ(DecodeTimes(1, std::string("\x02\x00", 2), 2, out.data()).code(), StatusCode::kCorruption);
  std::string far;
  PutVarintSigned(&far, std::numeric_limits<std::int64_t>::max() - 5);
  PutVarint(&far, 3);
  EXPECT_EQ(DecodeTimes(1, far, 3, out.data()).code(), StatusCode::kCorruption);
  EXPECT_TRUE(DecodeTimes(1, far, 2, out.data()).ok());
}

TEST(ColumnCodec, UnknownEncodingsAreNotSupported) {
  double value = 0;
  Timestamp time = 0;
  for (const int encoding : {0, 6, 7, 127, 255}) {
    EXPECT_EQ(DecodeValues(static_cast<std::uint8_t>(encoding), "12345678", 1, &value).code(),
              StatusCode::kNotSupported);
  }
  for (const int encoding : {0, 4, 255}) {
    EXPECT_EQ(DecodeTimes(static_cast<std::uint8_t>(encoding), "12", 1, &time).code(), StatusCode::kNotSupported);
  }
}

TEST(ColumnCodec, CutOrLongerBytesAreCorruption) {
  shapes::Random random(9);
  for (int shape = 0; shape < 2 * shapes::kValueShapes; ++shape) {
    const std::vector<double> values = shapes::Values(random, shape / 2, 300);
    EncodedValues encoded = Encode(values, kEfforts[shape % 2]);
    std::vector<double> out(values.size());
    const auto number = static_cast<std::uint8_t>(encoded.encoding);
    for (std::size_t size = 0; size < encoded.bytes.size(); ++size) {
      const Exact cut(std::string_view(encoded.bytes).substr(0, size));
      ASSERT_EQ(DecodeValues(number, cut.view(), values.size(), out.data()).code(), StatusCode::kCorruption)
          << "shape " << shape << " cut at " << size;
    }
    encoded.bytes.push_back('\0');
    ASSERT_EQ(DecodeValues(number, encoded.bytes, values.size(), out.data()).code(), StatusCode::kCorruption);
  }
  for (int shape = 0; shape < 2 * shapes::kTimeShapes; ++shape) {
    const std::vector<Timestamp> times = shapes::Times(random, shape / 2, 300);
    std::string bytes;
    const auto number = static_cast<std::uint8_t>(EncodeTimes(times, kEfforts[shape % 2], &bytes));
    std::vector<Timestamp> out(times.size());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const Exact cut(std::string_view(bytes).substr(0, size));
      ASSERT_EQ(DecodeTimes(number, cut.view(), times.size(), out.data()).code(), StatusCode::kCorruption)
          << "shape " << shape << " cut at " << size;
    }
  }
}

TEST(ColumnCodec, AnyChangedByteIsDecodedOrRefusedNeverWorse) {
  shapes::Random random(10);
  for (int shape = 0; shape < 2 * shapes::kValueShapes; ++shape) {
    const std::vector<double> values = shapes::Values(random, shape / 2, 280);
    const EncodedValues encoded = Encode(values, kEfforts[shape % 2]);
    std::vector<double> out(values.size());
    for (std::size_t at = 0; at < encoded.bytes.size(); ++at) {
      Exact damaged(encoded.bytes);
      for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
        damaged.data[at] = static_cast<char>(encoded.bytes[at] ^ flip);
        const Status status =
            DecodeValues(static_cast<std::uint8_t>(encoded.encoding), damaged.view(), values.size(), out.data());
        ASSERT_TRUE(status.ok() || status.code() == StatusCode::kCorruption) << status.ToString();
      }
    }
  }
  for (int shape = 0; shape < 2 * shapes::kTimeShapes; ++shape) {
    const std::vector<Timestamp> times = shapes::Times(random, shape / 2, 280);
    std::string bytes;
    const auto number = static_cast<std::uint8_t>(EncodeTimes(times, kEfforts[shape % 2], &bytes));
    std::vector<Timestamp> out(times.size());
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      Exact damaged(bytes);
      for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
        damaged.data[at] = static_cast<char>(bytes[at] ^ flip);
        if (DecodeTimes(number, damaged.view(), times.size(), out.data()).ok()) {
          ASSERT_TRUE(std::adjacent_find(out.begin(), out.end(), std::greater_equal<>()) == out.end());
        }
      }
    }
  }
}

TEST(ColumnCodec, RandomBytesAreDecodedOrRefused) {
  shapes::Random random(11);
  std::vector<double> values(600);
  std::vector<Timestamp> times(600);
  for (int round = 0; round < 30'000; ++round) {
    std::string bytes(Below(random, 200), '\0');
    for (char& c : bytes) {
      c = static_cast<char>(Below(random, 4) == 0 ? random() : Below(random, 8));
    }
    const Exact exact(bytes);
    const std::size_t count = Below(random, 600);
    (void)DecodeValues(static_cast<std::uint8_t>(1 + Below(random, 4)), exact.view(), count, values.data());
    (void)DecodeTimes(static_cast<std::uint8_t>(1 + Below(random, 3)), exact.view(), count, times.data());
  }
}

/// Everything below runs with the scalar kernels too and must give the same bits.
TEST(EncodeValues, GivesTheSameBytesWithScalarKernels) {
  const std::uint64_t seed = 16;
  SCOPED_TRACE("seed " + std::to_string(seed));
  shapes::Random random(seed);
  for (int round = 0; round < 2'000; ++round) {
    const std::vector<double> values = shapes::Values(random, round % shapes::kValueShapes, RandomCount(random));
    const Effort effort = kEfforts[round / 2 % 2];
    UseScalarKernels(false);
    const EncodedValues fast = Encode(values, effort);
    UseScalarKernels(true);
    const EncodedValues plain = Encode(values, effort);
    ASSERT_EQ(fast.encoding, plain.encoding);
    ASSERT_EQ(fast.bytes, plain.bytes);
    ASSERT_TRUE(RoundTrips(values)) << "round " << round;
  }
  UseScalarKernels(false);
}

}  // namespace
}  // namespace tsdb::chunk
