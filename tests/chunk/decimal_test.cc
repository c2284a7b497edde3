#include "chunk/decimal.h"

#include <gtest/gtest.h>

#include <charconv>
#include <limits>
#include <random>
#include <string>

#include "column_shapes.h"

namespace tsdb::chunk {
namespace {

std::uint64_t Bits(double value) { return std::bit_cast<std::uint64_t>(value); }

TEST(Decimal, FindsTheSmallestExponent) {
  EXPECT_EQ(ExactExponent(0.0), 0);
  EXPECT_EQ(ExactExponent(42.0), 0);
  EXPECT_EQ(ExactExponent(-0.5), 1);
  EXPECT_EQ(ExactExponent(19.99), 2);
  EXPECT_EQ(ExactExponent(1.6863e-05), 9);
  EXPECT_EQ(ExactExponent(1e-17), 17);
}

TEST(Decimal, HasNoExponentForWhatIsNoDecimal) {
  for (const double v : {-0.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(),
                         std::numeric_limits<double>::denorm_min(), 9007199254740992.0, 1.0 / 3}) {
    EXPECT_EQ(ExactExponent(v), -1) << v;
  }
}

TEST(Decimal, EveryDecimalOfUpToFifteenDigitsIsExactWithItsOwnDigits) {
  const std::uint64_t seed = 20261130;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 50'000; ++i) {
    std::uint64_t limit = 10;
    for (auto digits = random() % 15; digits > 0; --digits) {
      limit *= 10;
    }
    const auto integer = static_cast<std::int64_t>(random() % limit);
    const int exponent = static_cast<int>(random() % 16);
    const std::string text = std::to_string(integer) + "e-" + std::to_string(exponent);
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    const DecimalMatch match = MatchDecimal(value, exponent);
    ASSERT_TRUE(match.exact()) << text;
    ASSERT_EQ(match.decimal, integer) << text;
    ASSERT_EQ(Bits(FromDecimal(integer, exponent)), Bits(value)) << text;
  }
}

TEST(Decimal, AnExactMatchAlwaysGivesTheValueBack) {
  const std::uint64_t seed = 7;
  SCOPED_TRACE("seed " + std::to_string(seed));
  shapes::Random random(seed);
  for (int i = 0; i < 20'000; ++i) {
    const int shape = static_cast<int>(random() % shapes::kValueShapes);
    const double value = shapes::Values(random, shape, 1)[0];
    const int exponent = static_cast<int>(random() % 18);
    const DecimalMatch match = MatchDecimal(value, exponent);
    if (match.exact()) {
      ASSERT_EQ(Bits(FromDecimal(match.decimal, exponent)), Bits(value));
    } else if (match.in_range) {
      const auto near = std::bit_cast<std::uint64_t>(FromDecimal(match.decimal, exponent));
      ASSERT_EQ(near + static_cast<std::uint64_t>(match.ulps), std::bit_cast<std::uint64_t>(value));
    }
  }
}

TEST(Decimal, NearMissesCountUnitsInTheLastPlace) {
  const DecimalMatch match = MatchDecimal(6.0820000000000025, 3);
  EXPECT_TRUE(match.in_range);
  EXPECT_EQ(match.decimal, 6082);
  EXPECT_EQ(match.ulps, 3);
}

TEST(Decimal, TheLimitIsTwoToTheFiftyOne) {
  EXPECT_TRUE(MatchDecimal(2251799813685247.0, 0).exact());
  EXPECT_FALSE(MatchDecimal(2251799813685248.0, 0).in_range);
  EXPECT_FALSE(MatchDecimal(-2251799813685248.0, 0).in_range);
  EXPECT_EQ(IntegerToDouble(kDecimalMax), 2251799813685248.0);
  EXPECT_EQ(IntegerToDouble(-kDecimalMax), -2251799813685248.0);
}

}  // namespace
}  // namespace tsdb::chunk
