// The engine through its public face: appends, line protocol import, scans, aggregates, bytes per sample.
//
// Data: TSBS cpu-only whole numbers. Durability: interval, the default. Every figure is wall time of one client thread.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bench/scratch_database.h"
#include "bench/tsbs_generator.h"
#include "tsdb/ingest.h"

namespace tsdb::bench {

namespace {

void SetItems(benchmark::State& state, std::uint64_t per_iteration) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * per_iteration));
}

/// Appends by ref in batches of 1000, time going on by 10 s per round over all series.
void BM_AppendByRef(benchmark::State& state) {
  constexpr std::size_t kBatch = 1000;
  TsbsGenerator generator({.hosts = static_cast<std::size_t>(state.range(0)) / TsbsGenerator::kFields,
                           .seconds = 1ll << 40});
  ScratchDatabase database;
  const std::vector<SeriesRef> refs = database.CreateSeries(generator);
  // The values of some rounds, made before the clock runs and walked over back and forth, so that they stay a walk.
  constexpr std::int64_t kRoundsMax = 64;
  std::vector<std::vector<double>> rounds;
  for (std::int64_t round = 0; round < kRoundsMax && generator.Next(); ++round) {
    std::vector<double>& values = rounds.emplace_back(refs.size());
    for (std::size_t series = 0; series < refs.size(); ++series) {
      values[series] = generator.Value(series);
    }
  }

  WriteBatch batch;
  std::size_t series = 0;
  std::int64_t round = 0;
  for (auto _ : state) {
    batch.Clear();
    const std::int64_t phase = round % (2 * kRoundsMax);
    const auto& values = rounds[static_cast<std::size_t>(phase < kRoundsMax ? phase : 2 * kRoundsMax - 1 - phase)];
    const Timestamp time = 1'704'067'200'000 + round * 10'000;
    for (std::size_t i = 0; i < kBatch; ++i, ++series) {
      batch.Add(refs[series], time, values[series]);
    }
    if (series == refs.size()) {
      series = 0;
      ++round;
    }
    const AppendResult result = Must(database->Append(batch));
    if (result.stored != kBatch) {
      state.SkipWithError("a sample was refused");
      return;
    }
  }
  SetItems(state, kBatch);
}
BENCHMARK(BM_AppendByRef)->ArgName("series")->Arg(1'000)->Arg(100'000)->UseRealTime()->MinTime(3);

