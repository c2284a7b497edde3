// Queries against the plain way: random data in head, files and both, every aggregator, any bucket.
#include <cmath>
#include <cstdlib>
#include <random>

#include "tests/engine/engine_test_util.h"
#include "tests/engine/query_model.h"

namespace tsdb::engine {
namespace {

const std::vector<Aggregation> kAll = {
    Aggregator::kAvg,      Aggregator::kSum,          Aggregator::kMin,        Aggregator::kMax,
    Aggregator::kRange,    Aggregator::kCount,        Aggregator::kCountNan,   Aggregator::kCountAll,
    Aggregator::kFirst,    Aggregator::kLast,         Aggregator::kStdP,       Aggregator::kStdS,
    Aggregator::kVarP,     Aggregator::kVarS,         Aggregator::kTwa,        Aggregator::kIncrease,
    Aggregator::kRate,     Aggregation::Quantile(0.5), Aggregation::Quantile(1)};

std::vector<ModelRow> Ask(Database& db, const QuerySpec& spec) {
  std::vector<ModelRow> rows;
  auto result = db.Query(spec);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  ColumnBatch batch;
  while (result.ok() && (*result)->NextSeries()) {
    while ((*result)->NextBatch(&batch)) {
      for (std::size_t i = 0; i < batch.times.size(); ++i) {
        ModelRow row{batch.times[i], {}};
        for (const auto& column : batch.columns) {
          row.values.push_back(column[i]);
        }
        rows.push_back(std::move(row));
      }
    }
  }
  EXPECT_TRUE(!result.ok() || (*result)->status().ok()) << (*result)->status().ToString();
  return rows;
}

void ExpectSame(const std::vector<ModelRow>& got, const std::vector<ModelRow>& expected, const QuerySpec& spec) {
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    ASSERT_EQ(got[i].time, expected[i].time) << "row " << i;
    ASSERT_EQ(got[i].values.size(), expected[i].values.size());
    for (std::size_t k = 0; k < got[i].values.size(); ++k) {
      const double a = got[i].values[k];
      const double b = expected[i].values[k];
      if (spec.fill == Fill::kLinear && std::fabs(a - b) <= 1e-9 * std::fabs(b)) {
        continue;
      }
      ASSERT_TRUE(SameValue(spec.aggregators.empty() ? nullptr : &spec.aggregators[k], a, b, 1e6))
          << "row " << i << " time " << got[i].time << " "
          << (spec.aggregators.empty() ? "sample" : AggregationName(spec.aggregators[k])) << ": " << a << " instead of "
          << b;
    }
  }
  ASSERT_EQ(got.size(), expected.size());
}

/// Samples of a series in any order, with NaN, written in batches between flushes and merges.
class RandomSeries {
 public:
  RandomSeries(Database& db, SeriesRef ref, std::mt19937_64& random) : db_(db), ref_(ref), random_(random) {}

