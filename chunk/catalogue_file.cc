#include "chunk/catalogue_file.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <new>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/safeguard.h"
#include "chunk/catalogue_format.h"
#include "chunk/place_seed.h"

namespace tsdb::chunk {

namespace {

constexpr int kCompressionLevel = 3;

/// Cuts definitions into blocks and writes them.
class Writer {
 public:
  Writer(WritableFile* file, const CatalogueHeader& header) : file_(file), header_(header) {}

  Status Write(std::span<const SeriesDefinition> definitions) {
    pending_ = EncodeCatalogueHeader(header_);
    position_ = pending_.size();
    for (const SeriesDefinition& definition : definitions) {
      PutVarint(&raw_, definition.commit.value - header_.first_commit.value);
      EncodeDefinition(definition, &raw_);
      ++block_definitions_;
      if (raw_.size() >= kCatalogueBlockBytes) {
        TSDB_RETURN_IF_ERROR(EndBlock());
      }
    }
    TSDB_RETURN_IF_ERROR(EndBlock());
    return file_->Append(pending_);
  }

 private:
  Status EndBlock() {
    if (block_definitions_ == 0) {
      return {};
    }
    if (raw_.size() > kCatalogueBlockBytesMax) {
      return Status::InvalidArgument(fmt::format("a block of {} bytes of definitions is too large", raw_.size()));
    }
    compressed_.resize(ZSTD_compressBound(raw_.size()));
    const std::size_t n =
        ZSTD_compress(compressed_.data(), compressed_.size(), raw_.data(), raw_.size(), kCompressionLevel);
    if (ZSTD_isError(n) != 0) {
      return Status::Internal(fmt::format("zstd: {}", ZSTD_getErrorName(n)));
    }
    std::string block;
    PutFixed32(&block, static_cast<std::uint32_t>(n));
    PutFixed32(&block, static_cast<std::uint32_t>(raw_.size()));
    PutFixed32(&block, block_definitions_);
    block.append(compressed_, 0, n);
    PutFixed32(&pending_, Checksum32(block, PlaceSeed(header_.number, position_)));
    pending_.append(block);
    position_ += 4 + block.size();
    raw_.clear();
    block_definitions_ = 0;
    if (pending_.size() < kWriteBytes) {
      return {};
    }
    TSDB_RETURN_IF_ERROR(file_->Append(pending_));
    pending_.clear();
    return {};
  }

  static constexpr std::size_t kWriteBytes = 256 * 1024;

  WritableFile* const file_;
  const CatalogueHeader header_;
  std::string raw_;
  std::string compressed_;
  std::string pending_;
  std::uint64_t position_ = 0;
  std::uint32_t block_definitions_ = 0;
};

Status WriteSynced(FileSystem& fs, const std::string& path, const CatalogueHeader& header,
                   std::span<const SeriesDefinition> definitions, std::uint64_t* bytes) {
  TSDB_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, fs.OpenWritable(path, OpenMode::kCreate));
  TSDB_RETURN_IF_ERROR(Writer(file.get(), header).Write(definitions));
  TSDB_RETURN_IF_ERROR(TSDB_SYNC("catalogue/bytes", file->Sync()));
  *bytes = file->size();
  return file->Close();
}

/// Visits the definitions of one decompressed block.
class BlockVisitor {
 public:
  BlockVisitor(const CatalogueHeader& header, const std::function<Status(const SeriesDefinition&)>& visit)
      : header_(header), visit_(visit) {}

  /// What is wrong with the bytes themselves is left in `problem`.
  Status Visit(std::string_view raw, std::uint32_t definitions, std::string* problem) {
    ByteReader reader(raw);
    for (std::uint32_t i = 0; i < definitions; ++i) {
      SeriesDefinition definition;
      std::uint64_t commit = 0;
      if (!reader.ReadVarint(&commit) || !DecodeDefinition(&reader, &definition)) {
        *problem = fmt::format("definition {} of the block is not one", i);
        return {};
      }
      if (definition.id.value <= last_id_ || commit > header_.last_commit.value - header_.first_commit.value) {
        *problem = fmt::format("series {}: id or commit out of range", definition.id.value);
        return {};
      }
      last_id_ = definition.id.value;
      definition.commit.value = header_.first_commit.value + commit;
      TSDB_RETURN_IF_ERROR(visit_(definition));
    }
    if (!reader.empty()) {
      *problem = "bytes after the last definition of the block";
    }
    return {};
  }

