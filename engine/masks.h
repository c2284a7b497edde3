// Masks: the deletes under which one series is read: those of files as the version has them, and those of generations.
//
// A delete at commit D applies to what has a last commit below D: files, sealed generations. What it took from the
// generation in which it was ordered is gone from there already. All of it is read under the series' stripe, together
// with the head: so a reader sees one commit prefix.
//
// Thread safety: functions; see each.
#pragma once

#include <optional>
#include <vector>

#include "chunk/tombstone.h"
#include "engine/core.h"
#include "engine/version.h"
#include "tsdb/types.h"

namespace tsdb::engine {

/// The deletes that concern the series and a time of `range` in what the version holds. Under the stripe of the series,
/// or where nobody writes.
std::vector<chunk::DeletedRange> MasksOf(const Version& version, SeriesId id, TimeRange range);

/// Newest sample of a head series that is not deleted for data with this last commit.
std::optional<Sample> NewestOf(const HeadSeries& series, CommitNumber last_commit,
                               const std::vector<chunk::DeletedRange>& masks);

}  // namespace tsdb::engine
