// Statistics against a plain computation from the values, and through their bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "chunk/chunk_rows.h"
#include "chunk/statistics_codec.h"
#include "chunk/value_scan.h"

namespace tsdb::chunk {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kMax = std::numeric_limits<double>::max();

bool SameBits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

/// Values of many shapes, NaNs and infinities among them.
std::vector<double> RandomValues(std::mt19937_64& random, std::size_t count) {
  std::vector<double> values;
  const auto shape = random() % 10;
  const bool with_nans = random() % 3 == 0;
  double walk = static_cast<double>(random() % 100);
  for (std::size_t i = 0; i < count; ++i) {
    const auto r = static_cast<double>(random() % 2'001) - 1'000;
    double value = 0;
    switch (shape) {
      case 0:
        value = walk = std::clamp(walk + std::round(r / 500), 0.0, 100.0);
        break;
      case 1:
        value = r / 100;
        break;
      case 2:
        value = walk += r * 1e-7;
        break;
      case 3:
        value = std::bit_cast<double>(random());
        break;
      case 4:
        value = kMax * (random() % 3 == 0 ? -1 : 1);
        break;
      case 5:
        value = walk = i % 300 == 299 ? 0 : walk + static_cast<double>(random() % 50);  // a counter with resets
        break;
      case 6:
        value = random() % 2 == 0 ? 0.0 : -0.0;
        break;
      case 7:
        value = std::bit_cast<double>(random() % 5) * (random() % 2 == 0 ? 1 : -1);
        break;
      case 8:
        value = walk += static_cast<double>(random() % 1000) / 8;
        break;
      default:
        value = random() % 50 == 0 ? kInf : r;
        break;
    }
    values.push_back(with_nans && random() % 20 == 0 ? kNaN : value);
  }
  return values;
}

/// One value after the other, as the definitions say.
ValueStatistics Plain(const std::vector<double>& values, std::size_t begin, std::size_t end, bool resets_known) {
  ValueStatistics s;
  double before = kNaN;
  for (std::size_t i = 0; i < begin; ++i) {
    before = values[i] == values[i] ? values[i] : before;
  }
  for (std::size_t i = begin; i < end; ++i) {
    const double v = values[i];
    ++s.count;
    if (v != v) {
      ++s.nan_count;
      continue;
    }
    const bool first = s.nan_count + 1 == s.count;
    if (first || v < s.min || (v == s.min && std::signbit(v))) {
      s.min = v;
    }
    if (first || v > s.max || (v == s.max && !std::signbit(v))) {
      s.max = v;
    }
    s.sum.Add(v);
    if (v < before) {
      s.resets->Add(before);
    }
    before = v;
  }
  if (!resets_known) {
    s.resets.reset();
  }
  return s;
}

void ExpectSame(const ValueStatistics& a, const ValueStatistics& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.nan_count, b.nan_count);
  EXPECT_TRUE(SameBits(a.min, b.min)) << a.min << ' ' << b.min;
  EXPECT_TRUE(SameBits(a.max, b.max)) << a.max << ' ' << b.max;
  EXPECT_TRUE(SameSum(a.sum, b.sum));
  EXPECT_TRUE(SameBits(a.sum.Sum(), b.sum.Sum())) << a.sum.Sum() << ' ' << b.sum.Sum();
  EXPECT_TRUE(SameBits(a.sum.Mean(3), b.sum.Mean(3)));
  ASSERT_EQ(a.resets.has_value(), b.resets.has_value());
  if (a.resets) {
    EXPECT_TRUE(SameSum(*a.resets, *b.resets)) << a.resets->Sum() << ' ' << b.resets->Sum();
  }
}

/// Bytes of the statistics; checks that they read back bit for bit.
std::size_t EncodedBytes(const std::vector<double>& values) {
  const ChunkStatistics s = ComputeStatistics(values);
  std::string bytes;
  EncodeStatistics(s, &bytes);
  ChunkStatistics decoded;
  EXPECT_TRUE(DecodeStatistics(bytes, s.count, &decoded));
  ChunkStatistics pooled = s;
  PoolPages(decoded.page_step, &pooled);
  EXPECT_TRUE(SameStatistics(decoded, pooled));
  return bytes.size();
}

TEST(Statistics, AreThoseOfAPlainComputationAndReadBackBitForBit) {
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const std::size_t sizes[] = {1, 2, 10, 1000, 1024, 1025, 2500, 8192};
    const std::vector<double> values = RandomValues(random, sizes[random() % (seed % 10 == 0 ? 8 : 6)]);
    const ChunkStatistics s = ComputeStatistics(values);
    ExpectSame(s, Plain(values, 0, values.size(), s.resets.has_value()));
    EXPECT_EQ(s.pages.size(), values.size() <= kPageSamples ? 0 : PageCount(values.size()));
    for (std::size_t page = 0; page < s.pages.size(); ++page) {
      const std::size_t begin = page * kPageSamples;
      ExpectSame(s.pages[page],
                 Plain(values, begin, std::min(values.size(), begin + kPageSamples), s.resets.has_value()));
    }
    EXPECT_TRUE(SameBits(s.first, values.front()) && SameBits(s.last, values.back()));
    EncodedBytes(values);
    if (HasFailure()) {
      return;
    }
  }
}

