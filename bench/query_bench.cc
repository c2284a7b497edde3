// Queries: one series of a year of seconds (31.5 M samples), and 1000 series of a day with many buckets.
//
// Figures are wall time; items are samples answered for, decoded or not. Threads: the argument.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench/scratch_database.h"
#include "bench/tsbs_generator.h"

namespace tsdb::bench {

namespace {

constexpr std::int64_t kLongSamples = 31'500'000;

/// The files stay as they are flushed.
OpenOptions WithoutMerging() {
  OpenOptions options;
  options.merging = false;
  return options;
}

/// A gauge with two decimals, once a second for a year.
struct LongSeries {
  explicit LongSeries(bool compact) {
    const SeriesRef ref = Must(database->CreateSeries({{"__name__", "gauge"}}));
    std::mt19937_64 random(1);
    std::int64_t cents = 50'000;
    WriteBatch batch;
    for (std::int64_t i = 0; i < kLongSamples; ++i) {
      cents += static_cast<std::int64_t>(random() % 201) - 100;
      batch.Add(ref, 1'600'000'000'000 + i * 1000, static_cast<double>(cents) / 100);
      if (batch.size() == 100'000) {
        Must(database->Append(batch));
        batch.Clear();
      }
    }
    Must(database->Append(batch));
    MustBeOk(database->Flush());
    if (compact) {
      Must(database->Compact());
    }
  }
  ScratchDatabase database{WithoutMerging()};

  static LongSeries& Instance() {
    static LongSeries instance(false);
    return instance;
  }
  static LongSeries& Compacted() {
    static LongSeries instance(true);
    return instance;
  }
};

std::uint64_t Drain(Database& database, const QuerySpec& spec) {
  auto result = Must(database.Query(spec));
  ColumnBatch batch;
  std::uint64_t rows = 0;
  while (result->NextSeries()) {
    while (result->NextBatch(&batch)) {
      rows += batch.times.size();
      benchmark::DoNotOptimize(batch.columns[0].data());
    }
  }
  MustBeOk(result->status());
  return rows;
}

void Aggregate(benchmark::State& state, LongSeries& data, const std::vector<Aggregation>& aggregators,
               bool use_statistics, std::int64_t width) {
  QuerySpec spec;
  spec.aggregators = aggregators;
  spec.use_statistics = use_statistics;
  spec.bucket.width = width;
  spec.threads = 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(Drain(*data.database, spec));
  }
  state.SetItemsProcessed(state.iterations() * kLongSamples);
}

const std::vector<Aggregation> kByStatistics = {Aggregator::kCount, Aggregator::kMin, Aggregator::kMax,
                                                Aggregator::kRange, Aggregator::kSum, Aggregator::kAvg,
                                                Aggregator::kFirst, Aggregator::kLast};

/// Asked for the first time after an opening, which has to read what statistics there are.
void FirstSummary(benchmark::State& state) {
  LongSeries& data = state.range(0) == 1 ? LongSeries::Compacted() : LongSeries::Instance();
  QuerySpec spec;
  spec.aggregators = kByStatistics;
  for (auto _ : state) {
    state.PauseTiming();
    data.database.CrashAndReopen();
    state.ResumeTiming();
    benchmark::DoNotOptimize(Drain(*data.database, spec));
  }
}
BENCHMARK(FirstSummary)->ArgName("compacted")->Arg(0)->Arg(1)->Iterations(9)->Unit(benchmark::kMicrosecond);

void OneSeries(benchmark::State& state, const std::vector<Aggregation>& aggregators, bool use_statistics,
               std::int64_t width) {
  Aggregate(state, LongSeries::Instance(), aggregators, use_statistics, width);
}
BENCHMARK_CAPTURE(OneSeries, CountMinMaxSumAvgFirstLast, kByStatistics, true, 0)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(OneSeries, SumPerDay, {Aggregator::kSum}, true, 86'400'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(OneSeries, IncreasePerDay, {Aggregator::kIncrease}, true, 86'400'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(OneSeries, SumDecoded, {Aggregator::kSum}, false, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(OneSeries, CountDecoded, {Aggregator::kCount}, false, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(OneSeries, StdP, {Aggregator::kStdP}, true, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(OneSeries, Twa, {Aggregator::kTwa}, true, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(OneSeries, TwaDecoded, {Aggregator::kTwa}, false, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(OneSeries, Samples, {}, true, 0)->Unit(benchmark::kMillisecond);

/// Every sample decoded from the dense encodings of compacted files.
void SumDecodedAfterCompact(benchmark::State& state) {
  Aggregate(state, LongSeries::Compacted(), {Aggregator::kSum}, false, 0);
}
BENCHMARK(SumDecodedAfterCompact)->Unit(benchmark::kMillisecond);

/// The newest sample of a long series.
void Latest(benchmark::State& state) {
  LongSeries& data = LongSeries::Instance();
  QuerySpec spec;
  spec.latest = true;
  for (auto _ : state) {
    benchmark::DoNotOptimize(Drain(*data.database, spec));
  }
}
BENCHMARK(Latest)->Unit(benchmark::kMicrosecond);

/// 1000 series of a day, 8.64 M samples, all in files.
struct ManySeries {
  ManySeries() {
    TsbsGenerator generator({.hosts = 100, .seconds = 24 * 3600});
    samples = database.Fill(&generator);
    MustBeOk(database->Flush());
  }
  ScratchDatabase database;
  std::uint64_t samples = 0;

  static ManySeries& Instance() {
    static ManySeries instance;
    return instance;
  }
};

/// Averages per hour over 12 hours of all series: TSBS double-groupby-all.
void HourlyAverages(benchmark::State& state) {
  ManySeries& data = ManySeries::Instance();
  QuerySpec spec;
  spec.range = {1'704'067'200'000, 1'704'067'200'000 + 12 * 3'600'000 - 1};
  spec.aggregators = {Aggregator::kAvg};
  spec.bucket.width = 3'600'000;
  spec.threads = static_cast<unsigned>(state.range(0));
  for (auto _ : state) {
    if (Drain(*data.database, spec) != 12'000) {
      state.SkipWithError("buckets are missing");
      return;
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(data.samples / 2));
}
BENCHMARK(HourlyAverages)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

/// The newest sample of each of 1000 series: TSBS lastpoint.
void LatestOfAll(benchmark::State& state) {
  ManySeries& data = ManySeries::Instance();
  QuerySpec spec;
  spec.latest = true;
  spec.threads = static_cast<unsigned>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(Drain(*data.database, spec));
  }
}
BENCHMARK(LatestOfAll)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMicrosecond);

/// Maxima per minute over an hour: TSBS single-groupby-1-1-1, and of 8 hosts reduced to one.
void OneHour(benchmark::State& state) {
  ManySeries& data = ManySeries::Instance();
  QuerySpec spec;
  spec.selector = Must(Selector::Parse(state.range(0) == 1 ? "cpu_usage_user{hostname=\"host_42\"}"
                                                           : "cpu_usage_user{hostname=~\"host_1[0-7]\"}"));
  spec.range = {1'704'067'200'000 + 3'600'000, 1'704'067'200'000 + 2 * 3'600'000 - 1};
  spec.aggregators = {Aggregator::kMax};
  spec.bucket.width = 60'000;
  spec.reduce = Aggregation(Aggregator::kMax);
  for (auto _ : state) {
    if (Drain(*data.database, spec) != 60) {
      state.SkipWithError("buckets are missing");
      return;
    }
  }
}
BENCHMARK(OneHour)->ArgName("hosts")->Arg(1)->Arg(8)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace

}  // namespace tsdb::bench