  void Write(std::size_t total) {
    const bool counter = random_() % 3 == 0;
    const bool even = random_() % 2 == 0;
    const bool nans = random_() % 2 == 0;
    const bool late = random_() % 3 == 0;
    const double divisor = random_() % 2 == 0 ? 100 : 7;
    double rising = 0;
    WriteBatch batch;
    for (std::size_t i = 0; i < total; ++i) {
      now_ += even ? 10 : 1 + static_cast<Timestamp>(random_() % 20);
      const Timestamp time = late && random_() % 40 == 0 ? now_ - static_cast<Timestamp>(random_() % 5000) : now_;
      rising = random_() % 300 == 0 ? 0 : rising + static_cast<double>(random_() % 100);
      double value = counter ? rising : static_cast<double>(random_() % 100'000) / divisor;
      if (nans && random_() % 400 == 0) {
        value = std::numeric_limits<double>::quiet_NaN();
      }
      batch.Add(ref_, time, value);
      samples_[time] = std::bit_cast<std::uint64_t>(value);
      if (random_() % 4000 == 0 || i + 1 == total) {
        ASSERT_TRUE(db_.Append(batch).ok());
        batch.Clear();
        if (random_() % 3 == 0) {
          TSDB_ASSERT_OK(db_.Flush());
        }
      }
      if (random_() % 2000 == 0) {
        now_ += 30'000;  // a gap
      }
    }
  }

  QuerySpec AnyQuery() {
    QuerySpec spec;
    const auto span = static_cast<std::uint64_t>(now_ + 40'000);
    spec.range.from = -30'000 + static_cast<Timestamp>(random_() % span);
    spec.range.to = spec.range.from + static_cast<Timestamp>(random_() % span);
    if (random_() % 4 == 0) {
      spec.range = {};
    }
    spec.bucket.width = 1 + static_cast<std::int64_t>(random_() % (1ull << (6 + random_() % 14)));
    spec.bucket.width = random_() % 6 == 0 ? 0 : spec.bucket.width;
    spec.bucket.align = static_cast<Timestamp>(random_() % 1000) - 500;
    spec.bucket.label = static_cast<BucketLabel>(random_() % 3);
    spec.reverse = random_() % 3 == 0;
    spec.limit = random_() % 3 == 0 ? 1 + random_() % 20 : 0;
    for (const Aggregation& aggregation : kAll) {
      // Few at a time, so that the needs of one do not hide what statistics make of another.
      if (random_() % 6 == 0) {
        spec.aggregators.push_back(aggregation);
      }
    }
    if (spec.bucket.width > 60 && !spec.aggregators.empty() && random_() % 2 == 0) {
      spec.fill = static_cast<Fill>(random_() % 6);
      spec.fill_value = -1;
    }
    if (random_() % 4 == 0) {
      spec.values = ValueRange{static_cast<double>(random_() % 3000), 500'000};
    }
    if (random_() % 8 == 0) {
      for (int i = 0; i < 200; ++i) {
        const auto any = static_cast<std::ptrdiff_t>(random_() % samples_.size());
        spec.times.push_back(std::next(samples_.begin(), any)->first);
      }
    }
    spec.use_statistics = random_() % 4 != 0;
    spec.threads = 1 + random_() % 3;
    return spec;
  }

  const Samples& samples() const { return samples_; }

 private:
  Database& db_;
  const SeriesRef ref_;
  std::mt19937_64& random_;
  Timestamp now_ = -20'000;
  Samples samples_;
};

TEST(Query, AnswersAsThePlainWayFromHeadFilesAndBoth) {
  const char* const wanted = std::getenv("TSDB_QUERY_SEEDS");
  const std::uint64_t seeds = wanted == nullptr ? 40 : std::strtoull(wanted, nullptr, 10);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    MemoryFileSystem fs;
    FakeClock clock;
    std::unique_ptr<Database> db;
    TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(&fs, &clock));
    RandomSeries series(*db, *db->CreateSeries(Series("m")), random);
    for (int round = 0; round < 3; ++round) {
      ASSERT_NO_FATAL_FAILURE(series.Write(100 + random() % (seed % 4 == 0 ? 15'000 : 3000)));
      if (round == 1 && seed % 2 == 0) {
        ASSERT_TRUE(db->Compact().ok());
      }
      for (int query = 0; query < 20; ++query) {
        SCOPED_TRACE("round " + std::to_string(round) + " query " + std::to_string(query));
        const QuerySpec spec = series.AnyQuery();
        const QueryModel model(series.samples(), spec, 1000);
        ASSERT_NO_FATAL_FAILURE(ExpectSame(Ask(*db, spec), model.Rows(), spec))
            << "width " << spec.bucket.width << " align " << spec.bucket.align << " range " << spec.range.from << ".."
            << spec.range.to << " fill " << FillName(spec.fill) << (spec.reverse ? " reverse" : "") << " limit "
            << spec.limit << (spec.use_statistics ? "" : " decoded") << (spec.values ? " by value" : "")
            << (spec.times.empty() ? "" : " by time");
      }
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
