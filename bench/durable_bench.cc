// What durability costs: commits per second of writers that wait for the disk, beside the disk's own sync rate, and the
// speed of a replay.
//
// The folder lies below $TMPDIR (else /tmp): point it at the disk in question.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/file_system.h"
#include "bench/scratch_database.h"
#include "bench/tsbs_generator.h"

namespace tsdb::bench {
namespace {

/// The bound: one small append and one fdatasync, nothing else.
void BM_DiskSync(benchmark::State& state) {
  FileSystem& fs = PosixFileSystem();
  const std::string path =
      (std::filesystem::temp_directory_path() / ("tsdb_sync_" + std::to_string(SystemClock().WallNanos()))).string();
  auto file = Must(fs.OpenWritable(path, OpenMode::kCreate));
  const std::string bytes(80, 'x');
  for (auto _ : state) {
    MustBeOk(file->Append(bytes));
    MustBeOk(file->Sync());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
  MustBeOk(file->Close());
  MustBeOk(fs.RemoveFile(path));
}
BENCHMARK(BM_DiskSync)->UseRealTime()->MinTime(2);

/// Commits of one sample each, acknowledged when synced; every thread has a series of its own.
void BM_DurableCommits(benchmark::State& state) {
  static std::unique_ptr<ScratchDatabase> database;
  if (state.thread_index() == 0) {
    database = std::make_unique<ScratchDatabase>();
  }
  SeriesRef ref;
  Timestamp time = 0;
  for (auto _ : state) {
    if (ref.id.value == 0) {
      ref =
          Must((*database)->CreateSeries({{"__name__", "durable"}, {"thread", std::to_string(state.thread_index())}}));
    }
    WriteBatch batch;
    batch.Add(ref, ++time, 1);
    Must((*database)->Append(batch, WriteOptions::With(Durability::kAlways)));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
  if (state.thread_index() == 0) {
    database.reset();
  }
}
BENCHMARK(BM_DurableCommits)->UseRealTime()->MinTime(2)->Threads(1)->Threads(8)->Threads(64);

/// A crash without a flush: opening reads the whole log back into the head. Batches of 10,000 over 1,000 series.
void BM_Replay(benchmark::State& state) {
  OpenOptions options;
  options.wal_bytes_max = 1ull << 40;
  options.memory_bytes_max = 1ull << 40;
  TsbsGenerator generator({.hosts = 100, .seconds = 6 * 3600});
  ScratchDatabase database(options);
  const std::uint64_t samples = database.Fill(&generator);
  for (auto _ : state) {
    database.CrashAndReopen();
    if (database->recovery_report().samples != samples) {
      state.SkipWithError("not everything was replayed");
      break;
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * samples));
}
BENCHMARK(BM_Replay)->UseRealTime()->Unit(benchmark::kMillisecond);

/// Opening after a kill: 100 M samples of 10,000 series in files, and as much in the log as it holds at its default
/// bound of 64 MiB (full doubles).
void BM_OpenAfterKill(benchmark::State& state) {
  constexpr std::uint64_t kSamplesInFiles = 100'000'000;
  constexpr std::uint64_t kLogBytes = 60ull << 20;  // the bound is checked after each batch
  OpenOptions options;
  options.background = false;  // nothing is flushed but by the bench
  options.memory_bytes_max = 1ull << 40;
  TsbsGenerator generator({.hosts = 1000, .seconds = 1'000'000'000, .whole_numbers = false});
  ScratchDatabase database(options);
  const std::vector<SeriesRef> refs = database.CreateSeries(generator);
  WriteBatch batch;
  std::uint64_t samples = 0;
  while (generator.Next() && (samples < kSamplesInFiles || database->GetStats().wal_bytes < kLogBytes)) {
    batch.Clear();
    generator.AddTo(refs, &batch);
    Must(database->Append(batch));
    samples += refs.size();
    if (samples <= kSamplesInFiles && samples % (kSamplesInFiles / 10) == 0) {
      MustBeOk(database->Flush());
    }
  }
  for (auto _ : state) {
    database.CrashAndReopen();
  }
  state.counters["samples_in_files"] = static_cast<double>(database->GetStats().samples_in_files);
  state.counters["samples_replayed"] = static_cast<double>(database->recovery_report().samples);
}
BENCHMARK(BM_OpenAfterKill)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(5);

}  // namespace
}  // namespace tsdb::bench