TEST(Statistics, AreScannedInLanesAsOneByOne) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 3000; ++i) {
    const std::vector<double> values = RandomValues(random, random() % 70);
    ValueScan lanes = ScanValues(values);
    ValueScan plain = ScanValuesScalar(values);
    SettleZeros(values, &lanes);
    SettleZeros(values, &plain);
    EXPECT_TRUE(SameBits(lanes.min, plain.min) && SameBits(lanes.max, plain.max));
    EXPECT_EQ(lanes.nans, plain.nans);
    EXPECT_EQ(lanes.falls, plain.falls);
  }
}

TEST(Statistics, LeaveResetsOutOnlyWhereManyValuesFall) {
  std::vector<double> counter;
  std::vector<double> gauge;
  for (int i = 0; i < 1000; ++i) {
    counter.push_back(i % 100);
    gauge.push_back(i % 3);
  }
  const ChunkStatistics s = ComputeStatistics(counter);
  ASSERT_TRUE(s.resets.has_value());
  EXPECT_EQ(s.resets->Sum(), 9 * 99);
  EXPECT_FALSE(ComputeStatistics(gauge).resets.has_value());
}

TEST(Statistics, CountNaNsApartAndKeepThemOutOfTheRest) {
  const ChunkStatistics s = ComputeStatistics(std::vector<double>{kNaN, 3, -2, kNaN, 7, 1});
  EXPECT_EQ(s.count, 6u);
  EXPECT_EQ(s.nan_count, 2u);
  EXPECT_EQ(s.min, -2);
  EXPECT_EQ(s.max, 7);
  EXPECT_EQ(s.sum.Sum(), 9);
  EXPECT_TRUE(std::isnan(s.first));
  EXPECT_EQ(s.first_number, 3);
  EXPECT_EQ(s.last, 1);
  const ChunkStatistics none = ComputeStatistics(std::vector<double>(5, kNaN));
  EXPECT_FALSE(none.has_numbers());
  EXPECT_TRUE(std::isnan(none.min) && std::isnan(none.max) && std::isnan(none.last_number));
}

TEST(Statistics, DoNotDependOnTheOrderOfZeros) {
  std::vector<double> values = {0.0, -0.0, 0.0, 0.0, -0.0, 0.0, 0.0};
  for (int i = 0; i < 7; ++i) {
    std::rotate(values.begin(), values.begin() + 1, values.end());
    const ChunkStatistics s = ComputeStatistics(values);
    EXPECT_TRUE(std::signbit(s.min));
    EXPECT_FALSE(std::signbit(s.max));
  }
  EXPECT_TRUE(std::signbit(ComputeStatistics(std::vector<double>{-0.0, -1}).max));
  EXPECT_FALSE(std::signbit(ComputeStatistics(std::vector<double>{0.0, 1}).min));
}

