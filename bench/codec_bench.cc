// Benchmarks of the codecs.
//
//   codec_bench                 Google Benchmark on generated data
//   codec_bench --table         Markdown tables over the data files: bytes per value and speeds, see codec_table.h
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_file_system.h"
#include "chunk/chunk_file.h"
#include "chunk/codec_kernels.h"
#include "chunk/column_codec.h"
#include "chunk/columns.h"
#include "chunk/head_chunk.h"
#include "codec_table.h"

namespace tsdb::chunk {
namespace {

constexpr std::size_t kHeadSamples = 480;

/// A random walk of two decimals on a ten-second grid.
Columns Walk(std::size_t count) {
  Columns columns;
  std::mt19937_64 random(1);
  std::normal_distribution<double> step(0, 1);
  double value = 50;
  for (std::size_t i = 0; i < count; ++i) {
    value = std::clamp(value + step(random), 0.0, 100.0);
    columns.Append(static_cast<Timestamp>(1'700'000'000'000 + 10'000 * i), std::round(value * 100) / 100);
  }
  return columns;
}

void BM_HeadAppend(benchmark::State& state) {
  const Columns columns = Walk(kHeadSamples);
  for (auto _ : state) {
    HeadChunk head;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      head.Append(columns.times[i], columns.values[i]);
    }
    benchmark::DoNotOptimize(head.tail());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * columns.size()));
}
BENCHMARK(BM_HeadAppend);

void BM_HeadDecode(benchmark::State& state) {
  const Columns columns = Walk(kHeadSamples);
  HeadChunk head;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    head.Append(columns.times[i], columns.values[i]);
  }
  const HeadChunk::Snapshot snapshot = head.TakeSnapshot();
  Columns out;
  for (auto _ : state) {
    out.Clear();
    benchmark::DoNotOptimize(DecodeHeadChunk(snapshot, &out.times, &out.values).ok());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * columns.size()));
}
BENCHMARK(BM_HeadDecode);

void BM_EncodeValues(benchmark::State& state) {
  const Columns columns = Walk(static_cast<std::size_t>(state.range(0)));
  const auto effort = static_cast<Effort>(state.range(1));
  std::string bytes;
  for (auto _ : state) {
    bytes.clear();
    benchmark::DoNotOptimize(EncodeValues(columns.values, effort, &bytes));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * columns.size()));
}
BENCHMARK(BM_EncodeValues)->ArgsProduct({{120, 1024, 8192}, {0, 1}});

void BM_DecodeValues(benchmark::State& state) {
  const Columns columns = Walk(static_cast<std::size_t>(state.range(0)));
  const auto effort = static_cast<Effort>(state.range(1));
  UseScalarKernels(state.range(2) != 0);
  state.SetLabel(Kernels().name);
  std::string bytes;
  const auto encoding = static_cast<std::uint8_t>(EncodeValues(columns.values, effort, &bytes));
  std::vector<double> out(columns.size());
  for (auto _ : state) {
    benchmark::DoNotOptimize(DecodeValues(encoding, bytes, columns.size(), out.data()).ok());
  }
  UseScalarKernels(false);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * columns.size()));
}
BENCHMARK(BM_DecodeValues)->ArgsProduct({{120, 1024, 8192}, {0, 1}, {0, 1}});

void BM_DecodeOnePage(benchmark::State& state) {
  const Columns columns = Walk(8192);
  std::string bytes;
  const auto encoding =
      static_cast<std::uint8_t>(EncodeValues(columns.values, static_cast<Effort>(state.range(0)), &bytes));
  std::vector<double> out(kPageSamples);
  for (auto _ : state) {
    benchmark::DoNotOptimize(DecodeValuePages(encoding, bytes, columns.size(), {3, 1}, out.data()).ok());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kPageSamples));
}
BENCHMARK(BM_DecodeOnePage)->Arg(0)->Arg(1);

/// Opening a file of many chunks: header, footer and the index of the directory, from memory.
void BM_OpenChunkFile(benchmark::State& state) {
  const auto chunks = static_cast<std::uint64_t>(state.range(0));
  constexpr std::uint64_t kChunksPerSeries = 10;
  MemoryFileSystem fs;
  const std::string path = "000001.chunk";
  const auto step = [&state](const Status& status) {
    if (!status.ok()) {
      state.SkipWithError(status.ToString().c_str());
    }
    return status.ok();
  };
  ChunkFileOptions options;
  options.number = 1;
  auto writer = ChunkFileWriter::Create(fs, path, options);
  if (!step(writer.status())) {
    return;
  }
  std::mt19937_64 random(1);
  for (std::uint64_t i = 0; i < chunks; ++i) {
    const std::uint64_t place = i % kChunksPerSeries;
    const auto first = static_cast<Timestamp>(1'700'000'000'000 + 120'000 * place);
    const std::vector<Timestamp> times = {first, first + 10'000, first + 20'000 + static_cast<Timestamp>(random() % 9)};
    const std::vector<double> values = {static_cast<double>(random() % 1000) / 10, 5, 6};
    if (!step((*writer)->Add({1 + i / kChunksPerSeries}, {times, values}))) {
      return;
    }
  }
  if (!step((*writer)->Finish().status())) {
    return;
  }
  for (auto _ : state) {
    auto reader = ChunkFileReader::Open(fs, path);
    if (!step(reader.status())) {
      return;
    }
    state.counters["memory"] = static_cast<double>((*reader)->memory_bytes());
  }
}
BENCHMARK(BM_OpenChunkFile)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tsdb::chunk

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--table") {
      return tsdb::chunk::WriteCodecTable();
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
