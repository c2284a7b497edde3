// Every file of a database, per sample, in its final form: written, compacted, closed.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/data_files.h"
#include "bench/scratch_database.h"
#include "bench/tsbs_generator.h"

namespace tsdb::bench {

namespace {

constexpr std::size_t kBatchSamples = 10'000;

/// Compacts and closes the database, and counts its bytes.
void Measure(ScratchDatabase& database, std::uint64_t samples, benchmark::State& state) {
  MustBeOk(database->Flush());
  const CompactReport report = Must(database->Compact());
  MustBeOk(database->Close());
  const auto count = static_cast<double>(samples);
  state.counters["bytes_per_sample"] = static_cast<double>(database.BytesOnDisk()) / count;
  state.counters["in_chunk_files"] = static_cast<double>(report.bytes_after) / count;
}

/// TSBS cpu-only, 1,000 series, 24 hours: whole numbers or full doubles.
void BM_TsbsDirectory(benchmark::State& state) {
  for (auto _ : state) {
    TsbsGenerator generator({.hosts = 100, .seconds = 24 * 3600, .whole_numbers = state.range(0) == 0});
    ScratchDatabase database;
    const std::uint64_t samples = database.Fill(&generator);
    Measure(database, samples, state);
  }
}
BENCHMARK(BM_TsbsDirectory)->ArgName("doubles")->Arg(0)->Arg(1)->Iterations(1)->Unit(benchmark::kMillisecond);

/// A recorded file, its series as they came.
void FileDirectory(benchmark::State& state, const char* name) {
  for (auto _ : state) {
    const std::vector<chunk::DataFile> files = chunk::LoadFiles();
    const auto file = std::ranges::find(files, name, &chunk::DataFile::name);
    if (file == files.end()) {
      state.SkipWithError("not there: TSDB_DATA_DIR names the folder of the data files");
      return;
    }
    ScratchDatabase database;
    WriteBatch batch;
    for (std::size_t series = 0; series < file->series.size(); ++series) {
      const SeriesRef ref =
          Must(database->CreateSeries(Must(Labels::FromPairs({{"__name__", name}, {"series", file->names[series]}}))));
      const chunk::Columns& columns = file->series[series];
      for (std::size_t i = 0; i < columns.size(); ++i) {
        batch.Add(ref, columns.times[i], columns.values[i]);
        if (batch.size() >= kBatchSamples || i + 1 == columns.size()) {
          MustBeOk(database->Append(batch).status());
          batch.Clear();
        }
      }
    }
    Measure(database, file->samples(), state);
  }
}
BENCHMARK_CAPTURE(FileDirectory, gauges, "node_gauges_1s")->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(FileDirectory, counters, "node_counters_1s")->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace tsdb::bench
