#include "base/exact_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tsdb {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kMax = std::numeric_limits<double>::max();

ExactSum SumOf(const std::vector<double>& values) {
  ExactSum sum;
  sum.Add(values);
  return sum;
}

/// Doubles of any magnitude, or of one neighbourhood.
std::vector<double> RandomValues(std::mt19937_64& random, std::size_t count) {
  std::vector<double> values;
  const auto kind = random() % 4;
  while (values.size() < count) {
    const double any = std::bit_cast<double>(random());
    const double near = static_cast<double>(static_cast<std::int64_t>(random() % 200'001) - 100'000);
    const double huge = kMax / 2 * (random() % 2 == 0 ? 1 : -1);
    const double value = kind == 0 ? any : kind == 1 ? near / 100 : kind == 2 ? near : huge;
    if (std::isfinite(value)) {
      values.push_back(value);
    }
  }
  return values;
}

bool SameBits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

TEST(ExactSumTerms, HoldTheWholeSumAndDependOnNothingElse) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<double> values = RandomValues(random, 1 + random() % 60);
    const ExactSum sum = SumOf(values);
    const ExactSum back(sum.Terms());
    EXPECT_EQ(back.Terms(), sum.Terms());
    EXPECT_TRUE(SameBits(back.Sum() + 0.0, sum.Sum() + 0.0));
    EXPECT_TRUE(SameBits(back.Mean(7) + 0.0, sum.Mean(7) + 0.0));
    std::shuffle(values.begin(), values.end(), random);
    ExactSum one_by_one;
    for (const double value : values) {
      one_by_one.Add(value);
    }
    EXPECT_EQ(one_by_one.Terms(), sum.Terms());
    // Nothing is left when the terms are taken away.
    ExactSum rest = sum;
    const SumTerms terms = sum.Terms();
    for (const double term : terms.terms) {
      rest.Add(-term);
    }
    EXPECT_EQ(rest.Terms().overflow, terms.overflow);
    EXPECT_TRUE(rest.Terms().terms.empty());
  }
}

TEST(ExactSumTerms, SumsOfPartsAddUpToTheSumOfAll) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const std::vector<double> a = RandomValues(random, 1 + random() % 40);
    const std::vector<double> b = RandomValues(random, 1 + random() % 40);
    ExactSum merged = SumOf(a);
    merged.Add(ExactSum(SumOf(b).Terms()));
    std::vector<double> all = a;
    all.insert(all.end(), b.begin(), b.end());
    EXPECT_TRUE(SameSum(merged, SumOf(all)));
    EXPECT_TRUE(SameBits(merged.Sum(), SumOf(all).Sum()));
  }
}

TEST(ExactSumTerms, SumsBeyondTheRangeOfDoubleComeBack) {
  std::vector<double> values(5000, kMax);
  values.push_back(5e-324);
  const ExactSum sum(SumOf(values).Terms());
  EXPECT_EQ(sum.Sum(), kInf);
  EXPECT_GT(sum.Terms().overflow, 4000);
  ExactSum rest = sum;
  rest.Add(std::vector<double>(5000, -kMax));
  EXPECT_EQ(rest.Sum(), 5e-324);
  const ExactSum negative(SumOf(std::vector<double>(3, -kMax)).Terms());
  EXPECT_EQ(negative.Sum(), -kInf);
  EXPECT_EQ(negative.Mean(3), -kMax);
}

TEST(ExactSumTerms, KeepInfinitiesAndLoseNoSignOfZero) {
  EXPECT_EQ(ExactSum(SumOf({1, kInf}).Terms()).Sum(), kInf);
  EXPECT_TRUE(std::isnan(ExactSum(SumOf({kInf, -kInf, 3}).Terms()).Sum()));
  ExactSum zeros = SumOf({-0.0, -0.0});
  zeros.Add(SumOf({-0.0}));
  EXPECT_TRUE(std::signbit(zeros.Sum()));
  zeros.Add(SumOf({0.0}));
  EXPECT_FALSE(std::signbit(zeros.Sum()));
  EXPECT_EQ(SumOf({}).Terms(), SumTerms());
}

TEST(ExactSumTerms, CopiesAreIndependent) {
  ExactSum wide = SumOf({1e300, 1, 1e-300});
  ExactSum copy = wide;
  copy.Add(1.0);
  EXPECT_FALSE(SameSum(copy, wide));
  wide = copy;
  EXPECT_TRUE(SameSum(copy, wide));
}

}  // namespace
}  // namespace tsdb
