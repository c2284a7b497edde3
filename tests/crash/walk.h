// Walks: a scripted workload broken off at every single I/O operation, and what must hold afterwards.
//
// Each walk returns what went wrong first, in one line, or nothing. So the same walk serves twice: as a test (nothing
// goes wrong), and to show that it would see a missing sync (tests/crash/safeguard_test.cc).
#pragma once

#include <cstdint>
#include <string>

#include "base/memory_file_system.h"
#include "tests/crash/oracle.h"
#include "tests/crash/workload.h"

namespace tsdb::engine {

/// ReadAll that says what fails instead of failing the test.
Result<Contents> TryReadAll(Database& db);

/// The power goes at every operation of appends, deletes, drops, retention, flushes, merges, purges and a close; each
/// with all, nothing and `random_cuts` random parts of what was not synced. `manifest_fails`: an append to the manifest
/// fails once on the way, so that it is written anew. The operations walked are left in `operations`.
std::string WalkPowerCuts(std::uint64_t random_cuts, bool manifest_fails, std::uint64_t* operations);
/// The process is killed at every operation; what the next open shows, the power cut after it does not take away, nor
/// one after further writes and a flush.
std::string WalkKills();
/// The process is killed at every operation, and the next one at every operation of its open.
std::string WalkKilledOpens();

}  // namespace tsdb::engine