/// Text to stored samples: an hour of 100 hosts per iteration, 360 k samples, into a new database.
/// Text in memory to samples in a database: parser, label look-up, log and head.
void RunIngest(benchmark::State& state, const ImportOptions& options, const std::string& text) {
  std::uint64_t samples = 0;
  for (auto _ : state) {
    state.PauseTiming();
    {
      ScratchDatabase database;
      state.ResumeTiming();
      auto importer =
          Must(Importer::Create(options, [&](const WriteBatch& batch) { return database->Append(batch); }));
      MustBeOk(importer->Feed(text));
      MustBeOk(importer->Finish());
      samples = importer->summary().stored;
      state.PauseTiming();
    }
    state.ResumeTiming();
  }
  SetItems(state, samples);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

void BM_IngestLineProtocol(benchmark::State& state) {
  TsbsGenerator generator({.hosts = 100, .seconds = 3600});
  std::string text;
  while (generator.Next()) {
    generator.AppendInflux(&text);
  }
  ImportOptions options;
  options.format = TextFormat::kInflux;
  RunIngest(state, options, text);
}
BENCHMARK(BM_IngestLineProtocol)->UseRealTime()->Unit(benchmark::kMillisecond);

/// A row per host and time: one time, ten label and ten value columns.
void BM_IngestWideCsv(benchmark::State& state) {
  TsbsGenerator generator({.hosts = 100, .seconds = 3600});
  std::string text = TsbsGenerator::CsvHeader();
  while (generator.Next()) {
    generator.AppendCsv(&text);
  }
  ImportOptions options;
  options.format = TextFormat::kCsv;
  options.metric = "cpu";
  options.csv.time_column = "time_ms";
  options.csv.label_columns = {"hostname", "region", "datacenter", "rack",            "os",
                               "arch",     "team",   "service",    "service_version", "service_environment"};
  options.csv.value_columns = {"usage_user", "usage_system",  "usage_idle",  "usage_nice",  "usage_iowait",
                               "usage_irq",  "usage_softirq", "usage_steal", "usage_guest", "usage_guest_nice"};
  RunIngest(state, options, text);
}
BENCHMARK(BM_IngestWideCsv)->UseRealTime()->Unit(benchmark::kMillisecond);

constexpr std::size_t kReadHosts = 100;
constexpr std::int64_t kReadSeconds = 24 * 3600;

/// 1000 series of a day, 8.64 M samples, all in files.
struct ReadDatabase {
  ReadDatabase() {
    TsbsGenerator generator({.hosts = kReadHosts, .seconds = kReadSeconds});
    samples = database.Fill(&generator);
    MustBeOk(database->Flush());
  }
  ScratchDatabase database;
  std::uint64_t samples = 0;

  static ReadDatabase& Instance() {
    static ReadDatabase instance;
    return instance;
  }
};

struct Answer {
  std::uint64_t rows = 0;
  double sum = 0;
};

Answer RunQuery(Database& database, const QuerySpec& spec) {
  Answer answer;
  auto result = Must(database.Query(spec));
  ColumnBatch batch;
  while (result->NextSeries()) {
    while (result->NextBatch(&batch)) {
      answer.rows += batch.times.size();
      for (const double value : batch.columns[0]) {
        answer.sum += value;
      }
    }
  }
  MustBeOk(result->status());
  return answer;
}

/// Every sample of every series.
void BM_FullScan(benchmark::State& state) {
  ReadDatabase& data = ReadDatabase::Instance();
  for (auto _ : state) {
    const Answer answer = RunQuery(*data.database, {});
    benchmark::DoNotOptimize(answer.sum);
    if (answer.rows != data.samples) {
      state.SkipWithError("samples are missing");
      return;
    }
  }
  SetItems(state, data.samples);
}
BENCHMARK(BM_FullScan)->UseRealTime()->Unit(benchmark::kMillisecond);

void RunAggregate(benchmark::State& state, Aggregator aggregator) {
  ReadDatabase& data = ReadDatabase::Instance();
  QuerySpec spec;
  spec.aggregators = {aggregator};
  spec.bucket.width = state.range(0) * 60'000;
  const std::uint64_t rows = kReadHosts * TsbsGenerator::kFields * kReadSeconds / 60 / state.range(0);
  for (auto _ : state) {
    const Answer answer = RunQuery(*data.database, spec);
    benchmark::DoNotOptimize(answer.sum);
    if (answer.rows != rows) {
      state.SkipWithError("buckets are missing");
      return;
    }
  }
  SetItems(state, data.samples);  // samples answered for, decoded or not
}
void BM_AverageOfAll(benchmark::State& state) { RunAggregate(state, Aggregator::kAvg); }
void BM_MaximumOfAll(benchmark::State& state) { RunAggregate(state, Aggregator::kMax); }
BENCHMARK(BM_AverageOfAll)->ArgName("minutes")->Arg(1)->Arg(60)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_MaximumOfAll)->ArgName("minutes")->Arg(1)->Arg(60)->UseRealTime()->Unit(benchmark::kMillisecond);

/// TSBS single-groupby-1-1-1: maximum per minute of one metric of one host over one hour.
void BM_OneHostOneHour(benchmark::State& state) {
  ReadDatabase& data = ReadDatabase::Instance();
  QuerySpec spec;
  spec.selector = Must(Selector::Parse("cpu_usage_user{hostname=\"host_42\"}"));
  spec.range = {1'704'067'200'000 + 3'600'000, 1'704'067'200'000 + 2 * 3'600'000 - 1};
  spec.aggregators = {Aggregator::kMax};
  spec.bucket.width = 60'000;
  for (auto _ : state) {
    const Answer answer = RunQuery(*data.database, spec);
    benchmark::DoNotOptimize(answer.sum);
    if (answer.rows != 60) {
      state.SkipWithError("buckets are missing");
      return;
    }
  }
}
BENCHMARK(BM_OneHostOneHour)->UseRealTime()->Unit(benchmark::kMicrosecond);

/// Not a time but a size: every file of the database after a flush, per sample. Index, catalogue, manifest and log
/// count.
void BM_BytesPerSample(benchmark::State& state) {
  double bytes = 0;
  for (auto _ : state) {
    TsbsGenerator generator({.hosts = 100,
                             .seconds = state.range(0) * 3600,
                             .whole_numbers = state.range(1) == 0});
    ScratchDatabase database;
    const std::uint64_t samples = database.Fill(&generator);
    MustBeOk(database->Flush());
    MustBeOk(database->Close());
    bytes = static_cast<double>(database.BytesOnDisk()) / static_cast<double>(samples);
  }
  state.counters["bytes_per_sample"] = bytes;
}
BENCHMARK(BM_BytesPerSample)
    ->ArgNames({"hours", "doubles"})
    ->Args({3, 0})
    ->Args({24, 0})
    ->Args({24, 1})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace tsdb::bench
