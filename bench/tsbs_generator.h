// TsbsGenerator: the data of the TSBS workload "devops, cpu-only", from a seed.
//
//   host 0: cpu,hostname=host_0,region=…,…  usage_user usage_system … usage_guest_nice      10 tags, 10 fields
//   every 10 s each field takes a step of N(0,1) and stays within 0..100
//
// Values are whole numbers, as the original ships them (the walk itself keeps its fraction), or the doubles of the
// walk. The same options give the same samples on every machine. Its own random numbers: same distribution as the
// original generator, not the same sequence.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tsdb/labels.h"
#include "tsdb/types.h"
#include "tsdb/write_batch.h"

namespace tsdb::bench {

struct TsbsOptions {
  std::size_t hosts = 100;
  std::int64_t seconds = 3600;
  std::int64_t step_seconds = 10;
  /// 2024-01-01T00:00Z.
  Timestamp start_ms = 1'704'067'200'000;
  std::uint64_t seed = 1;
  bool whole_numbers = true;
};

class TsbsGenerator {
 public:
  static constexpr std::size_t kFields = 10;

  explicit TsbsGenerator(const TsbsOptions& options);

  /// hosts * kFields; series i is field i % kFields of host i / kFields.
  std::size_t series_count() const { return walks_.size(); }
  /// Labels as the line protocol import names them: `cpu_usage_user{hostname="host_0",...}`.
  Labels SeriesLabels(std::size_t series) const;

  /// Moves to the next time (the first call: to the first); false when there is no more.
  bool Next();
  /// Of the current step, in milliseconds.
  Timestamp time_ms() const { return time_ms_; }
  double Value(std::size_t series) const;

  /// Adds the current step's samples, all series; `refs` one per series.
  void AddTo(std::span<const SeriesRef> refs, WriteBatch* batch) const;
  /// The current step as line protocol (times in nanoseconds), or as CSV rows below CsvHeader() (milliseconds).
  void AppendInflux(std::string* out) const;
  void AppendCsv(std::string* out) const;
  static std::string CsvHeader();

 private:
  double Uniform();
  double Normal();
  void AppendValue(std::size_t series, std::string* out) const;

  TsbsOptions options_;
  std::uint64_t random_state_;
  std::vector<std::vector<Label>> host_tags_;
  std::vector<double> walks_;
  std::int64_t step_ = -1;
  Timestamp time_ms_ = 0;
};

}  // namespace tsdb::bench