 private:
  const CatalogueHeader& header_;
  const std::function<Status(const SeriesDefinition&)>& visit_;
  std::uint64_t last_id_ = 0;
};

Status ReadExactly(const RandomReadFile& file, std::uint64_t offset, std::size_t n, std::string* out) {
  out->resize(n);
  TSDB_ASSIGN_OR_RETURN(const std::size_t got, file.ReadAt(offset, n, out->data()));
  if (got != n) {
    return Status::Corruption(fmt::format("{}@{}: the file ends {} bytes too early", file.path(), offset, n - got));
  }
  return {};
}

/// One block at `*position`, which moves behind it.
Status ReadBlock(const RandomReadFile& file, const CatalogueHeader& header, std::uint64_t* position, std::string* raw,
                 std::uint32_t* definitions) {
  const auto corruption = [&](std::string_view what) {
    return Status::Corruption(fmt::format("{}@{}: {}", file.path(), *position, what));
  };
  std::string block;
  TSDB_RETURN_IF_ERROR(ReadExactly(file, *position, kCatalogueBlockHeaderBytes, &block));
  const CatalogueBlockHeader block_header = DecodeCatalogueBlockHeader(block);
  const std::uint64_t left = file.size() - *position - kCatalogueBlockHeaderBytes;
  if (block_header.compressed_bytes > left || block_header.raw_bytes > kCatalogueBlockBytesMax ||
      block_header.compressed_bytes > ZSTD_compressBound(kCatalogueBlockBytesMax)) {
    return corruption("the block reaches beyond its bounds");
  }
  TSDB_RETURN_IF_ERROR(
      ReadExactly(file, *position, kCatalogueBlockHeaderBytes + block_header.compressed_bytes, &block));
  const std::string_view bytes(block);
  if (TSDB_MISMATCH("catalogue/block",
                    Checksum32(bytes.substr(4), PlaceSeed(header.number, *position)) != block_header.checksum)) {
    return corruption("block checksum mismatch");
  }
  const std::string_view compressed = bytes.substr(kCatalogueBlockHeaderBytes);
  raw->resize(block_header.raw_bytes);
  const std::size_t n = ZSTD_decompress(raw->data(), raw->size(), compressed.data(), compressed.size());
  if (ZSTD_isError(n) != 0 || n != raw->size()) {
    return corruption("the block does not decompress");
  }
  *definitions = block_header.definitions;
  *position += block.size();
  return {};
}

Status ReadAll(const RandomReadFile& file, const CatalogueHeader& header,
               const std::function<Status(const SeriesDefinition&)>& visit) {
  BlockVisitor visitor(header, visit);
  std::string raw;
  std::uint64_t position = kCatalogueHeaderBytes;
  std::uint64_t seen = 0;
  while (seen < header.definitions) {
    const std::uint64_t block_offset = position;
    std::uint32_t definitions = 0;
    TSDB_RETURN_IF_ERROR(ReadBlock(file, header, &position, &raw, &definitions));
    std::string problem;
    if (definitions == 0 || definitions > header.definitions - seen) {
      problem = "the block's count is out of range";
    } else {
      TSDB_RETURN_IF_ERROR(visitor.Visit(raw, definitions, &problem));
    }
    if (!problem.empty()) {
      return Status::Corruption(fmt::format("{}@{}: {}", file.path(), block_offset, problem));
    }
    seen += definitions;
  }
  if (position != file.size()) {
    return Status::Corruption(fmt::format("{}@{}: bytes after the last block", file.path(), position));
  }
  return {};
}

Status CheckSorted(const std::string& path, std::span<const SeriesDefinition> definitions) {
  std::uint64_t last = 0;
  for (const SeriesDefinition& definition : definitions) {
    if (definition.id.value <= last) {
      return Status::InvalidArgument(
          fmt::format("{}: definitions must ascend by series id ({} after {})", path, definition.id.value, last));
    }
    last = definition.id.value;
  }
  return {};
}

}  // namespace

Result<CatalogueMeta> WriteCatalogueFile(FileSystem& fs, const std::string& path, std::uint64_t number,
                                         std::uint64_t store_high, std::uint64_t store_low,
                                         std::span<const SeriesDefinition> definitions) {
  TSDB_RETURN_IF_ERROR(CheckSorted(path, definitions));
  CatalogueHeader header;
  header.store_high = store_high;
  header.store_low = store_low;
  header.number = number;
  header.definitions = definitions.size();
  if (!definitions.empty()) {
    const auto [first, last] = std::ranges::minmax(definitions, {}, &SeriesDefinition::commit);
    header.first_commit = first.commit;
    header.last_commit = last.commit;
  }
  CatalogueMeta meta;
  meta.number = number;
  meta.first_commit = header.first_commit;
  meta.last_commit = header.last_commit;
  meta.definitions = header.definitions;
  try {
    TSDB_RETURN_IF_ERROR(WriteSynced(fs, path, header, definitions, &meta.bytes));
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory(path + ": no memory for a block of definitions");
  }
  return meta;
}

Result<CatalogueMeta> ReadCatalogueMeta(FileSystem& fs, const std::string& path) {
  TSDB_ASSIGN_OR_RETURN(std::unique_ptr<RandomReadFile> file, fs.OpenReadable(path));
  TSDB_ASSIGN_OR_RETURN(const CatalogueHeader header, ReadCatalogueHeader(*file));
  return CatalogueMeta{header.number, file->size(), header.first_commit, header.last_commit, header.definitions};
}

Status ReadCatalogueFile(FileSystem& fs, const std::string& path, std::uint64_t store_high, std::uint64_t store_low,
                         const std::function<Status(const SeriesDefinition&)>& visit) {
  TSDB_ASSIGN_OR_RETURN(std::unique_ptr<RandomReadFile> file, fs.OpenReadable(path));
  try {
    TSDB_ASSIGN_OR_RETURN(const CatalogueHeader header, ReadCatalogueHeader(*file));
    if (header.store_high != store_high || header.store_low != store_low) {
      return Status::Corruption(path + "@16: the file belongs to another database");
    }
    return ReadAll(*file, header, visit);
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory(path + ": no memory for a block of definitions");
  }
}

}  // namespace tsdb::chunk
