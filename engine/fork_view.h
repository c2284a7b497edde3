// ForkView: what a forked child reads of a database: everything up to the moment of the fork, without the index and
// without a lock that a thread which is not there any more may hold.
//
//   parent:  { ForkHold hold(core); pid = fork(); }        no change is half made at that moment
//   child:   ReadForked(core, visit)                       the version behind its raw pointer: files, sealed, mutable
//
// The child must not use the database in any other way, and ends by _exit.
//
// Thread safety: ForkHold as any other user of the stripes; ReadForked belongs to the child's only thread, or to a
// thread that holds a ForkHold.
#pragma once

#include <functional>

#include "chunk/columns.h"
#include "engine/core.h"
#include "tsdb/status.h"
#include "tsdb/types.h"

namespace tsdb::engine {

/// Holds all stripes, without I/O, while it lives. In the child the stripes stay held: nobody else is there.
class ForkHold {
 public:
  explicit ForkHold(Core& core) TSDB_NO_THREAD_SAFETY_ANALYSIS;
  ~ForkHold() TSDB_NO_THREAD_SAFETY_ANALYSIS;
  ForkHold(const ForkHold&) = delete;
  ForkHold& operator=(const ForkHold&) = delete;

 private:
  Core& core_;
};

/// Visits every series that has samples, ascending by id, with all its samples merged. Errors: those of reading chunks
/// (kCorruption names file and place), kOutOfMemory, and those of `visit`.
Status ReadForked(const Core& core, const std::function<Status(SeriesId, const chunk::Columns&)>& visit);

}  // namespace tsdb::engine
