#include "base/exact_sum.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "engine/query/bucket_state.h"
#include "tests/engine/exact_rational.h"

namespace tsdb::engine {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Values of many shapes: integers, decimals, walks, wild exponents, cancelling pairs, the ends of the range.
std::vector<double> RandomValues(std::mt19937_64& random, std::size_t n) {
  std::vector<double> values;
  const auto shape = random() % 8;
  double walk = static_cast<double>(random() % 1000);
  for (std::size_t i = 0; i < n; ++i) {
    const auto r = static_cast<double>(random() % 2'000'001) - 1'000'000;
    switch (shape) {
      case 0:
        values.push_back(r);
        break;
      case 1:
        values.push_back(r / 100);
        break;
      case 2:
        values.push_back(walk += r * 1e-7);
        break;
      case 3:
        values.push_back(std::ldexp(r, static_cast<int>(random() % 1900) - 1000));
        break;
      case 4:
        values.push_back(i % 2 == 0 ? r * 1e300 : -values.back() + r);
        break;
      case 5:
        values.push_back((random() % 2 == 0 ? 1 : -1) * std::numeric_limits<double>::max());
        break;
      case 6:
        values.push_back(std::bit_cast<double>(random() % 1000) * (random() % 2 == 0 ? 1 : -1));
        break;
      default:
        values.push_back(1e15 + r / 8);
        break;
    }
  }
  return values;
}

TEST(ExactSum, IsTheCorrectlyRoundedValueOfTheExactSumAndMean) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    std::mt19937_64 random(seed);
    const auto values = RandomValues(random, 1 + random() % (seed % 10 == 0 ? 400 : 40));
    ExactSum sum;
    for (std::size_t i = 0; i < values.size();) {
      const std::size_t part = std::min<std::size_t>(values.size() - i, 1 + random() % 64);
      sum.Add(std::span(values).subspan(i, part));
      i += part;
    }
    const Rational exact = ExactSumOf(values);
    ASSERT_TRUE(IsNearest(sum.Sum(), exact)) << "seed " << seed << ": " << sum.Sum();
    ASSERT_TRUE(IsNearest(sum.Mean(values.size()), exact / static_cast<std::int64_t>(values.size())))
        << "seed " << seed << ": " << sum.Mean(values.size());
  }
}

TEST(ExactSum, DoesNotDependOnTheOrderOrTheParts) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    auto values = RandomValues(random, 200);
    ExactSum whole;
    whole.Add(values);
    std::shuffle(values.begin(), values.end(), random);
    ExactSum shuffled;
    for (const double value : values) {
      shuffled.Add({&value, 1});
    }
    ASSERT_EQ(whole.Sum(), shuffled.Sum());
    ASSERT_EQ(whole.Mean(200), shuffled.Mean(200));
  }
}

TEST(ExactSum, FollowsTheRulesForSpecialValues) {
  struct Row {
    std::vector<double> values;
    double expected;
  };
  const Row rows[] = {
      {{-0.0, -0.0}, -0.0},        {{-0.0, 0.0}, 0.0},     {{1.0, -1.0}, 0.0},          {{kInf, 1.0}, kInf},
      {{-kInf, 1.0, -kInf}, -kInf}, {{1e308, 1e308}, kInf}, {{1e308, 1e308, -1e308}, 1e308}, {{0.1, 0.2}, 0.1 + 0.2},
  };
  for (const Row& row : rows) {
    ExactSum sum;
    sum.Add(row.values);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(sum.Sum()), std::bit_cast<std::uint64_t>(row.expected)) << row.values[0];
  }
  ExactSum both;
  both.Add(std::vector<double>{kInf, -kInf});
  EXPECT_TRUE(std::isnan(both.Sum()));
}

/// A bucket on its own: nothing before it, nothing behind.
class Alone {
 public:
  explicit Alone(std::initializer_list<Aggregation> aggregators)
      : needs_(std::vector<Aggregation>(aggregators)) {
    state_.Start(needs_, std::nullopt, std::nullopt);
  }
  void Add(std::span<const Timestamp> times, std::span<const double> values) { state_.Add({times, values}, needs_); }
  void Add(std::span<const double> values) { state_.AddValues(values, needs_); }
  double Finish(const Aggregation& aggregation) { return state_.Finish(aggregation, {}); }

 private:
  const BucketNeeds needs_;
  BucketState state_;
};

Alone StateOf(const std::vector<double>& values) {
  Alone state({Aggregator::kMin, Aggregator::kSum, Aggregator::kVarP});
  state.Add(values);
  return state;
}

TEST(BucketState, VarianceIsExactToTheLastDigits) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    std::mt19937_64 random(seed);
    const double scale = std::ldexp(1.0, seed % 5 == 0 ? static_cast<int>(random() % 1800) - 900 : 0);
    const double base = std::ldexp(1.0, static_cast<int>(random() % 60));
    std::vector<double> values;
    for (std::size_t i = 0; i < 2 + seed % 100; ++i) {
      values.push_back(scale * (base + static_cast<double>(random() % 4096) / 16 +
                                (seed % 3 == 0 ? static_cast<double>(i) * 1e5 : 0)));
    }
    Alone state({Aggregator::kVarP});
    const std::size_t half = values.size() / 2;
    state.Add(std::span(values).first(half));
    state.Add(std::span(values).subspan(half));
    const Rational exact = ExactVariance(values);
    if (exact > ExactOf(1e300) || exact < ExactOf(1e-290)) {
      continue;  // beyond the range of double, or with few digits left in it
    }
    const Rational error = abs(ExactOf(state.Finish(Aggregator::kVarP)) - exact);
    ASSERT_LE(error, exact * Rational(1, 1'000'000'000'000)) << "seed " << seed;
  }
}

