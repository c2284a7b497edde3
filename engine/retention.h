// Retention: which samples of a series may be seen and written, and the removal of those that may not.
//
//   seen and written   from the floor on, and from now - age on; a series with a retention of its own: from its newest
//                      sample - retention on
//   removed            whole files below all that is kept; then, while the folder has too many bytes, the oldest file
//
// Thread safety: any thread.
#pragma once

#include <optional>
#include <vector>

#include "engine/core.h"
#include "tsdb/result.h"
#include "wal/record.h"

namespace tsdb::engine {

class PendingDeletes;

/// Lowest time of the series that may be seen; kTimestampMin: all. Takes the stripe of the series.
Result<Timestamp> VisibleFrom(Core& core, const Version& version, SeriesId id);
/// Newest sample of the series, expired or not.
Result<std::optional<Sample>> NewestSample(Core& core, const Version& version, SeriesId id);
/// Lowest time that a series with this definition takes in, not looking at its samples.
Timestamp AcceptedFrom(const Core& core, const SeriesDefinition& definition);
/// The same by id; that of the database when the series has no definition yet.
Result<Timestamp> AcceptedFrom(const Core& core, SeriesId id);
/// No series refuses a time at or above this one because of its age, but for a retention of its own.
Timestamp SurelyAcceptedFrom(const Core& core);

/// For series with a retention of their own whose newest sample is about to be deleted: what is expired at this moment
/// is to be deleted with it, so that nothing hidden comes back. `deletes` begins with the delete.
Status AddOwnFloors(Core& core, const IdSet& ids, TimeRange range, PendingDeletes* deletes);

/// Takes over what the manifest, then what an operation of the log says.
Status TakeRetention(const chunk::ManifestState& state, RetentionState* retention);
Status ApplySettings(const wal::SettingsOperation& operation, RetentionState* retention);

RetentionInfo DescribeRetention(const Core& core);
Status SetRetention(Core& core, const Retention& retention) TSDB_EXCLUDES(core.life_mutex);
Status AcceptClock(Core& core) TSDB_EXCLUDES(core.manifest_mutex);

/// Ends the time of dropped series that can come back no more, for good: a clock that goes back does not change it.
Status BuryDropped(Core& core) TSDB_EXCLUDES(core.manifest_mutex);
/// True when EnforceRetention may have something to do.
bool RetentionIsDue(const Core& core);
/// Drops series that expired, removes files of which nothing may be seen, and those beyond the bytes allowed.
Status EnforceRetention(Core& core) TSDB_EXCLUDES(core.merge_mutex);

}  // namespace tsdb::engine
