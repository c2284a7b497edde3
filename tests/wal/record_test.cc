#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tests/wal/wal_test_util.h"
#include "wal/record.h"

namespace tsdb::wal {
namespace {

std::vector<Put> RoundTrip(const std::vector<Put>& puts) {
  RecordBuilder builder;
  builder.AddPuts(puts);
  Recorder recorder;
  EXPECT_TRUE(VisitRecord(builder.payload(), {7}, recorder).ok());
  return recorder.puts[0];
}

std::size_t BytesOf(const std::vector<Put>& puts) {
  RecordBuilder builder;
  builder.AddPuts(puts);
  return builder.payload().size();
}

std::vector<double> OddValues() {
  std::vector<double> values = {0.0, -0.0, 1, -1, 0.5, 1e300, -1e-300, 36028797018963968.0, -36028797018963968.0,
                                36028797018963967.0, 9007199254740993.0, 9.2e18, 1e19,
                                std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max(),
                                static_cast<double>(0.1f), 21.5, 127, 128, -128, -129};
  for (const std::uint64_t bits : {0x7ff8000000000000ull, 0x7ff0000000000002ull, 0xfff8dead0000beefull,
                                   0x7ff0000000000001ull, 0x0000000000000001ull, 0x8000000000000001ull}) {
    values.push_back(std::bit_cast<double>(bits));
  }
  for (unsigned bit = 0; bit < 64; ++bit) {
    values.push_back(std::bit_cast<double>(1ull << bit));
    values.push_back(std::ldexp(1.0, static_cast<int>(bit)));
    values.push_back(-std::ldexp(1.0, static_cast<int>(bit)) - 1);
  }
  return values;
}

TEST(Record, KeepsEveryValueBitForBit) {
  std::vector<Put> puts;
  for (const double value : OddValues()) {
    puts.push_back({{3}, 1'700'000'000'000, value});
    EXPECT_TRUE(SameBits(RoundTrip({puts.back()}), {puts.back()})) << value;
  }
  EXPECT_TRUE(SameBits(RoundTrip(puts), puts));
}

TEST(Record, KeepsEveryIdAndTime) {
  const std::vector<std::uint64_t> ids = {1,         2,        3,          1,     1000, 8'388'608,
                                          8'388'609, 1u << 30, 1ull << 40, ~0ull, 1,    ~0ull - 1};
  const std::vector<Timestamp> times = {kTimestampMin, kTimestampMax, 0, -1, 1, 2'147'483'647, -2'147'483'648, 15'000,
                                        30'000, 45'000, 45'000, 60'000, kTimestampMin, 75'000};
  std::vector<Put> puts;
  for (const std::uint64_t id : ids) {
    for (const Timestamp time : times) {
      puts.push_back({{id}, time, 1});
    }
  }
  EXPECT_TRUE(SameBits(RoundTrip(puts), puts));
}

TEST(Record, KeepsRandomPutsOfEveryCount) {
  std::mt19937_64 random(20240601);
  for (std::size_t count = 1; count < 800; count += 1 + count / 20) {
    std::vector<Put> puts;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t id = 1 + (random() >> (random() % 64)) % (~0ull - 1);
      auto time = static_cast<Timestamp>(random() >> (random() % 64));
      time = time == kNow ? 0 : time;
      puts.push_back({{id}, time, std::bit_cast<double>(random() << (random() % 64))});
    }
    ASSERT_TRUE(SameBits(RoundTrip(puts), puts)) << "seed 20240601 count " << count;
  }
}

TEST(Record, TakesFewBytesForTypicalPuts) {
  std::vector<Put> scrape;
  std::vector<Put> one_series;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    scrape.push_back({{i + 1}, 1'700'000'000'000, 0.1 * static_cast<double>(i) + 0.07});
    one_series.push_back({{9}, static_cast<Timestamp>(1'700'000'000'000 + 15'000 * i), static_cast<double>(i % 300)});
  }
  EXPECT_LE(BytesOf(scrape), 9 * 1000 + 20);
  EXPECT_LE(BytesOf(one_series), 3 * 1000 + 30);
}

TEST(Record, KeepsTheOrderOfDefinitionsAndPuts) {
  SeriesDefinition definition;
  definition.id = {42};
  definition.labels = Labels({{"__name__", "cpu"}, {"host", "a"}});
  definition.settings.duplicates = DuplicatePolicy::kMax;
  definition.settings.has_duplicates = true;
  RecordBuilder builder;
  EXPECT_TRUE(builder.empty());
  builder.AddPuts({});
  EXPECT_TRUE(builder.empty());
  builder.AddDefinition(definition);
  builder.AddPuts(PutsOf(3));
  builder.AddPuts(PutsOf(4));
  Recorder recorder;
  ASSERT_TRUE(VisitRecord(builder.payload(), {77}, recorder).ok());
  definition.commit = {77};
  ASSERT_EQ(recorder.definitions.size(), 1u);
  EXPECT_EQ(recorder.definitions[0], definition);
  std::vector<Put> both = PutsOf(3);
  for (const Put& put : PutsOf(4)) {
    both.push_back(put);
  }
  EXPECT_TRUE(SameBits(recorder.puts[0], both));
}

TEST(Record, ReportsReservedAndUnknownKindsAsNotSupported) {
  for (const unsigned kind : {0u, 3u, 4u, 6u, 9u, 14u, 15u, 255u}) {
    std::string payload = PayloadOf(1);
    payload += static_cast<char>(kind);
    payload += std::string("\x02xy", 3);
    Recorder recorder;
    EXPECT_EQ(VisitRecord(payload, {1}, recorder).code(), StatusCode::kNotSupported) << kind;
    EXPECT_TRUE(SameBits(recorder.puts[0], PutsOf(1))) << "what stands before was visited";
  }
}

TEST(Record, RefusesIdZeroAndTheTimeNow) {
  for (const Put bad : {Put{{0}, 5, 1}, Put{{1}, kNow, 1}}) {
    RecordBuilder builder;
    builder.AddPuts(std::vector<Put>{bad});
    Recorder recorder;
    EXPECT_EQ(VisitRecord(builder.payload(), {1}, recorder).code(), StatusCode::kCorruption);
  }
}

TEST(Record, ReportsEveryCutAsCorruption) {
  RecordBuilder builder;
  builder.AddPuts(PutsOf(4));
  for (std::size_t n = 1; n < builder.payload().size(); ++n) {
    Recorder recorder;
    EXPECT_EQ(VisitRecord(builder.payload().substr(0, n), {1}, recorder).code(), StatusCode::kCorruption) << n;
  }
}

TEST(Record, ReportsBytesLeftOverAsCorruption) {
  // put, body of 4 bytes: count 1, control, integer 1, and one byte too many.
  const std::string payload("\x01\x04\x01\x11\x02\x00", 6);
  Recorder recorder;
  EXPECT_EQ(VisitRecord(payload, {1}, recorder).code(), StatusCode::kCorruption);
}

TEST(Record, SurvivesRandomDamage) {
  std::mt19937_64 random(7);
  std::vector<Put> puts;
  for (std::uint64_t i = 0; i < 300; ++i) {
    puts.push_back({{1 + random() % 1000}, static_cast<Timestamp>(random() % 100'000), static_cast<double>(i) * 0.1});
  }
  RecordBuilder builder;
  SeriesDefinition definition;
  definition.id = {5};
  definition.labels = Labels({{"a", "b"}});
  builder.AddDefinition(definition);
  builder.AddPuts(puts);
  for (int round = 0; round < 20'000; ++round) {
    // A heap copy of exact size, so that a sanitizer sees a read behind the end.
    std::vector<char> bytes(builder.payload().begin(), builder.payload().end());
    bytes.resize(1 + random() % bytes.size());
    for (std::uint64_t flips = random() % 4; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    Recorder recorder;
    const Status status = VisitRecord({bytes.data(), bytes.size()}, {1}, recorder);
    ASSERT_TRUE(status.ok() || status.code() == StatusCode::kCorruption || status.code() == StatusCode::kNotSupported);
    ASSERT_LE(recorder.puts[0].size(), bytes.size());
  }
}

TEST(Record, ReturnsTheVisitorsError) {
  class Stopper final : public RecordVisitor {
   public:
    Status OnPuts(std::span<const Put>) override { return Status::Cancelled("enough"); }
    Status OnDefinition(const SeriesDefinition&) override { return {}; }
  } stopper;
  EXPECT_EQ(VisitRecord(PayloadOf(1), {1}, stopper).code(), StatusCode::kCancelled);
}

// The bytes of version 1 do not change: id +1, time in 8 bytes, the values 2 (integer) and 0.1 (all 8 bytes).
TEST(Record, HasTheBytesOfVersionOne) {
  RecordBuilder builder;
  builder.AddPuts(
      std::vector<Put>{{{1}, 1'700'000'000'000, 2}, {{2}, 1'700'000'000'000, 0.1}, {{2}, 1'700'000'000'000, 0.1}});
  const std::string expected(
      "\x01\x15\x03"
      "\x1d\x00\x68\xe5\xcf\x8b\x01\x00\x00\x04"
      "\x81\x9a\x99\x99\x99\x99\x99\xb9\x3f"
      "\x00",
      23);
  EXPECT_EQ(std::string(builder.payload()), expected);
}

}  // namespace
}  // namespace tsdb::wal
