// Merging: samples a second through compaction::Merge, and what a whole database weighs once it is compacted.
//
// Data: TSBS cpu-only. Merge reads and writes a file system in memory, so that the figure is the processor's.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "bench/scratch_database.h"
#include "bench/tsbs_generator.h"
#include "compaction/merge.h"
#include "compaction/partition.h"

namespace tsdb::bench {

namespace {

/// Six flushed files of four hours each, 100 series.
struct FlushedFiles {
  explicit FlushedFiles(bool whole_numbers) {
    MustBeOk(fs.CreateDirectories("db/chunks"));
    TsbsGenerator generator({.hosts = 10, .seconds = 24 * 3600, .whole_numbers = whole_numbers});
    const std::size_t series = 10 * TsbsGenerator::kFields;
    for (std::uint64_t number = 1; number <= 6; ++number) {
      std::vector<chunk::Columns> columns(series);
      for (int row = 0; row < 4 * 360 && generator.Next(); ++row) {
        for (std::size_t s = 0; s < series; ++s) {
          columns[s].Append(1'704'067'200'000 + static_cast<Timestamp>(samples / series) * 10'000, generator.Value(s));
        }
        samples += series;
      }
      chunk::ChunkFileOptions options;
      options.number = number;
      options.first_commit = options.last_commit = {number};
      const std::string path = JoinPath("db", chunk::ChunkFileName(number));
      auto writer = Must(chunk::ChunkFileWriter::Create(fs, path, options));
      for (std::size_t s = 0; s < series; ++s) {
        for (std::size_t begin = 0; begin < columns[s].size(); begin += 1024) {
          const std::size_t count = std::min<std::size_t>(1024, columns[s].size() - begin);
          MustBeOk(writer->Add({s + 1}, {std::span(columns[s].times).subspan(begin, count),
                                         std::span(columns[s].values).subspan(begin, count)}));
        }
      }
      Must(writer->Finish());
      readers.push_back(Must(chunk::ChunkFileReader::Open(fs, path)));
    }
  }
  MemoryFileSystem fs;
  std::vector<std::unique_ptr<chunk::ChunkFileReader>> readers;
  std::uint64_t samples = 0;
};

/// level 2 is warm, 3 dense; doubles 0 are whole numbers.
void BM_Merge(benchmark::State& state) {
  FlushedFiles files(state.range(1) == 0);
  compaction::FileNumbers numbers(100);
  compaction::JobControl control;
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    compaction::MergeInput input;
    input.database_path = "db";
    for (const auto& reader : files.readers) {
      input.files.push_back(reader.get());
    }
    input.outputs.push_back({{TimeRange{}}, static_cast<std::uint32_t>(state.range(0))});
    input.file_numbers = &numbers;
    input.control = &control;
    const chunk::ManifestEdit edit = Must(compaction::Merge(input, files.fs));
    bytes = edit.added_chunk_files[0].bytes;
    MustBeOk(files.fs.RemoveFile(JoinPath("db", chunk::ChunkFileName(edit.added_chunk_files[0].number))));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * files.samples));
  state.counters["bytes_per_sample"] = static_cast<double>(bytes) / static_cast<double>(files.samples);
}
BENCHMARK(BM_Merge)
    ->ArgNames({"level", "doubles"})
    ->Args({compaction::kLevelWarmDay, 0})
    ->Args({compaction::kLevelDay, 0})
    ->Args({compaction::kLevelWarmDay, 1})
    ->Args({compaction::kLevelDay, 1})
    ->Unit(benchmark::kMillisecond);

/// Not a time but a size: every file of the database after Compact and Close, per sample.
void BM_BytesPerSampleCompacted(benchmark::State& state) {
  double bytes = 0;
  double amplification = 0;
  for (auto _ : state) {
    TsbsGenerator generator({.hosts = 100, .seconds = 24 * 3600, .whole_numbers = state.range(0) == 0});
    ScratchDatabase database;
    const std::uint64_t samples = database.Fill(&generator);
    Must(database->Compact());
    amplification = database->GetStats().write_amplification;
    MustBeOk(database->Close());
    bytes = static_cast<double>(database.BytesOnDisk()) / static_cast<double>(samples);
  }
  state.counters["bytes_per_sample"] = bytes;
  state.counters["write_amplification"] = amplification;
}
BENCHMARK(BM_BytesPerSampleCompacted)->ArgName("doubles")->Arg(0)->Arg(1)->Iterations(1)->Unit(benchmark::kMillisecond);

/// 1,000 series of ten years, a sample an hour: 87.6 M samples, until no merge is due. one_by_one 0: hour by hour.
/// Processor time of all threads.
void BM_Backfill(benchmark::State& state) {
  constexpr int kSeries = 1000;
  constexpr int kHours = 10 * 365 * 24;
  constexpr int kBatch = 5000;
  const bool one_by_one = state.range(0) == 1;
  double amplification = 0;
  double files = 0;
  for (auto _ : state) {
    ScratchDatabase database;
    std::vector<SeriesRef> refs;
    for (int s = 0; s < kSeries; ++s) {
      refs.push_back(Must(database->CreateSeries({{"__name__", "m"}, {"s", std::to_string(s)}})));
    }
    const auto add = [&](int s, int hour, WriteBatch* batch) {
      batch->Add(refs[static_cast<std::size_t>(s)], 1'388'534'400'000 + static_cast<Timestamp>(hour) * 3'600'000,
                 static_cast<double>((hour * 7 + s) % 13 * 5 + hour % 24));
      if (batch->size() == kBatch) {
        Must(database->Append(*batch));
        batch->Clear();
      }
    };
    const double begin = ProcessorSeconds();
    WriteBatch batch;
    for (int i = 0; i < kSeries * kHours; ++i) {
      one_by_one ? add(i / kHours, i % kHours, &batch) : add(i % kSeries, i / kSeries, &batch);
    }
    Must(database->Append(batch));
    MustBeOk(database->Flush());
    database.WaitForJobs();
    state.SetIterationTime(ProcessorSeconds() - begin);
    const Stats stats = database->GetStats();
    amplification = stats.write_amplification;
    files = static_cast<double>(stats.chunk_files);
    MustBeOk(database->Close());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * kSeries * kHours);
  state.counters["write_amplification"] = amplification;
  state.counters["files"] = files;
}
BENCHMARK(BM_Backfill)
    ->ArgName("one_by_one")
    ->Arg(0)
    ->Arg(1)
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace tsdb::bench
