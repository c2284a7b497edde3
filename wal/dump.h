// DumpSegment: a log segment as text, for people.
//
//   segment 17 version 1 store 0123…/4567… after segment 16, commit 1200 written 2024-…
//   @80 commits 1201-1203 (3) 148 bytes previous 1200 synced 1200 wall 1700000000000000000
//     1201 put 2
//       series 5 time 1700000000000 value 21.5
//
// Thread safety: the function is pure; it may run beside a writer.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "tsdb/status.h"

namespace tsdb::wal {

/// Prints the header and every group with its offset, commits, wall time and operations. Damage is printed in place and
/// makes the result kCorruption after everything readable was printed. Which commits are void only replay knows.
/// Errors: kInvalidArgument (the file is not named like a segment), kNotSupported, those of the file system.
Status DumpSegment(FileSystem& fs, const std::string& path, const std::function<void(std::string_view)>& line);

}  // namespace tsdb::wal
