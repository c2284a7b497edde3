// The life of series and their samples: deleting samples, ending series and bringing them back, changing names, labels
// and settings. See Database for the calls.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tsdb/labels.h"
#include "tsdb/options.h"
#include "tsdb/types.h"

namespace tsdb {

struct DeleteOptions {
  /// Count the samples that go: reads all of them. Default: off, the cost does not depend on how many there are.
  bool count_samples = false;
  /// Only count; nothing is changed.
  bool dry_run = false;
  /// Level of this commit; only meaningful when has_durability. Default: that of the database.
  Durability durability = Durability::kInterval;
  bool has_durability = false;
};

struct DeleteReport {
  /// Commit of the delete; 0 when no series matched, the range was empty, or nothing was to be changed.
  CommitNumber commit;
  std::uint64_t series = 0;   // that were selected, with samples in the range or without
  std::uint64_t samples = 0;  // 0 unless they were to be counted
};

/// How long a dropped series can be brought back unless asked otherwise: one hour.
inline constexpr std::int64_t kDropGraceMs = 3600ll * 1000;

struct DropOptions {
  /// Time in which Undrop may bring the series back, in milliseconds of the clock; 0: not at all. Until then its
  /// samples keep their space. Default one hour.
  std::int64_t grace_ms = kDropGraceMs;
  /// Count the samples that go: reads all of them. Default: off.
  bool count_samples = false;
  /// Only count; nothing is changed.
  bool dry_run = false;
};

struct DropReport {
  CommitNumber commit;  // 0 when no series matched or nothing was to be changed
  std::uint64_t series = 0;
  std::uint64_t samples = 0;  // 0 unless they were to be counted
};

/// A series that can still be brought back.
struct DroppedSeries {
  SeriesId id;
  std::string key;  // the shown key it had
  Labels labels;
  bool created_by_key = false;
  SeriesSettings settings;
  /// Wall time until which Undrop works, in nanoseconds since 1970.
  std::int64_t until_wall_nanos = 0;
};

/// What Alter changes; what is not named stays.
struct SeriesChange {
  /// New labels, instead of all it had; only of a series created by key.
  std::optional<Labels> labels;
  std::optional<std::int64_t> retention;
  /// The outer one: change it; the inner one absent: the policy of the database again.
  std::optional<std::optional<DuplicatePolicy>> duplicates;
  std::optional<std::int64_t> ignore_max_time_diff;
  std::optional<double> ignore_max_value_diff;
  std::optional<std::int64_t> expiry;
};

}  // namespace tsdb
