// Recovery: from a folder to a Core that may take writes.
//
//   lock ─► manifest ─► leftovers removed ─► chunk files opened ─► index opened, caught up from catalogue files
//        ─► log replayed into the head (flushing when memory is short) ─► log opened behind it
//
// Thread safety: one call per Core, before anyone else sees it.
#pragma once

#include <memory>
#include <string>

#include "engine/core.h"
#include "tsdb/result.h"

namespace tsdb::engine {

/// Opens or creates the database; see Database::Open for the errors.
Result<std::unique_ptr<Core>> Recover(const std::string& path, const OpenOptions& options,
                                      const Environment& environment);

/// kInvalidArgument for impossible ones.
Status CheckSettings(const CreateOptions& settings);

}  // namespace tsdb::engine