TEST(BucketState, TheCasesWhereNaiveVariancesFail) {
  Alone constant = StateOf({0.1, 0.1, 0.1});
  EXPECT_EQ(constant.Finish(Aggregator::kVarP), 0);
  EXPECT_EQ(constant.Finish(Aggregator::kStdS), 0);
  Alone offset = StateOf({1000000004, 1000000007, 1000000013, 1000000016});
  EXPECT_EQ(offset.Finish(Aggregator::kVarP), 22.5);
  EXPECT_EQ(offset.Finish(Aggregator::kVarS), 30);
  EXPECT_DOUBLE_EQ(offset.Finish(Aggregator::kStdP), 4.743416490252569);
  EXPECT_DOUBLE_EQ(offset.Finish(Aggregator::kStdS), 5.477225575051661);
  Alone epoch = StateOf({1558025088636, 1558025088636, 1558025088636});
  EXPECT_EQ(epoch.Finish(Aggregator::kVarP), 0);
  Alone single = StateOf({42});
  EXPECT_EQ(single.Finish(Aggregator::kVarP), 0);
  EXPECT_TRUE(std::isnan(single.Finish(Aggregator::kVarS)));
}

TEST(BucketState, NaNCountsOnlyWhereSaid) {
  Alone state = StateOf({kNaN, 3, kNaN, -0.0, 0.0, kNaN});
  EXPECT_EQ(state.Finish(Aggregator::kCount), 3);
  EXPECT_EQ(state.Finish(Aggregator::kCountNan), 3);
  EXPECT_EQ(state.Finish(Aggregator::kCountAll), 6);
  EXPECT_TRUE(std::isnan(state.Finish(Aggregator::kFirst)));
  EXPECT_TRUE(std::isnan(state.Finish(Aggregator::kLast)));
  EXPECT_TRUE(std::signbit(state.Finish(Aggregator::kMin))) << "-0 is below +0";
  EXPECT_EQ(state.Finish(Aggregator::kMax), 3);
  EXPECT_EQ(state.Finish(Aggregator::kAvg), 1);
  Alone only = StateOf({kNaN, kNaN});
  EXPECT_EQ(only.Finish(Aggregator::kCount), 0);
  EXPECT_TRUE(std::isnan(only.Finish(Aggregator::kSum)));
  EXPECT_TRUE(std::isnan(only.Finish(Aggregator::kMax)));
}

TEST(BucketState, WeightedAveragesAreExactToTheLastDigits) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Timestamp> times;
    const auto values = RandomValues(random, 1 + random() % 200);
    Timestamp time = static_cast<Timestamp>(random() % 1'000'000) - 500'000;
    Rational area = 0;
    Rational size = 0;
    bool finite = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
      times.push_back(time += 1 + static_cast<Timestamp>(random() % (seed % 2 == 0 ? 1 : 100'000)));
      finite = finite && std::fabs(values[i]) < 1e300;
      if (i != 0) {
        const Rational part = (ExactOf(values[i]) + ExactOf(values[i - 1])) / 2 * (times[i] - times[i - 1]);
        area += part;
        size += abs(part);
      }
    }
    Alone state({Aggregator::kTwa});
    const std::size_t half = values.size() / 2;
    if (half != 0) {
      state.Add(std::span(times).first(half), std::span(values).first(half));
    }
    state.Add(std::span(times).subspan(half), std::span(values).subspan(half));
    const double twa = state.Finish(Aggregator::kTwa);
    if (!finite || values.size() == 1) {
      continue;  // areas beyond the range of double; or no area
    }
    const std::int64_t span = times.back() - times.front();
    const Rational error = abs(ExactOf(twa) * span - area);
    ASSERT_LE(error, size * Rational(1, 1'000'000'000'000) + ExactOf(1e-300)) << "seed " << seed;
  }
}

TEST(BucketState, IncreasesAreTheExactSumOfTheStepsRoundedOnce) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    const auto values = RandomValues(random, 2 + random() % 300);
    std::vector<Timestamp> times(values.size());
    Rational exact = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      times[i] = static_cast<Timestamp>(i);
      if (i != 0) {
        exact += values[i] < values[i - 1] ? ExactOf(values[i]) : ExactOf(values[i]) - ExactOf(values[i - 1]);
      }
    }
    Alone state({Aggregator::kIncrease});
    const std::size_t part = 1 + random() % values.size();
    state.Add(std::span(times).first(part), std::span(values).first(part));
    if (part != values.size()) {
      state.Add(std::span(times).subspan(part), std::span(values).subspan(part));
    }
    ASSERT_TRUE(IsNearest(state.Finish(Aggregator::kIncrease), exact)) << "seed " << seed;
  }
}

TEST(BucketState, InfinitiesReachEveryAggregator) {
  Alone state = StateOf({123, kInf, -kInf, 456});
  EXPECT_EQ(state.Finish(Aggregator::kMin), -kInf);
  EXPECT_EQ(state.Finish(Aggregator::kMax), kInf);
  EXPECT_TRUE(std::isnan(state.Finish(Aggregator::kSum)));
  EXPECT_TRUE(std::isnan(state.Finish(Aggregator::kVarP)));
}

}  // namespace
}  // namespace tsdb::engine
