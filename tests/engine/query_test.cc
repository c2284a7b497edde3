// Queries against the plain way: random data in head, files and both, every aggregator, any bucket.
#include <cmath>
#include <random>

#include "engine/query/bucket_state.h"
#include "tests/engine/engine_test_util.h"

namespace tsdb::engine {
namespace {

constexpr Aggregator kAll[] = {Aggregator::kAvg,   Aggregator::kSum,      Aggregator::kMin,      Aggregator::kMax,
                               Aggregator::kRange, Aggregator::kCount,    Aggregator::kCountNan, Aggregator::kCountAll,
                               Aggregator::kFirst, Aggregator::kLast,     Aggregator::kStdP,     Aggregator::kStdS,
                               Aggregator::kVarP,  Aggregator::kVarS};

struct Row {
  Timestamp time;
  std::vector<std::uint64_t> bits;
  friend bool operator==(const Row&, const Row&) = default;
};

/// Buckets of a map of samples, one at a time.
std::vector<Row> PlainAggregate(const Samples& samples, const QuerySpec& spec) {
  std::map<Timestamp, std::vector<double>> buckets;
  for (const auto& [time, bits] : samples) {
    if (!spec.range.Contains(time)) {
      continue;
    }
    Timestamp start = spec.range.from;
    if (spec.bucket.width != 0) {
      // Floor towards minus infinity, in wide integers.
      const auto shifted = static_cast<long double>(time) - static_cast<long double>(spec.bucket.align);
      start = static_cast<Timestamp>(std::floor(shifted / static_cast<long double>(spec.bucket.width))) *
                  spec.bucket.width + spec.bucket.align;
    }
    buckets[start].push_back(std::bit_cast<double>(bits));
  }
  std::vector<Row> rows;
  for (const auto& [start, values] : buckets) {
    Row row{start, {}};
    BucketState state;
    state.Add(values, BucketNeeds(spec.aggregators));
    for (const Aggregation& aggregator : spec.aggregators) {
      row.bits.push_back(std::bit_cast<std::uint64_t>(state.Finish(aggregator)));
    }
    rows.push_back(std::move(row));
  }
  if (spec.reverse) {
    std::reverse(rows.begin(), rows.end());
  }
  if (spec.limit != 0 && rows.size() > spec.limit) {
    rows.resize(spec.limit);
  }
  return rows;
}

/// Variances depend on how the samples came in pieces, in the last digits only; all else is the same to the bit.
void ExpectSame(const std::vector<Row>& got, const std::vector<Row>& expected, const QuerySpec& spec) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].time, expected[i].time);
    for (std::size_t k = 0; k < spec.aggregators.size(); ++k) {
      const auto a = std::bit_cast<double>(got[i].bits[k]);
      const auto b = std::bit_cast<double>(expected[i].bits[k]);
      if (spec.aggregators[k].aggregator >= Aggregator::kStdP && std::isfinite(a)) {
        ASSERT_LE(std::fabs(a - b), std::fabs(b) * 1e-12) << AggregationName(spec.aggregators[k]);
      } else if (std::isnan(a)) {
        ASSERT_TRUE(std::isnan(b)) << AggregationName(spec.aggregators[k]);
      } else {
        ASSERT_EQ(got[i].bits[k], expected[i].bits[k]) << AggregationName(spec.aggregators[k]);
      }
    }
  }
}

std::vector<Row> Ask(Database& db, const QuerySpec& spec) {
  std::vector<Row> rows;
  auto result = db.Query(spec);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  ColumnBatch batch;
  while (result.ok() && (*result)->NextSeries()) {
    while ((*result)->NextBatch(&batch)) {
      for (std::size_t i = 0; i < batch.times.size(); ++i) {
        Row row{batch.times[i], {}};
        for (const auto& column : batch.columns) {
          row.bits.push_back(std::bit_cast<std::uint64_t>(column[i]));
        }
        rows.push_back(std::move(row));
      }
    }
  }
  EXPECT_TRUE(!result.ok() || (*result)->status().ok());
  return rows;
}

