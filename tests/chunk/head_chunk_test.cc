#include "chunk/head_chunk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>

#include "chunk/codec_kernels.h"
#include "column_shapes.h"

namespace tsdb::chunk {
namespace {

using shapes::Below;

HeadChunk Fill(std::span<const Timestamp> times, std::span<const double> values) {
  HeadChunk head;
  for (std::size_t i = 0; i < times.size(); ++i) {
    head.Append(times[i], values[i]);
  }
  return head;
}

::testing::AssertionResult Holds(const HeadChunk& head, std::span<const Timestamp> times,
                                 std::span<const double> values) {
  std::vector<Timestamp> out_times = {-5};  // what is there stays
  std::vector<double> out_values = {-5};
  const Status status = DecodeHeadChunk(head.TakeSnapshot(), &out_times, &out_values);
  if (!status.ok()) {
    return ::testing::AssertionFailure() << status.ToString();
  }
  if (out_times.size() != times.size() + 1 || out_values.size() != values.size() + 1) {
    return ::testing::AssertionFailure() << out_times.size() - 1 << " samples instead of " << times.size();
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (out_times[i + 1] != times[i] ||
        std::bit_cast<std::uint64_t>(out_values[i + 1]) != std::bit_cast<std::uint64_t>(values[i])) {
      return ::testing::AssertionFailure() << "sample " << i << ": " << out_times[i + 1] << " " << std::hexfloat
                                           << out_values[i + 1] << " instead of " << times[i] << " " << values[i];
    }
  }
  return ::testing::AssertionSuccess();
}

TEST(HeadChunk, GivesEverySampleBackBitForBit) {
  const std::uint64_t seed = 480;
  SCOPED_TRACE("seed " + std::to_string(seed));
  shapes::Random random(seed);
  for (int round = 0; round < 12'000; ++round) {
    const std::size_t count = 1 + Below(random, Below(random, 4) == 0 ? 5 : 600);
    const int value_shape = round % shapes::kValueShapes;
    const int time_shape = static_cast<int>(Below(random, shapes::kTimeShapes));
    const std::vector<double> values = shapes::Values(random, value_shape, count);
    const std::vector<Timestamp> times = shapes::Times(random, time_shape, count);
    const HeadChunk head = Fill(times, values);
    ASSERT_TRUE(Holds(head, times, values))
        << "round " << round << " values " << value_shape << " times " << time_shape;
    ASSERT_EQ(head.count(), count);
    ASSERT_EQ(head.first_time(), times.front());
    ASSERT_EQ(head.last_time(), times.back());
    ASSERT_EQ(std::bit_cast<std::uint64_t>(head.last_value()), std::bit_cast<std::uint64_t>(values.back()));
  }
}

TEST(HeadChunk, HasTheSameBitsWithAndWithoutBitInstructions) {
  shapes::Random random(27);
  for (int round = 0; round < 2'000; ++round) {
    const std::size_t count = 1 + Below(random, 300);
    const std::vector<double> values = shapes::Values(random, round % shapes::kValueShapes, count);
    const std::vector<Timestamp> times =
        shapes::Times(random, static_cast<int>(Below(random, shapes::kTimeShapes)), count);
    const HeadChunk head = Fill(times, values);
    UseScalarKernels(true);
    const HeadChunk plain = Fill(times, values);
    const ::testing::AssertionResult plain_holds_both = Holds(head, times, values);
    UseScalarKernels(false);
    ASSERT_EQ(head.TakeSnapshot().bits, plain.TakeSnapshot().bits) << "round " << round;
    ASSERT_TRUE(plain_holds_both) << "round " << round;
  }
}

TEST(HeadChunk, LongRestsBetweenDisturbancesComeBack) {
  // Times and values that rest for long, so that what was put off meanwhile is caught up with at each disturbance.
  shapes::Random random(28);
  for (int round = 0; round < 300; ++round) {
    std::vector<Timestamp> times = {1'700'000'000'000};
    std::vector<double> values = {21.5};
    while (times.size() < 2'000) {
      for (std::size_t rest = Below(random, 400); rest > 0; --rest) {
        times.push_back(times.back() + 10'000);
        values.push_back(values.back());
      }
      times.push_back(times.back() + 1 + static_cast<Timestamp>(Below(random, 30'000)));
      values.push_back(Below(random, 3) == 0 ? 0.1 * static_cast<double>(Below(random, 1'000)) : values.back());
    }
    ASSERT_TRUE(Holds(Fill(times, values), times, values)) << "round " << round;
  }
}

TEST(HeadChunk, StepsOfEverySizeComeBack) {
  // Sizes that grow and shrink past what low bits may hold.
  for (const double first : {1.0, 1048576.0, 1099511627776.0, 1125899906842624.0}) {
    std::vector<double> values;
    double step = first;
    double value = 0;
    for (int i = 0; i < 400; ++i) {
      value = value > 0 ? value - step : value + step;
      values.push_back(value);
      step = i % 97 < 60 ? step : std::max(1.0, std::floor(step / 2));
      step = i % 97 == 96 ? first : step;
    }
    std::vector<Timestamp> times;
    Timestamp time = std::numeric_limits<Timestamp>::min();
    for (std::size_t i = 0; i < values.size(); ++i) {
      times.push_back(time);
      time += 1 + (i % 50 == 49 ? Timestamp{1} << (i / 8) : static_cast<Timestamp>(i % 7));
    }
    ASSERT_TRUE(Holds(Fill(times, values), times, values)) << first;
  }
}

TEST(HeadChunk, ASnapshotAfterEachSampleHoldsTheSamplesSoFar) {
  shapes::Random random(21);
  for (int shape = 0; shape < shapes::kValueShapes; ++shape) {
    const std::vector<double> values = shapes::Values(random, shape, 60);
    const std::vector<Timestamp> times = shapes::Times(random, shape % shapes::kTimeShapes, 60);
    HeadChunk head;
    ASSERT_TRUE(Holds(head, {}, {}));
    for (std::size_t i = 0; i < times.size(); ++i) {
      head.Append(times[i], values[i]);
      ASSERT_TRUE(Holds(head, std::span(times).first(i + 1), std::span(values).first(i + 1))) << shape << " " << i;
    }
  }
}

TEST(HeadChunk, ChangesOfShapeWithinAChunkComeBack) {
  shapes::Random random(22);
  for (int round = 0; round < 1'000; ++round) {
    std::vector<double> values;
    while (values.size() < 400) {
      const int shape = static_cast<int>(Below(random, shapes::kValueShapes));
      const auto part = shapes::Values(random, shape, 1 + Below(random, 90));
      values.insert(values.end(), part.begin(), part.end());
    }
    const std::vector<Timestamp> times = shapes::Times(random, round % shapes::kTimeShapes, values.size());
    ASSERT_TRUE(Holds(Fill(times, values), times, values)) << "round " << round;
  }
}

TEST(HeadChunk, TheWidestGapsComeBack) {
  const std::int64_t low = std::numeric_limits<std::int64_t>::min();
  const std::int64_t high = std::numeric_limits<std::int64_t>::max();
  for (const std::vector<Timestamp>& times :
       {std::vector<Timestamp>{low, high}, {low, low + 1, high}, {low, 0, high}, {-3, -2, -1, high - 1, high},
        {low, -1, 0, 1, 2, 3, high}}) {
    const std::vector<double> values(times.size(), 0.5);
    EXPECT_TRUE(Holds(Fill(times, values), times, values));
  }
}

TEST(HeadChunk, TakesLittleMemory) {
  HeadChunk head;
  EXPECT_EQ(head.memory_bytes(), 0u);
  head.Append(1'700'000'000'000, 42);
  EXPECT_LE(head.memory_bytes(), 40u);
  shapes::Random random(23);
  double level = 5000;
  for (int i = 1; i < 480; ++i) {
    level += static_cast<double>(Below(random, 201)) - 100;
    head.Append(1'700'000'000'000 + 10'000 * i, level / 100);
  }
  EXPECT_LE(head.used_bytes(), 480u * 13 / 10);
  EXPECT_LE(head.memory_bytes(), head.used_bytes() * 4 / 3 + 32);
  EXPECT_LE(sizeof(HeadChunk), 128u);
}

TEST(HeadChunk, ARepeatedValueOnAGridTakesTwoBits) {
  HeadChunk head;
  for (int i = 0; i < 480; ++i) {
    head.Append(1'700'000'000'000 + 10'000 * i, 21.5);
  }
  EXPECT_LE(head.used_bytes(), 480u / 4 + 32);
}

TEST(HeadChunk, ADelayedScrapeDoesNotShiftTheNext) {
  // Every tenth sample is 7 ms late; the rest are on the grid and stay at one bit.
  HeadChunk head;
  for (int i = 0; i < 480; ++i) {
    head.Append(1'700'000'000'000 + 10'000 * i + (i % 10 == 3 ? 7 : 0), 21.5);
  }
  EXPECT_LE(head.used_bytes(), 480u / 4 + 48 * 2 + 64);
}

TEST(HeadChunk, MovesAndLeavesAnEmptyChunkBehind) {
  HeadChunk head;
  head.Append(1, 10);
  head.Append(2, 20);
  HeadChunk moved = std::move(head);
  EXPECT_EQ(moved.count(), 2u);
  EXPECT_EQ(head.count(), 0u);  // NOLINT(bugprone-use-after-move): the contract
  head.Append(5, 50);
  head.Append(6, 50);
  const std::vector<Timestamp> times = {5, 6};
  EXPECT_TRUE(Holds(head, times, std::vector<double>{50, 50}));
  moved.Append(3, 30);
  const std::vector<Timestamp> moved_times = {1, 2, 3};
  EXPECT_TRUE(Holds(moved, moved_times, std::vector<double>{10, 20, 30}));
  head = std::move(moved);
  EXPECT_TRUE(Holds(head, moved_times, std::vector<double>{10, 20, 30}));
}

TEST(HeadChunk, ReserveMakesRoomForTheLargestSamples) {
  shapes::Random random(24);
  HeadChunk head;
  head.Reserve(100);
  const std::size_t reserved = head.memory_bytes();
  const std::vector<double> values = shapes::Values(random, 1, 100);
  const std::vector<Timestamp> times = shapes::Times(random, 5, 100);
  for (std::size_t i = 0; i < times.size(); ++i) {
    head.Append(times[i], values[i]);
  }
  EXPECT_EQ(head.memory_bytes(), reserved);
  EXPECT_TRUE(Holds(head, times, values));
}

TEST(HeadChunkDeathTest, ATimeThatDoesNotRiseIsABrokenInvariant) {
  HeadChunk head;
  head.Append(5, 1);
  EXPECT_DEATH(head.Append(5, 1), "");
}

TEST(DecodeHeadChunk, CutBitsAreCorruptionAndWhatCameBeforeIsKept) {
  shapes::Random random(25);
  for (int shape = 0; shape < shapes::kValueShapes; ++shape) {
    const std::vector<double> values = shapes::Values(random, shape, 200);
    const std::vector<Timestamp> times = shapes::Times(random, shape % shapes::kTimeShapes, 200);
    const HeadChunk::Snapshot whole = Fill(times, values).TakeSnapshot();
    for (std::size_t size = 0; size < whole.bits.size(); ++size) {
      const HeadChunk::Snapshot cut = {whole.count, whole.bits.substr(0, size)};
      std::vector<Timestamp> out_times;
      std::vector<double> out_values;
      ASSERT_EQ(DecodeHeadChunk(cut, &out_times, &out_values).code(), StatusCode::kCorruption) << shape << " " << size;
      ASSERT_EQ(out_times.size(), out_values.size());
      ASSERT_TRUE(std::equal(out_times.begin(), out_times.end(), times.begin()));
    }
  }
}

TEST(DecodeHeadChunk, AnyChangedByteIsDecodedOrRefusedNeverWorse) {
  shapes::Random random(26);
  for (int shape = 0; shape < shapes::kValueShapes; ++shape) {
    const std::vector<double> values = shapes::Values(random, shape, 200);
    const std::vector<Timestamp> times = shapes::Times(random, shape % shapes::kTimeShapes, 200);
    HeadChunk::Snapshot snapshot = Fill(times, values).TakeSnapshot();
    for (std::size_t at = 0; at < snapshot.bits.size(); ++at) {
      const char good = snapshot.bits[at];
      for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
        snapshot.bits[at] = static_cast<char>(good ^ flip);
        std::vector<Timestamp> out_times;
        std::vector<double> out_values;
        const Status status = DecodeHeadChunk(snapshot, &out_times, &out_values);
        ASSERT_TRUE(status.ok() || status.code() == StatusCode::kCorruption);
        ASSERT_EQ(out_times.size(), out_values.size());
        ASSERT_TRUE(std::adjacent_find(out_times.begin(), out_times.end(), std::greater_equal<>()) == out_times.end());
      }
      snapshot.bits[at] = good;
    }
  }
}

TEST(DecodeHeadChunk, ACountBeyondTheBitsReservesNoMemory) {
  std::vector<Timestamp> times;
  std::vector<double> values;
  const HeadChunk::Snapshot snapshot = {0xffffffff, std::string(100, '\0')};
  EXPECT_EQ(DecodeHeadChunk(snapshot, &times, &values).code(), StatusCode::kCorruption);
  EXPECT_LE(times.capacity(), 1000u);
  EXPECT_EQ(DecodeHeadChunk({0, "x"}, &times, &values).code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace tsdb::chunk
