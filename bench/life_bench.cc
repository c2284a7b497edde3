// The life of data: samples that come late, a load beside its merges, deletes of many series, the first append after
// reopening.
//
// CPU times are those of the whole process, background threads included: the clock says little on a busy machine.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/scratch_database.h"
#include "bench/tsbs_generator.h"

namespace tsdb::bench {
namespace {

double WallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Batches of 10,000 samples of 1,000 series, all known before the clock starts. Of every `late_every` samples one
/// comes an hour to a day behind the others.
std::vector<WriteBatch> LateBatches(const std::vector<SeriesRef>& refs, int late_every) {
  constexpr int kRows = 2000;
  constexpr Timestamp kStart = 1'704'067'200'000;
  std::vector<WriteBatch> batches;
  std::uint64_t random = 1;
  std::vector<double> values(refs.size(), 50);
  for (int row = 0; row < kRows; ++row) {
    if (row % 10 == 0) {
      batches.emplace_back();
    }
    for (std::size_t s = 0; s < refs.size(); ++s) {
      random = random * 6364136223846793005ull + 1442695040888963407ull;
      const auto bits = static_cast<int>(random >> 40);
      values[s] = std::clamp(values[s] + bits % 7 - 3, 0.0, 100.0);
      Timestamp time = kStart + Timestamp{row} * 10'000;
      if (late_every != 0 && (bits >> 4) % late_every == 0) {
        time -= 3'600'000 + (bits % 8280) * 10'000 + 5'000;
      }
      batches.back().Add(refs[s], time, values[s]);
    }
  }
  return batches;
}

/// 2 M samples over 1,000 series, flush included. mode 0: `last`; 1: `last`, counted; 2: `max`.
void BM_Late(benchmark::State& state) {
  WriteOptions write;
  write.count_replaced = state.range(1) == 1;
  write.has_duplicates = state.range(1) == 2;
  write.duplicates = DuplicatePolicy::kMax;
  std::int64_t samples = 0;
  for (auto _ : state) {
    ScratchDatabase database;
    const std::vector<SeriesRef> refs = database.CreateSeries(TsbsGenerator({.hosts = 100}));
    // The day before is in files, so that a policy has something to look up.
    WriteBatch before;
    for (int row = 0; row < 1500; ++row) {
      for (const SeriesRef ref : refs) {
        before.Add(ref, 1'704'067'200'000 - 90'000'000 + Timestamp{row} * 60'000, row % 100);
      }
      if (before.size() >= 100'000) {
        Must(database->Append(before));
        before.Clear();
      }
    }
    MustBeOk(database->Flush());
    const std::vector<WriteBatch> batches = LateBatches(refs, static_cast<int>(state.range(0)));
    const double begin = ProcessorSeconds();
    for (const WriteBatch& batch : batches) {
      const AppendResult result = Must(database->Append(batch, write));
      samples += static_cast<std::int64_t>(result.stored + result.ignored);
    }
    MustBeOk(database->Flush());
    state.SetIterationTime(ProcessorSeconds() - begin);
    MustBeOk(database->Close());
  }
  state.SetItemsProcessed(samples);
}
BENCHMARK(BM_Late)
    ->ArgNames({"late_every", "mode"})
    ->ArgsProduct({{0, 10}, {0, 1, 2}})
    ->Iterations(3)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// TSBS, 1,000 series × 2 days × 1/10 s, flushed every four hours of data. CPU time of it all; what merging wrote; the
/// rate of the writer by the clock.
void BM_LoadBesideMerges(benchmark::State& state) {
  const bool merging = state.range(0) == 1;
  double amplification = 0;
  double rate = 0;
  double merges = 0;
  for (auto _ : state) {
    OpenOptions options;
    options.merging = merging;
    ScratchDatabase database(options);
    TsbsGenerator generator({.hosts = 100, .seconds = 48 * 3600});
    const std::vector<SeriesRef> refs = database.CreateSeries(generator);
    WriteBatch batch;
    const double cpu = ProcessorSeconds();
    double writing = 0;
    std::uint64_t samples = 0;
    for (int row = 1; generator.Next(); ++row) {
      generator.AddTo(refs, &batch);
      if (batch.size() >= 10'000) {
        const double begin = WallSeconds();
        Must(database->Append(batch));
        writing += WallSeconds() - begin;
        samples += batch.size();
        batch.Clear();
      }
      if (row % 1440 == 0) {
        MustBeOk(database->Flush());
      }
    }
    database.WaitForJobs();
    state.SetIterationTime(ProcessorSeconds() - cpu);
    const Stats stats = database->GetStats();
    amplification = stats.write_amplification;
    merges = static_cast<double>(stats.merges);
    rate = static_cast<double>(samples) / writing;
    MustBeOk(database->Close());
  }
  state.counters["write_amplification"] = amplification;
  state.counters["merges"] = merges;
  state.counters["appended_per_second"] = rate;
}
BENCHMARK(BM_LoadBesideMerges)
    ->ArgName("merging")
    ->Arg(0)
    ->Arg(1)
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

constexpr std::size_t kMillion = 1'000'000;
constexpr std::size_t kBatch = 10'000;

std::vector<Labels> MillionLabels() {
  std::vector<Labels> labels;
  labels.reserve(kMillion);
  for (std::size_t i = 0; i < kMillion; ++i) {
    labels.push_back({{"__name__", "requests"},
                      {"instance", "host-" + std::to_string(i / 100)},
                      {"job", "api"},
                      {"path", "/p/" + std::to_string(i % 100)}});
  }
  return labels;
}

/// A sample of each series, by ref unless `refs` is empty. CPU seconds.
double AppendRound(Database& database, const std::vector<Labels>& labels, const std::vector<SeriesRef>& refs,
                   Timestamp time) {
  std::vector<WriteBatch> batches;
  for (std::size_t begin = 0; begin < kMillion; begin += kBatch) {
    WriteBatch& batch = batches.emplace_back();
    for (std::size_t i = begin; i < begin + kBatch; ++i) {
      refs.empty() ? batch.Add(labels[i], time, 1) : batch.Add(refs[i], time, 1);
    }
  }
  const double cpu = ProcessorSeconds();
  for (const WriteBatch& batch : batches) {
    Must(database.Append(batch));
  }
  return ProcessorSeconds() - cpu;
}

void BM_FirstAppendAfterReopen(benchmark::State& state) {
  const bool by_ref = state.range(0) == 1;
  const std::vector<Labels> labels = MillionLabels();
  double first = 0;
  double steady = 0;
  for (auto _ : state) {
    ScratchDatabase database;
    std::vector<SeriesRef> refs;
    refs.reserve(kMillion);
    for (std::size_t begin = 0; begin < kMillion; begin += kBatch) {
      WriteBatch batch;
      for (std::size_t i = begin; i < begin + kBatch; ++i) {
        batch.Add(labels[i], 1'704'067'200'000, 1);
      }
      const AppendResult result = Must(database->Append(batch));
      refs.insert(refs.end(), result.refs.begin(), result.refs.end());
    }
    MustBeOk(database->Close());
    database.CrashAndReopen();
    if (!by_ref) {
      refs.clear();
    }
    first = AppendRound(*database, labels, refs, 1'704'067'210'000);
    AppendRound(*database, labels, refs, 1'704'067'220'000);
    steady = AppendRound(*database, labels, refs, 1'704'067'230'000);
    state.SetIterationTime(first);
  }
  state.counters["steady_ms"] = steady * 1e3;
  state.counters["ratio"] = first / steady;
}
BENCHMARK(BM_FirstAppendAfterReopen)
    ->ArgName("by_ref")
    ->Arg(0)
    ->Arg(1)
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// From the call to its return: from then on no reader sees the samples.
void BM_DeleteMillionSeries(benchmark::State& state) {
  const std::vector<Labels> labels = MillionLabels();
  ScratchDatabase database;
  for (std::size_t begin = 0; begin < kMillion; begin += kBatch) {
    WriteBatch batch;
    for (std::size_t i = begin; i < begin + kBatch; ++i) {
      batch.Add(labels[i], 1'704'067'200'000, 1);
    }
    Must(database->Append(batch));
  }
  MustBeOk(database->Flush());
  const Selector all = Must(Selector::Parse("{job=\"api\"}"));
  double wall = 0;
  for (auto _ : state) {
    const double cpu = ProcessorSeconds();
    const double begin = WallSeconds();
    const DeleteReport report = Must(database->Delete(all, TimeRange{}));
    wall = WallSeconds() - begin;
    state.SetIterationTime(ProcessorSeconds() - cpu);
    if (report.series != kMillion) {
      state.SkipWithError("not all series were selected");
    }
  }
  state.counters["wall_ms"] = wall * 1e3;
}
BENCHMARK(BM_DeleteMillionSeries)->Iterations(3)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tsdb::bench
