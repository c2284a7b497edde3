#include "bench/scratch_database.h"

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

namespace tsdb::bench {

namespace {

constexpr std::size_t kBatchSamples = 10'000;

std::string MakeFolder() {
  std::string path = (std::filesystem::temp_directory_path() / "tsdb-bench-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    MustBeOk(Status::IoError(path + ": cannot be created"));
  }
  return path;
}

void AppendAll(Database& database, const WriteBatch& batch) {
  const AppendResult result = Must(database.Append(batch));
  if (!result.rejected.empty()) {
    MustBeOk(result.rejected.front().status);
  }
}

}  // namespace

void MustBeOk(const Status& status) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::exit(1);
  }
}

double ProcessorSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

ScratchDatabase::ScratchDatabase(const OpenOptions& options)
    : options_(options), path_(MakeFolder()), database_(Must(Database::Open(path_, options))) {}

void ScratchDatabase::CrashAndReopen() {
  database_.reset();
  database_ = Must(Database::Open(path_, options_));
}

ScratchDatabase::~ScratchDatabase() {
  database_.reset();
  std::error_code ignored;  // a folder left behind below the temporary one harms nothing
  std::filesystem::remove_all(path_, ignored);
}

std::vector<SeriesRef> ScratchDatabase::CreateSeries(const TsbsGenerator& generator) {
  std::vector<SeriesRef> refs;
  refs.reserve(generator.series_count());
  for (std::size_t series = 0; series < generator.series_count(); ++series) {
    refs.push_back(Must(database_->CreateSeries(generator.SeriesLabels(series))));
  }
  return refs;
}

std::uint64_t ScratchDatabase::Fill(TsbsGenerator* generator) {
  const std::vector<SeriesRef> refs = CreateSeries(*generator);
  std::uint64_t samples = 0;
  WriteBatch batch;
  while (generator->Next()) {
    generator->AddTo(refs, &batch);
    samples += refs.size();
    if (batch.size() >= kBatchSamples) {
      AppendAll(*database_, batch);
      batch.Clear();
    }
  }
  AppendAll(*database_, batch);
  return samples;
}

void ScratchDatabase::WaitForJobs() {
  constexpr int kQuiet = 30;  // looks, 100 ms apart
  std::uint64_t merges = 0;
  for (int quiet = 0; quiet < kQuiet; ++quiet) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const Stats stats = database_->GetStats();
    if (stats.merge_running || std::exchange(merges, stats.merges) != stats.merges) {
      quiet = 0;
    }
  }
}

std::uint64_t ScratchDatabase::BytesOnDisk() const {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
    if (entry.is_regular_file()) {
      bytes += entry.file_size();
    }
  }
  return bytes;
}

}  // namespace tsdb::bench
