// Guarded: the border of the library. No exception leaves a function of the interface.
//
// Thread safety: as what it calls.
#pragma once

#include <new>

#include "tsdb/result.h"

namespace tsdb::engine {

/// Runs one call of the interface. When memory runs out in it, what it did is undone or was never begun: behind the
/// point where a commit is numbered it needs none (AppendOperation::PrepareEffects).
template <typename Call>
auto Guarded(const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory("no memory");  // short: needs none itself
  }
}

}  // namespace tsdb::engine
