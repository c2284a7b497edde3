#include "tsdb/inspect.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file_system.h"
#include "chunk/catalogue_file.h"
#include "chunk/chunk_file.h"
#include "chunk/file_dump.h"
#include "chunk/manifest.h"
#include "engine/lost_edits.h"
#include "engine/verify.h"
#include "wal/dump.h"
#include "wal/replay.h"

namespace tsdb {
namespace {

/// Keeps the first error and goes on.
void Remember(Status status, Status* first) {
  if (first->ok()) {
    *first = std::move(status);
  }
}

/// Reads records without keeping them, so that each is decoded once.
class ReadOnly final : public wal::ReplayVisitor {
 public:
  Status OnCommit(CommitNumber, std::int64_t) override { return Status::Ok(); }
  Status OnPuts(std::span<const wal::Put>) override { return Status::Ok(); }
  Status OnDefinition(const SeriesDefinition&) override { return Status::Ok(); }
};

void VerifyChunkFile(FileSystem& fs, const std::string& path, VerifyReport* report) {
  auto file = chunk::ChunkFileReader::Open(fs, path);
  if (!file.ok()) {
    report->damage.push_back(file.status().ToString());
    return;
  }
  if (Status status = (*file)->Verify(&report->damage); !status.ok()) {
    report->damage.push_back(status.ToString());
  }
  report->bytes += (*file)->meta().bytes;
  report->chunks += (*file)->meta().chunks;
  report->samples += (*file)->meta().samples;
}

Status VerifyLog(FileSystem& fs, const std::string& path, const chunk::ManifestState& state, VerifyReport* report) {
  wal::ReplayOptions options;
  options.store_id = {state.store_high, state.store_low};
  options.after = state.flushed_commit;
  options.synced = state.flushed_commit;
  ReadOnly visitor;
  const std::string directory = JoinPath(path, "wal");
  TSDB_ASSIGN_OR_RETURN(const wal::ReplayReport log, wal::Replay(fs, directory, options, visitor));
  for (const wal::LogDamage& damage : log.damage) {
    const std::string line =
        fmt::format("{}@{}: {} bytes: {}", damage.path, damage.offset, damage.bytes, damage.reason);
    if (damage.tail) {
      report->notes.push_back(line + " (the end of the log; the next open cuts it off)");
    } else {
      report->damage.push_back(line);
    }
  }
  report->files += log.segments;
  TSDB_ASSIGN_OR_RETURN(const std::uint64_t bytes, TreeBytes(fs, directory));
  report->bytes += bytes;
  return Status::Ok();
}

}  // namespace

Status DumpWal(const std::string& path, const LineSink& line) {
  FileSystem& fs = PosixFileSystem();
  TSDB_ASSIGN_OR_RETURN(const bool exists, fs.Exists(path));
  if (!exists) {
    return Status::NotFound(fmt::format("no file or folder {}", path));
  }
  const auto entries = fs.List(path);
  if (!entries.ok()) {
    return wal::DumpSegment(fs, path, line);
  }
  Status first;
  for (const DirectoryEntry& entry : *entries) {
    if (!entry.is_directory && entry.name.ends_with(".log")) {
      line(fmt::format("== {}", entry.name));
      Remember(wal::DumpSegment(fs, JoinPath(path, entry.name), line), &first);
    }
  }
  return first;
}

Status DumpChunkFile(const std::string& path, const LineSink& line) {
  return chunk::DumpChunkFileTo(PosixFileSystem(), path, line);
}

Status DumpManifest(const std::string& path, const LineSink& line) {
  return chunk::DumpManifestTo(PosixFileSystem(), path, line);
}

Result<VerifyReport> Verify(const std::string& path) { return engine::VerifyDatabase(PosixFileSystem(), path); }

Result<VerifyReport> engine::VerifyDatabase(FileSystem& fs, const std::string& path) {
  TSDB_ASSIGN_OR_RETURN(const bool exists, fs.Exists(JoinPath(path, "CURRENT")));
  if (!exists) {
    return Status::NotFound(fmt::format("no database at {}", path));
  }
  VerifyReport report;
  const auto state = chunk::Manifest::Load(fs, path);
  if (!state.ok()) {
    report.damage.push_back(state.status().ToString());
    return report;
  }
  report.files += 2;  // CURRENT and the manifest
  TSDB_ASSIGN_OR_RETURN(auto lost_edits, FindLostEdits(fs, path, *state));
  if (!lost_edits.empty()) {
    const auto now = chunk::Manifest::Load(fs, path);
    if (now.ok() && (now->flushed_commit != state->flushed_commit || now->chunk_files != state->chunk_files)) {
      lost_edits.clear();  // a writer is at work: what looked lost was being written
      report.notes.push_back(path + ": changed while it was read; check it again when no process writes it");
    }
  }
  TSDB_ASSIGN_OR_RETURN(const std::string manifest, chunk::Manifest::CurrentPath(fs, path));
  for (const std::string& sign : lost_edits) {
    report.damage.push_back(manifest + ": the manifest lost edits at its end: " + sign);
  }
  for (const chunk::ChunkFileMeta& meta : state->chunk_files) {
    ++report.files;
    VerifyChunkFile(fs, JoinPath(path, chunk::ChunkFileName(meta.number)), &report);
  }
  for (const chunk::CatalogueMeta& meta : state->catalogue_files) {
    ++report.files;
    report.bytes += meta.bytes;
    const Status status = chunk::ReadCatalogueFile(fs, JoinPath(path, chunk::CatalogueFileName(meta.number)),
                                                   state->store_high, state->store_low,
                                                   [](const SeriesDefinition&) { return Status::Ok(); });
    if (!status.ok()) {
      report.damage.push_back(status.ToString());
    }
  }
  if (Status status = VerifyLog(fs, path, *state, &report); !status.ok()) {
    report.damage.push_back(status.ToString());
  }
  return report;
}

}  // namespace tsdb
