#include "compaction/flush.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "chunk/catalogue_file.h"
#include "chunk/chunk_file.h"
#include "compaction/output_files.h"

namespace tsdb::compaction {

namespace {

class FlushJob {
 public:
  FlushJob(const FlushInput& input, FileSystem& fs) : input_(input), fs_(fs), files_(fs) {}

  Result<chunk::ManifestEdit> Run() {
    if (input_.samples != nullptr) {
      TSDB_RETURN_IF_ERROR(WriteSamples(input_.samples));
    }
    if (!input_.definitions.empty()) {
      TSDB_RETURN_IF_ERROR(WriteDefinitions());
    }
    TSDB_RETURN_IF_ERROR(files_.SyncFolders());
    files_.Keep();
    edit_.flushed_commit = input_.last_commit;
    return std::move(edit_);
  }

 private:
  Status WriteSamples(SeriesSource* samples) {
    SeriesId id;
    chunk::Columns columns;
    while (samples->Next(&id, &columns)) {
      if (columns.times.size() != columns.values.size()) {
        return Status::InvalidArgument(fmt::format("flush: series {}: {} times and {} values", id.value,
                                                   columns.times.size(), columns.values.size()));
      }
      for (std::size_t begin = 0; begin < columns.size(); begin += input_.chunk_samples) {
        const std::size_t count = std::min(input_.chunk_samples, columns.size() - begin);
        TSDB_RETURN_IF_ERROR(AddChunk(id, {std::span(columns.times).subspan(begin, count),
                                           std::span(columns.values).subspan(begin, count)}));
      }
    }
    TSDB_RETURN_IF_ERROR(samples->status());
    return writer_ != nullptr ? FinishFile() : Status();
  }

  Status AddChunk(SeriesId id, chunk::ColumnsView columns) {
    if (writer_ != nullptr && writer_->bytes() >= input_.file_bytes_max) {
      TSDB_RETURN_IF_ERROR(FinishFile());
    }
    if (writer_ == nullptr) {
      TSDB_RETURN_IF_ERROR(StartFile());
    }
    return writer_->Add(id, columns);
  }

  Status StartFile() {
    chunk::ChunkFileOptions options;
    options.store_high = input_.store_high;
    options.store_low = input_.store_low;
    options.number = input_.file_numbers->Take();
    options.first_commit = input_.first_commit;
    options.last_commit = input_.last_commit;
    TSDB_ASSIGN_OR_RETURN(const std::string path,
                          files_.NewFile(input_.database_path, chunk::ChunkFileName(options.number)));
    TSDB_ASSIGN_OR_RETURN(writer_, chunk::ChunkFileWriter::Create(fs_, path, options));
    return {};
  }

  Status FinishFile() {
    TSDB_ASSIGN_OR_RETURN(chunk::ChunkFileMeta meta, writer_->Finish());
    edit_.added_chunk_files.push_back(meta);
    writer_ = nullptr;
    return {};
  }

  Status WriteDefinitions() {
    const std::uint64_t number = input_.file_numbers->Take();
    TSDB_ASSIGN_OR_RETURN(const std::string path,
                          files_.NewFile(input_.database_path, chunk::CatalogueFileName(number)));
    TSDB_ASSIGN_OR_RETURN(const chunk::CatalogueMeta meta,
                          chunk::WriteCatalogueFile(fs_, path, number, input_.store_high, input_.store_low,
                                                    input_.definitions));
    edit_.added_catalogue_files.push_back(meta);
    return {};
  }

  const FlushInput& input_;
  FileSystem& fs_;
  OutputFiles files_;
  std::unique_ptr<chunk::ChunkFileWriter> writer_;  // closed before the files are removed
  chunk::ManifestEdit edit_;
};

}  // namespace

Result<chunk::ManifestEdit> Flush(const FlushInput& input, FileSystem& fs) {
  if (input.chunk_samples == 0 || input.chunk_samples > chunk::kChunkSamplesMax || input.file_numbers == nullptr ||
      input.first_commit > input.last_commit) {
    return Status::InvalidArgument(fmt::format("flush: commits {} to {} into chunks of {} samples",
                                               input.first_commit.value, input.last_commit.value,
                                               input.chunk_samples));
  }
  try {
    return FlushJob(input, fs).Run();
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory("flush: no memory");
  }
}

}  // namespace tsdb::compaction
