// The rounds of `tsdb-cli selftest`: a child process works on a scratch database and is killed; another one opens it
// and compares. The calling process opens no database itself and has no other threads, so that it may fork.
//
//   KillRound     writer ── SIGKILL at a random moment ── checker: everything acknowledged, nothing half, right values
//   DamageRound   copy ── one file of it damaged ── checker: right values, and a report of what is missing
//   MeasureSyncs  how long a synced write takes here
//
// Each returns what went wrong, in one line, or nothing.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "tsdb/result.h"

namespace tsdb::cli::selftest {

struct Figures {
  std::uint64_t kills = 0;
  std::uint64_t damaged = 0;
  std::uint64_t samples = 0;         // in the database after the last round
  std::uint64_t acknowledged = 0;    // of all rounds, before their kills
  std::uint64_t reported = 0;        // damage that an open or a query told of
};

/// Writes to the database at `path` in a child, kills it, checks in another child.
std::string KillRound(const std::string& path, std::mt19937_64* random, Figures* figures);
/// Damages a copy of the database at `path` below `scratch` and checks it in a child. `what` says what was damaged.
std::string DamageRound(const std::string& path, const std::string& scratch, std::mt19937_64* random, Figures* figures);
/// Median time of a write at level `always`, in microseconds.
Result<double> MeasureSyncs(const std::string& path);

}  // namespace tsdb::cli::selftest
