#include "chunk/integer_tokens.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>

#include "chunk/integer_token_plan.h"
#include "column_shapes.h"

namespace tsdb::chunk {
namespace {

using shapes::Below;

/// All integers, or the word of a reader that refused.
std::vector<std::uint64_t> Decode(std::string_view bytes, std::size_t count, bool* ok) {
  const std::unique_ptr<char[]> exact(new char[bytes.size()]);  // a sanitizer sees a read behind it
  std::memcpy(exact.get(), bytes.data(), bytes.size());
  ByteReader reader({exact.get(), bytes.size()});
  IntegerTokenReader tokens;
  std::vector<std::uint64_t> integers(count);
  *ok = tokens.Open(&reader, count) && reader.empty();
  tokens.Seek({0, *ok ? 8u : 0u});
  for (std::size_t i = 0; i < count && *ok; i += kPageSamples) {
    *ok = tokens.Next(integers.data() + i);
  }
  return integers;
}

::testing::AssertionResult ComesBack(const std::vector<std::uint64_t>& integers) {
  std::string bytes;
  EncodeIntegerTokens(integers, &bytes);
  bool ok = false;
  if (Decode(bytes, integers.size(), &ok) != integers || !ok) {
    return ::testing::AssertionFailure() << integers.size() << " integers in " << bytes.size() << " bytes"
                                         << (ok ? "" : ": refused");
  }
  return ::testing::AssertionSuccess();
}

/// Integers of a shape 0..8.
std::vector<std::uint64_t> Integers(shapes::Random& random, int shape, std::size_t count) {
  std::vector<std::uint64_t> integers(count);
  const unsigned width = static_cast<unsigned>(Below(random, 64));
  std::uint64_t level = random() >> width;
  for (std::size_t i = 0; i < count; ++i) {
    switch (shape) {
      case 0:  // any
        integers[i] = random();
        break;
      case 1:  // all sizes
        integers[i] = random() >> Below(random, 64);
        break;
      case 2:  // a walk
        integers[i] = level += (random() >> width) - (random() >> width);
        break;
      case 3:  // a few that follow each other
        integers[i] = level = Below(random, 3) == 0 ? random() % 200 : level;
        break;
      case 4:  // one
        integers[i] = level;
        break;
      case 5:  // a straight line, now and then bent
        integers[i] = level + 1000 * i + (Below(random, 50) == 0 ? 1 : 0);
        break;
      case 6:  // up to 256 far-off ones
        integers[i] = (Below(random, 256) * 0x9e3779b97f4a7c15) | 1;
        break;
      case 7:  // a curve
        integers[i] = level + i * i * 7 + Below(random, 3);
        break;
      default:  // the widest steps
        integers[i] = i % 2 == 0 ? 1ull << 63 : (1ull << 63) - 1 + Below(random, 3);
        break;
    }
  }
  return integers;
}

TEST(IntegerTokens, ComeBackForEveryShapeAndLength) {
  const std::uint64_t seed = 61;
  SCOPED_TRACE("seed " + std::to_string(seed));
  shapes::Random random(seed);
  for (int round = 0; round < 1'800; ++round) {
    const std::size_t count = round % 10 == 0 ? 1 + Below(random, 8192) : 1 + Below(random, 1100);
    ASSERT_TRUE(ComesBack(Integers(random, round % 9, count))) << "round " << round;
  }
  for (std::size_t count = 1; count <= 20; ++count) {
    ASSERT_TRUE(ComesBack(Integers(random, static_cast<int>(count % 9), count)));
  }
}

TEST(IntegerTokens, EveryGradeGivesItsIntegersBack) {
  shapes::Random random(62);
  for (unsigned direct = 0; direct <= kDirectBitsMax; ++direct) {
    for (unsigned mantissa = 0; mantissa <= std::min(direct, kMantissaBitsMax); ++mantissa) {
      const GradedTokens graded = {.direct = direct, .mantissa = mantissa, .centre = random()};
      for (int i = 0; i < 2'000; ++i) {
        const std::uint64_t integer = graded.centre + (i < 10 ? (1ull << 63) - 5 + static_cast<std::uint64_t>(i)
                                                              : random() >> Below(random, 64)) *
                                                          (i % 2 == 0 ? 1 : ~0ull);
        const int step = graded.StepOf(integer);
        ASSERT_LE(std::abs(step), graded.StepMax());
        TokenSet set;
        set.SetGraded(graded, step, 1);
        ASSERT_LE(integer - set.base[0], LowMask(set.bits[0])) << direct << " " << mantissa << " step " << step;
      }
    }
  }
}

TEST(IntegerTokens, LevelsComeBackAndTheirFrequenciesFillTheTable) {
  shapes::Random random(63);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::uint32_t> counts(1 + Below(random, 256));
    for (std::uint32_t& count : counts) {
      count = Below(random, 3) == 0 ? 0 : static_cast<std::uint32_t>(random() >> (50 + Below(random, 14)));
    }
    counts[Below(random, counts.size())] += 1;
    const auto log = static_cast<unsigned>(rans::kLogMin + Below(random, rans::kLogMax - rans::kLogMin + 1));
    const auto precision = static_cast<unsigned>(Below(random, kPrecisionMax + 1));
    const Levels levels = LevelsOf(counts, log, precision);
    std::string bytes;
    BitWriter writer(&bytes);
    PutLevels(levels, counts.size(), log, precision, &writer);
    writer.Finish();
    HeaderBits reader(bytes);
    Levels back;
    ASSERT_TRUE(ReadLevels(&reader, counts.size(), log, precision, &back)) << "round " << round;
    ASSERT_EQ(levels, back) << "round " << round;
    ASSERT_EQ(reader.bytes_used(), bytes.size());
    rans::Frequencies frequencies;
    ASSERT_TRUE(FrequenciesOf(levels, counts.size(), log, precision, &frequencies));
    std::uint32_t sum = 0;
    for (std::size_t t = 0; t < rans::kTokensMax; ++t) {
      ASSERT_EQ(frequencies[t] > 0, t < counts.size() && counts[t] > 0);
      sum += frequencies[t];
    }
    ASSERT_EQ(sum, 1u << log);
  }
}

TEST(IntegerTokens, ContextsArePaidBackWhereTheNextTokenDependsOnTheLast) {
  // Calm and wild spells in turn.
  shapes::Random random(64);
  std::vector<std::uint64_t> integers;
  std::uint64_t level = 1000;
  for (std::size_t i = 0; i < 8192; ++i) {
    level += i / 64 % 2 == 0 ? Below(random, 2) : Below(random, 64);
    integers.push_back(level);
  }
  const TokenPlan plan = PlanGraded(integers);
  std::vector<std::uint64_t> differences;
  std::vector<std::uint64_t> starts;
  DifferencePages(integers, plan.order, plan.filler, &differences, &starts);
  const ContextPlan contexts = PlanContexts(Tokenize(plan, differences), plan.size, 4);
  EXPECT_GE(contexts.count, 2u);
  std::string bytes;
  EncodeIntegerTokens(integers, &bytes);
  EXPECT_LE(bytes.size(), 8192u * 4 / 8);  // 1 and 6 bits in turn are 3.5 on average; without contexts it takes 4.3
  EXPECT_TRUE(ComesBack(integers));
}

TEST(IntegerTokens, AnyChangedByteIsDecodedOrRefusedNeverWorse) {
  shapes::Random random(65);
  for (int shape = 0; shape < 9; ++shape) {
    for (const std::size_t count : {90u, 700u, 1100u}) {
      std::string bytes;
      EncodeIntegerTokens(Integers(random, shape, count), &bytes);
      for (int round = 0; round < 600; ++round) {
        std::string damaged = bytes;
        // The header most of all.
        const std::size_t at = Below(random, round % 2 == 0 ? std::min<std::size_t>(bytes.size(), 40) : bytes.size());
        damaged[at] = static_cast<char>(random());
        if (round % 5 == 0) {
          damaged.resize(Below(random, damaged.size() + 1));
        }
        bool ok = false;
        (void)Decode(damaged, round % 7 == 0 ? 1 + Below(random, 8192) : count, &ok);
      }
    }
  }
}

}  // namespace
}  // namespace tsdb::chunk
