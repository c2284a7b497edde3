#include "base/coding.h"

#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "tests/base/random_text.h"

namespace tsdb {
namespace {

TEST(Varint, RoundTripsAtEveryWidth) {
  std::string bytes;
  for (unsigned bit = 0; bit < 64; ++bit) {
    PutVarint(&bytes, 1ull << bit);
    PutVarint(&bytes, (1ull << bit) - 1);
    PutVarintSigned(&bytes, static_cast<std::int64_t>(1ull << bit));
  }
  PutVarint(&bytes, std::numeric_limits<std::uint64_t>::max());
  ByteReader reader(bytes);
  for (unsigned bit = 0; bit < 64; ++bit) {
    std::uint64_t v = 0;
    std::int64_t s = 0;
    ASSERT_TRUE(reader.ReadVarint(&v));
    EXPECT_EQ(v, 1ull << bit);
    ASSERT_TRUE(reader.ReadVarint(&v));
    EXPECT_EQ(v, (1ull << bit) - 1);
    ASSERT_TRUE(reader.ReadVarintSigned(&s));
    EXPECT_EQ(s, static_cast<std::int64_t>(1ull << bit));
  }
  std::uint64_t last = 0;
  ASSERT_TRUE(reader.ReadVarint(&last));
  EXPECT_EQ(last, std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(reader.empty());
}

TEST(ByteReader, RefusesVarintsThatAreCutOffOrTooLong) {
  for (const std::string& bytes : {std::string("\x80"), std::string(9, '\xff') + '\x02', std::string(11, '\x80')}) {
    ByteReader reader(bytes);
    std::uint64_t v = 0;
    EXPECT_FALSE(reader.ReadVarint(&v));
    EXPECT_FALSE(reader.ok());
  }
}

TEST(ByteReader, StaysFailedAfterTheFirstFailure) {
  std::string bytes;
  PutFixed32(&bytes, 7);
  PutLengthPrefixed(&bytes, "abc");
  bytes += "\x05xy";
  ByteReader reader(bytes);
  std::uint32_t fixed = 0;
  std::string_view text;
  ASSERT_TRUE(reader.ReadFixed(&fixed));
  ASSERT_TRUE(reader.ReadLengthPrefixed(&text));
  EXPECT_EQ(text, "abc");
  EXPECT_EQ(reader.offset(), 8u);
  EXPECT_FALSE(reader.ReadLengthPrefixed(&text)) << "5 bytes are announced, 2 are there";
  EXPECT_FALSE(reader.ReadBytes(0, &text));
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(ByteReader, RefusesALengthBeyondTheAddressSpace) {
  std::string bytes;
  PutVarint(&bytes, std::numeric_limits<std::uint64_t>::max());
  ByteReader reader(bytes);
  std::string_view text;
  EXPECT_FALSE(reader.ReadLengthPrefixed(&text));
}

TEST(Checksum, IsXxh3AndDependsOnThePlace) {
  EXPECT_EQ(Checksum64("", 0), 0x2D06800538D394C2ull) << "the published value for no bytes";
  EXPECT_EQ(Checksum32("abc", 5), static_cast<std::uint32_t>(Checksum64("abc", 5)));
  EXPECT_NE(Checksum64("abc", 0), Checksum64("abc", 1));
  EXPECT_NE(Checksum64("abc", 0), Checksum64("abd", 0));
}

TEST(Clock, WallTimeRoundsTowardsMinusInfinity) {
  FakeClock clock(1'700'000'000'999'999'999);
  EXPECT_EQ(WallTime(clock, TimeUnit::kSeconds), 1'700'000'000);
  EXPECT_EQ(WallTime(clock, TimeUnit::kMilliseconds), 1'700'000'000'999);
  EXPECT_EQ(WallTime(clock, TimeUnit::kNanoseconds), 1'700'000'000'999'999'999);
  clock.SetWall(-1);
  EXPECT_EQ(WallTime(clock, TimeUnit::kSeconds), -1);
}

TEST(Clock, FakeClockMovesOnlyWhenTold) {
  FakeClock clock(100);
  const std::int64_t start = clock.MonotonicNanos();
  clock.Advance(7);
  EXPECT_EQ(clock.WallNanos(), 107);
  EXPECT_EQ(clock.MonotonicNanos(), start + 7);
  clock.SetWall(5);
  EXPECT_EQ(clock.MonotonicNanos(), start + 7);
}

TEST(Clock, TheMachinesClockDoesNotGoBack) {
  Clock& clock = SystemClock();
  const std::int64_t first = clock.MonotonicNanos();
  EXPECT_GE(clock.MonotonicNanos(), first);
  EXPECT_GT(clock.WallNanos(), 1'600'000'000'000'000'000);
}

}  // namespace
}  // namespace tsdb
