#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/coding.h"
#include "chunk/chunk_rows.h"
#include "chunk/statistics_codec.h"

namespace tsdb::chunk {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Statistics, CountNaNsApartAndKeepThemOutOfMinAndMax) {
  const ChunkStatistics s = ComputeStatistics(std::vector<double>{kNaN, 3, -2, kNaN, 7, 1});
  EXPECT_EQ(s.count, 6u);
  EXPECT_EQ(s.nan_count, 2u);
  EXPECT_EQ(s.min, -2);
  EXPECT_EQ(s.max, 7);
  EXPECT_TRUE(std::isnan(s.first));
  EXPECT_EQ(s.last, 1);
}

TEST(Statistics, OfNothingButNaNsHaveNoMinAndMax) {
  const ChunkStatistics s = ComputeStatistics(std::vector<double>(5, kNaN));
  EXPECT_EQ(s.nan_count, 5u);
  EXPECT_TRUE(std::isnan(s.min) && std::isnan(s.max));
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

TEST(Statistics, InfinitiesAreNumbers) {
  const ChunkStatistics s = ComputeStatistics(std::vector<double>{kInf, kInf, kNaN});
  EXPECT_EQ(s.min, kInf);
  EXPECT_EQ(s.max, kInf);
}

/// Bytes of the statistics; checks that they read back bit for bit.
std::size_t EncodedBytes(const std::vector<double>& values) {
  const ChunkStatistics s = ComputeStatistics(values);
  std::string bytes;
  EncodeStatistics(s, &bytes);
  ByteReader reader(bytes);
  ChunkStatistics decoded;
  EXPECT_TRUE(DecodeStatistics(&reader, &decoded) && reader.empty());
  const auto same = [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  };
  EXPECT_EQ(decoded.nan_count, s.nan_count);
  EXPECT_TRUE(same(decoded.min, s.min) && same(decoded.max, s.max) && same(decoded.first, s.first) &&
              same(decoded.last, s.last));
  return bytes.size();
}

TEST(Statistics, ReadBackBitForBitInFewBytes) {
  EXPECT_EQ(EncodedBytes({7, 7, 7}), 2u);
  EXPECT_LE(EncodedBytes({50.25, 51.5, 49.75, 50}), 9u);
  EXPECT_LE(EncodedBytes({1e9 + 1, 1e9 + 20, 1e9 + 3}), 1u + 5 + 3);
  EXPECT_EQ(EncodedBytes({-0.0, -0.0}), 1u + 8);
  EXPECT_EQ(EncodedBytes({0.1 + 0.2, 1.0 / 3}), 1u + 32);
  EXPECT_EQ(EncodedBytes({kNaN, 1}), 1u + 1 + 32);
  EncodedBytes({kNaN});
  EncodedBytes({kInf, -kInf, 0.0, -0.0});
  EncodedBytes({std::bit_cast<double>(0x7ff0000000000002), 5e-324});
}

TEST(Statistics, OfRandomBitsReadBackBitForBit) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<double> values;
    for (std::uint64_t n = 1 + random() % 4; n > 0; --n) {
      const auto kind = random() % 3;
      values.push_back(kind == 0   ? std::bit_cast<double>(random())
                       : kind == 1 ? static_cast<double>(random() % 100'000) / 1000
                                   : -static_cast<double>(random() >> (random() % 60)));
    }
    EXPECT_LE(EncodedBytes(values), 1u + 2 + 32);
  }
}

TEST(Statistics, BytesThatAreNoneAreRefused) {
  const std::string cases[] = {"",
                               std::string(1, '\x12'),                           // exponent 18
                               std::string("\x80\x00", 2),                       // the bit that is zero
                               std::string("\x60\x00\x00", 3),                   // no NaNs counted
                               std::string("\x5f\x00\x00", 3),                   // a double cut short
                               "\x40\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"};  // a decimal too large
  for (const std::string& bytes : cases) {
    ByteReader reader(bytes);
    ChunkStatistics s;
    EXPECT_FALSE(DecodeStatistics(&reader, &s)) << bytes.size();
  }
}

}  // namespace
}  // namespace tsdb::chunk
