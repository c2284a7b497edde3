// Failing calls: the calls of this process to the operating system on files below a folder are counted, and fail as
// a test asks. So RocksDB's own calls can fail, without a word of RocksDB's in between: the functions of the C library
// are defined in this program, and pass everything else on.
//
// Not seen: what RocksDB reads through stdio (its manifest), whose opening is.
//
// Thread safety: thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace tsdb::failing_calls {

/// From now on calls on files whose path contains `part` are counted from 1. Number `first` fails with `error`, and all
/// that follow unless `once`.
void Arm(const std::string& part, std::uint64_t first, int error, bool once);
/// Nothing fails any more; returns how many calls there were.
std::uint64_t Disarm();
/// Calls that failed since Arm.
std::uint64_t failed();

}  // namespace tsdb::failing_calls