TEST(Query, AggregatesEqualThePlainWayFromHeadFilesAndBoth) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    MemoryFileSystem fs;
    FakeClock clock;
    std::unique_ptr<Database> db;
    TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(&fs, &clock));
    const SeriesRef ref = *db->CreateSeries(Series("m"));
    Samples samples;
    Timestamp now = -20'000;
    const std::size_t total = 200 + random() % 6000;
    WriteBatch batch;
    for (std::size_t i = 0; i < total; ++i) {
      now += 1 + static_cast<Timestamp>(random() % 20);
      const Timestamp time = random() % 10 == 0 ? now - static_cast<Timestamp>(random() % 5000) : now;
      double value = static_cast<double>(random() % 100'000) / (seed % 2 == 0 ? 100 : 7);
      if (random() % 50 == 0) {
        value = std::numeric_limits<double>::quiet_NaN();
      }
      batch.Add(ref, time, value);
      samples[time] = std::bit_cast<std::uint64_t>(value);
      if (random() % 400 == 0 || i + 1 == total) {
        ASSERT_TRUE(db->Append(batch).ok());
        batch.Clear();
        if (random() % 3 == 0) {
          TSDB_ASSERT_OK(db->Flush());
        }
      }
    }
    for (int query = 0; query < 12; ++query) {
      QuerySpec spec;
      spec.range.from = -30'000 + static_cast<Timestamp>(random() % 60'000);
      spec.range.to = spec.range.from + static_cast<Timestamp>(random() % 80'000);
      spec.bucket.width = query % 6 == 5 ? 0 : 1 + static_cast<std::int64_t>(random() % (query % 2 == 0 ? 50 : 9000));
      spec.bucket.align = static_cast<Timestamp>(random() % 1000) - 500;
      spec.reverse = random() % 3 == 0;
      spec.limit = random() % 3 == 0 ? 1 + random() % 20 : 0;
      spec.aggregators.assign(std::begin(kAll), std::end(kAll));
      ASSERT_NO_FATAL_FAILURE(ExpectSame(Ask(*db, spec), PlainAggregate(samples, spec), spec));
    }
  }
}

TEST(Query, LabelsABucketWhereAskedFor) {
  MemoryFileSystem fs;
  FakeClock clock;
  std::unique_ptr<Database> db;
  TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(&fs, &clock));
  const SeriesRef ref = *db->CreateSeries(Series("m"));
  TSDB_ASSERT_OK(Put(*db, ref, 15, 1));
  QuerySpec spec;
  spec.aggregators = {Aggregator::kSum};
  spec.bucket.width = 10;
  for (const auto& [label, time] :
       {std::pair{BucketLabel::kStart, 10}, {BucketLabel::kMid, 15}, {BucketLabel::kEnd, 20}}) {
    spec.bucket.label = label;
    EXPECT_EQ(ReadRows(*db, spec)[0].time, time);
  }
  spec.bucket.width = -1;
  EXPECT_EQ(db->Query(spec).status().code(), StatusCode::kInvalidArgument);
}

TEST(Query, FarTimesDoNotOverflow) {
  MemoryFileSystem fs;
  FakeClock clock;
  OpenOptions options = QuietOptions();
  options.future_limit_ms = -1;
  std::unique_ptr<Database> db;
  TSDB_ASSERT_OPEN(db, "/db", options, MemoryEnvironment(&fs, &clock));
  const SeriesRef ref = *db->CreateSeries(Series("m"));
  TSDB_ASSERT_OK(Put(*db, ref, kTimestampMin, 1));
  TSDB_ASSERT_OK(Put(*db, ref, 0, 2));
  TSDB_ASSERT_OK(Put(*db, ref, kTimestampMax, 3));
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_EQ(ReadRows(*db, {}).size(), 3u);
    QuerySpec spec;
    spec.aggregators = {Aggregator::kCount};
    for (const std::int64_t width : {std::int64_t{1}, std::int64_t{1000}, kTimestampMax}) {
      spec.bucket.width = width;
      double count = 0;
      for (const Sample& row : ReadRows(*db, spec)) {
        count += row.value;
      }
      EXPECT_EQ(count, 3) << width;
    }
    TSDB_ASSERT_OK(db->Flush());
  }
}

TEST(Query, MoreSeriesThanAllowedIsAnError) {
  MemoryFileSystem fs;
  FakeClock clock;
  std::unique_ptr<Database> db;
  TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(&fs, &clock));
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(db->CreateSeries(Series(name)).ok());
  }
  QuerySpec spec;
  spec.limits.series_max = 2;
  EXPECT_EQ(db->Query(spec).status().code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace tsdb::engine
