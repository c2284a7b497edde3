// Retention: how long samples are kept, for the whole database, for series that match a selector, and in bytes.
//
// A sample is expired when it is older than its age allows, counted back from "now": the clock, but at most the newest
// sample of the database, and never going back. A series with a retention of its own (SeriesSettings::retention)
// counts from its own newest sample instead. Exactly as old as allowed is kept. Expired samples are not read, cannot be
// written and cost no space once the files that hold nothing else are removed.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tsdb/types.h"

namespace tsdb {

/// Samples of the series that match are kept for another time than those of the database.
struct RetentionClass {
  /// Text of a selector; the first class that matches a series counts.
  std::string selector;
  /// In units of the database; 0 keeps all.
  std::int64_t age = 0;
  friend bool operator==(const RetentionClass&, const RetentionClass&) = default;
};

struct Retention {
  /// Of series without a retention of their own or a class, in units of the database; 0 keeps all.
  std::int64_t age = 0;
  /// Most bytes in the folder of the database; 0: as many as there are. The oldest files go first.
  std::uint64_t bytes_max = 0;
  std::vector<RetentionClass> classes;
  friend bool operator==(const Retention&, const Retention&) = default;
};

/// What GetRetention tells beside the settings.
struct RetentionInfo {
  Retention settings;
  /// "Now" as retention sees it; kTimestampMin while there are no samples.
  Timestamp now = kTimestampMin;
  /// Samples below it are gone for good and refused; kTimestampMin: none are.
  Timestamp floor = kTimestampMin;
  /// The clock made a step that cannot be told from a wrong one: expired samples are hidden but not removed until it
  /// has been steady for 24 hours, or AcceptClock was called.
  bool clock_in_doubt = false;
};

}  // namespace tsdb
