// Safeguards: the syncs and checksum checks that durability rests on, each with a name, so that a test can leave one
// out at a time and see that something fails without it (tests/crash/safeguard_test.cc). The list with what each is for
// stands in docs/reliability.md; a test holds it equal to the code.
//
//   TSDB_SYNC("wal/frames", file_->Sync())              the Status of the call; OK without a call when switched off
//   TSDB_MISMATCH("wal/payload", computed != stored)    the condition; false when switched off
//
// Built with NDEBUG (release builds) both are just the expression.
//
// Thread safety: thread-safe; switch only between calls.
#pragma once

#if defined(NDEBUG)

#define TSDB_SYNC(name, call) (call)
#define TSDB_MISMATCH(name, condition) (condition)

#else

#include <string_view>

#include "tsdb/status.h"

namespace tsdb {

/// For tests: the one safeguard that is off; nullptr: all are on. The name must live on.
void SwitchSafeguardOff(const char* name);
bool SafeguardIsOff(std::string_view name);

}  // namespace tsdb

#define TSDB_SYNC(name, call) (::tsdb::SafeguardIsOff(name) ? ::tsdb::Status() : (call))
#define TSDB_MISMATCH(name, condition) (!::tsdb::SafeguardIsOff(name) && (condition))

#endif