TEST(Statistics, OfConstantsFollowFromTheConstant) {
  for (const double value : {0.0, -0.0, 1.0, 0.1, -1234.5678, 1e300, kMax, 5e-324, kInf, -kInf, kNaN,
                             std::bit_cast<double>(0x7ff0000000000002), 1.0 / 3}) {
    for (const std::uint32_t count : {1u, 2u, 1000u, 1025u, 8192u}) {
      SCOPED_TRACE(testing::Message() << value << " x " << count);
      EXPECT_TRUE(
          SameStatistics(ConstantStatistics(value, count), ComputeStatistics(std::vector<double>(count, value))));
    }
  }
}

TEST(Statistics, TakeFewBytes) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const auto walk = [&](std::size_t count, double scale) {
    std::vector<double> values;
    double v = 50;
    while (values.size() < count) {
      v = std::clamp(v + normal(random), 0.0, 100.0);
      values.push_back(scale == 0 ? v : std::round(v * scale) / scale);
    }
    return values;
  };
  EXPECT_LE(EncodedBytes(walk(1024, 1)), 12u);    // whole numbers
  EXPECT_LE(EncodedBytes(walk(8192, 1)), 8 * 6u);
  EXPECT_LE(EncodedBytes(walk(1024, 100)), 20u);  // two decimals
  EXPECT_LE(EncodedBytes(walk(8192, 100)), 8 * 11u);
  EXPECT_LE(EncodedBytes(walk(1024, 0)), 42u);    // all digits of a double
  EXPECT_LE(EncodedBytes(walk(8192, 0)), 8192u / 50);
}

TEST(Statistics, OfSeveralPagesArePooledRatherThanTakingMoreThanAFiftiethOfAByteAValue) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> any(-1e9, 1e9);
  const auto encode = [](const std::vector<double>& values, ChunkStatistics* decoded) {
    std::string bytes;
    EncodeStatistics(ComputeStatistics(values), &bytes);
    EXPECT_TRUE(DecodeStatistics(bytes, static_cast<std::uint32_t>(values.size()), decoded));
    return bytes.size();
  };
  for (const std::size_t count : {1025, 2048, 3000, 4096, 5000, 6145, 8192}) {
    std::vector<double> values(count);
    std::ranges::generate(values, [&] { return any(random); });
    ChunkStatistics decoded;
    EXPECT_LE(encode(values, &decoded), std::max<std::size_t>(count / 50, 48)) << count;
    EXPECT_GT(decoded.page_step, 1u) << count;
    for (double& value : values) {
      value = std::round(value / 1e7);
    }
    encode(values, &decoded);
    EXPECT_EQ(decoded.page_step, 1u) << count;
    EXPECT_EQ(decoded.pages.size(), PageCount(count));
  }
}

TEST(Statistics, ForeignBytesAreRefusedOrReadInBounds) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 3000; ++i) {
    std::string bytes;
    const std::vector<double> values = RandomValues(random, 1 + random() % 1500);
    EncodeStatistics(ComputeStatistics(values), &bytes);
    for (int k = 0; k < 10; ++k) {
      std::string damaged = bytes.substr(0, random() % 4 == 0 ? random() % bytes.size() : bytes.size());
      if (!damaged.empty()) {
        damaged[random() % damaged.size()] = static_cast<char>(random());
      }
      ChunkStatistics s;
      if (DecodeStatistics(damaged, static_cast<std::uint32_t>(values.size()), &s)) {
        EXPECT_EQ(s.count, values.size());
        EXPECT_LE(s.nan_count, s.count);
        EXPECT_TRUE(!s.has_numbers() || s.min <= s.max);
      }
    }
  }
  ChunkStatistics s;
  EXPECT_FALSE(DecodeStatistics("", 1, &s));
}

}  // namespace
}  // namespace tsdb::chunk
