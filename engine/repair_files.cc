#include "engine/repair_files.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "chunk/chunk_file.h"
#include "chunk/chunk_rows.h"
#include "chunk/manifest_codec.h"
#include "chunk/manifest_log.h"
#include "wal/segment.h"
#include "wal/segment_reader.h"

namespace tsdb::engine {
namespace {

/// The writer of a new file, made when the first whole chunk comes.
class Salvage {
 public:
  Salvage(FileSystem& fs, std::string database_path, const chunk::ChunkFileOptions& options, bool dry_run)
      : fs_(fs), database_path_(std::move(database_path)), options_(options), dry_run_(dry_run) {}

  Status Add(SeriesId id, const chunk::Columns& columns) {
    ++meta_.chunks;
    meta_.samples += columns.size();
    if (dry_run_) {
      return Status::Ok();
    }
    if (writer_ == nullptr) {
      TSDB_ASSIGN_OR_RETURN(writer_, chunk::ChunkFileWriter::Create(
                                         fs_, JoinPath(database_path_, chunk::ChunkFileName(options_.number)),
                                         options_));
    }
    return writer_->Add(id, {columns.times, columns.values});
  }

  Result<std::optional<chunk::ChunkFileMeta>> Finish() {
    if (writer_ != nullptr) {
      TSDB_ASSIGN_OR_RETURN(meta_, writer_->Finish());
      TSDB_RETURN_IF_ERROR(fs_.SyncDirectory(JoinPath(database_path_, "chunks")));
    }
    return meta_.chunks == 0 ? std::optional<chunk::ChunkFileMeta>() : std::optional(meta_);
  }

 private:
  FileSystem& fs_;
  const std::string database_path_;
  const chunk::ChunkFileOptions options_;
  const bool dry_run_;
  std::unique_ptr<chunk::ChunkFileWriter> writer_;
  chunk::ChunkFileMeta meta_;
};

}  // namespace

Result<SalvagedChunks> SalvageChunkFile(FileSystem& fs, const std::string& database_path, const std::string& path,
                                        std::uint64_t number, bool dry_run) {
  SalvagedChunks salvaged;
  auto file = chunk::ChunkFileReader::Open(fs, path);
  if (!file.ok()) {
    salvaged.damage.push_back(file.status().ToString());
    return salvaged;
  }
  chunk::ChunkFileOptions options = (*file)->options();
  options.number = number;
  Salvage salvage(fs, database_path, options, dry_run);
  std::uint64_t whole = 0;
  chunk::Columns columns;
  chunk::ChunkRows rows;
  for (std::size_t block = 0; block < (*file)->blocks(); ++block) {
    const Status directory = (*file)->ReadBlock(block, &rows);
    if (directory.code() == StatusCode::kCorruption) {
      salvaged.damage.push_back(directory.ToString());
      continue;
    }
    TSDB_RETURN_IF_ERROR(directory);
    for (const chunk::ChunkEntry& entry : rows.entries) {
      const Status status = (*file)->Read(entry, &columns);
      if (status.code() == StatusCode::kCorruption) {
        salvaged.damage.push_back(status.ToString());
        continue;
      }
      TSDB_RETURN_IF_ERROR(status);
      TSDB_RETURN_IF_ERROR(salvage.Add(entry.id, columns));
      whole += columns.size();
    }
  }
  TSDB_ASSIGN_OR_RETURN(salvaged.meta, salvage.Finish());
  salvaged.samples_lost = (*file)->meta().samples - std::min((*file)->meta().samples, whole);
  return salvaged;
}

Result<std::optional<chunk::ManifestState>> ReadManifestPrefix(FileSystem& fs, const std::string& path) {
  std::optional<chunk::ManifestState> none;
  auto file = ReadFile(fs, path, chunk::kManifestBytesMax);
  if (file.status().code() == StatusCode::kNotFound) {
    return none;
  }
  TSDB_RETURN_IF_ERROR(file.status());
  const auto number = chunk::DecodeManifestHeader(*file);
  if (!number.ok()) {
    return none;
  }
  std::optional<chunk::ManifestState> state;
  const auto scan = chunk::ScanManifest(*file, *number, [&](const chunk::ManifestFrame& frame) -> Status {
    if (frame.record.empty()) {
      return Status::Ok();
    }
    chunk::ManifestRecord record;
    TSDB_RETURN_IF_ERROR(chunk::DecodeRecord(frame.record, &record));
    if (record.whole_state == state.has_value()) {
      return Status::Corruption("a whole state must be the first edit, and only it");
    }
    chunk::ManifestState next = state.value_or(chunk::ManifestState());
    TSDB_RETURN_IF_ERROR(chunk::ApplyRecord(record, &next));
    state = std::move(next);
    return Status::Ok();
  });
  if (scan.status().code() == StatusCode::kNotSupported) {
    return scan.status();  // of a later version: nothing here may be put together anew
  }
  return state;
}

Result<std::optional<wal::StoreId>> FindStoreId(FileSystem& fs, const std::string& database_path) {
  const std::string chunks = JoinPath(database_path, "chunks");
  if (const auto entries = fs.List(chunks); entries.ok()) {
    for (const DirectoryEntry& entry : *entries) {
      const auto file = chunk::ChunkFileReader::Open(fs, JoinPath(chunks, entry.name));
      if (file.ok()) {
        return std::optional(wal::StoreId{(*file)->options().store_high, (*file)->options().store_low});
      }
    }
  }
  const std::string log = JoinPath(database_path, "wal");
  if (const auto entries = fs.List(log); entries.ok()) {
    for (const DirectoryEntry& entry : *entries) {
      const auto number = wal::ParseSegmentFileName(entry.name);
      if (!number) {
        continue;
      }
      TSDB_ASSIGN_OR_RETURN(const auto reader, wal::SegmentReader::Open(fs, log, *number));
      wal::SegmentHeader header;
      TSDB_ASSIGN_OR_RETURN(const bool valid, reader->ReadHeader(&header));
      if (valid) {
        return std::optional(header.store_id);
      }
    }
  }
  return std::optional<wal::StoreId>();
}

void KeepNewest(const SeriesDefinition& definition, Definitions* definitions) {
  const auto [found, fresh] = definitions->try_emplace(definition.id.value, definition);
  if (!fresh && found->second.commit <= definition.commit) {
    found->second = definition;
  }
}

}  // namespace tsdb::engine
