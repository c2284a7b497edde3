// What a query did, for people.
//
// Thread safety: none; one thread at a time.
#pragma once

#include "cli/text/messages.h"
#include "tsdb/query.h"

namespace tsdb::cli {

/// Writes a few lines to stderr, also under --quiet: they were asked for.
void Explain(const QueryStatistics& statistics, const Messages& messages);

}  // namespace tsdb::cli
