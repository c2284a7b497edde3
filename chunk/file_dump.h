// Chunk files, catalogues and manifests as lines of text, for `tsdb-cli dump` and for people looking at a damaged file.
//
// Damage is printed where it stands; what is readable around it is printed too, and the result is kCorruption. Other
// errors (I/O, memory, handles, a newer version) end the dump.
//
// Thread safety: pure functions; they read only.
#pragma once

#include <string>

#include "base/file_system.h"
#include "tsdb/inspect.h"
#include "tsdb/status.h"

namespace tsdb::chunk {

/// Header, each chunk (series, times, count, encodings, bytes, statistics), footer.
Status DumpChunkFileTo(FileSystem& fs, const std::string& path, const LineSink& line);
/// Every edit of a manifest file (not CURRENT).
Status DumpManifestTo(FileSystem& fs, const std::string& path, const LineSink& line);
/// Every definition.
Status DumpCatalogueTo(FileSystem& fs, const std::string& path, const LineSink& line);

}  // namespace tsdb::chunk
