#include "cli/commands/bench_data.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace tsdb::cli {

Labels BenchData::SeriesLabels(std::uint32_t index) {
  return Labels{
      {"__name__", "bench"}, {"host", fmt::format("host-{}", index / 10)}, {"cpu", fmt::format("{}", index % 10)}};
}

// xorshift64: quick, and good enough for a walk.
std::uint64_t BenchData::Random() {
  random_state_ ^= random_state_ << 13;
  random_state_ ^= random_state_ >> 7;
  random_state_ ^= random_state_ << 17;
  return random_state_;
}

Sample BenchData::Next(std::uint32_t* index) {
  *index = next_series_;
  std::int32_t& hundredths = hundredths_[next_series_];
  const auto move = static_cast<std::int32_t>(Random() % 101) - 50;
  hundredths = std::clamp(hundredths + move, 0, 100'00);
  const Sample sample{kBenchStartMs + step_ * kBenchStepMs, hundredths / 100.0};
  if (++next_series_ == hundredths_.size()) {
    next_series_ = 0;
    ++step_;
  }
  return sample;
}

Result<TemporaryDirectory> TemporaryDirectory::Create(const std::string& parent) {
  const char* from_environment = std::getenv("TMPDIR");
  std::string base = parent;
  if (base.empty()) {
    base = from_environment != nullptr && *from_environment != 0 ? from_environment : "/tmp";
  }
  std::string path = base + "/tsdb-bench-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return Status::IoError(base + ": no directory can be made here: " + std::generic_category().message(errno) +
                           ": name another with --dir");
  }
  return TemporaryDirectory(std::move(path));
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!path_.empty()) {
    std::error_code ignored;  // what is left then lies in a directory named after the benchmark
    std::filesystem::remove_all(path_, ignored);
  }
}

}  // namespace tsdb::cli
