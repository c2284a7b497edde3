// Data and place of a benchmark: gauges with two decimals that wander, all series sampled every ten seconds, and a
// directory of its own that goes away afterwards.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tsdb/database.h"

namespace tsdb::cli {

inline constexpr Timestamp kBenchStartMs = 1'767'225'600'000;  // 2026-01-01T00:00:00Z
inline constexpr std::int64_t kBenchStepMs = 10'000;

/// Makes the samples in the order a collector would send them: every series at one time, then the next time. The same
/// seed gives the same samples.
class BenchData {
 public:
  explicit BenchData(std::uint32_t series) : hundredths_(series, 50'00) {}

  static Labels SeriesLabels(std::uint32_t index);
  /// The next sample; `*index` says of which series.
  Sample Next(std::uint32_t* index);

 private:
  std::uint64_t Random();

  std::uint64_t random_state_ = 0x9e3779b97f4a7c15ull;
  std::vector<std::int32_t> hundredths_;  // newest value of each series
  std::uint32_t next_series_ = 0;
  std::int64_t step_ = 0;
};

/// A new directory below `parent` (empty: TMPDIR, or /tmp), removed with everything in it by the destructor.
class TemporaryDirectory {
 public:
  static Result<TemporaryDirectory> Create(const std::string& parent);
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace tsdb::cli
