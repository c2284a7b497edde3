#include "chunk/chunk_directory.h"

#include <fmt/format.h>

#include "base/checksum.h"
#include "base/coding.h"
#include "chunk/place_seed.h"

namespace tsdb::chunk {

namespace {

/// No index entry is shorter: six varints and a checksum.
constexpr std::uint64_t kIndexEntryBytesMin = 10;

void PutTotals(const std::map<std::uint8_t, EncodingTotals>& totals, std::string* out) {
  PutVarint(out, totals.size());
  for (const auto& [encoding, total] : totals) {
    out->push_back(static_cast<char>(encoding));
    PutVarint(out, total.columns);
    PutVarint(out, total.samples);
    PutVarint(out, total.bytes);
  }
}

bool ReadTotals(ByteReader* reader, std::vector<EncodingTotals>* totals) {
  totals->clear();
  std::uint64_t count = 0;
  if (!reader->ReadVarint(&count) || count > 256) {
    return false;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    EncodingTotals total;
    if (!reader->ReadFixed(&total.encoding) || !reader->ReadVarint(&total.columns) ||
        !reader->ReadVarint(&total.samples) || !reader->ReadVarint(&total.bytes) ||
        (!totals->empty() && totals->back().encoding >= total.encoding)) {
      return false;
    }
    totals->push_back(total);
  }
  return true;
}

void Count(std::map<std::uint8_t, EncodingTotals>* totals, std::uint8_t encoding, std::uint32_t samples,
           std::uint32_t bytes) {
  EncodingTotals& total = (*totals)[encoding];
  total.encoding = encoding;
  total.columns += 1;
  total.samples += samples;
  total.bytes += bytes;
}

/// Reads index entries one after another.
class IndexReader {
 public:
  IndexReader(std::string_view data, const ChunkFileFooter& footer) : reader_(data), footer_(footer) {
    previous_.offset = footer.directory_offset;
    previous_.columns_end = kChunkFileHeaderBytes;
  }

  ByteReader& reader() { return reader_; }
  std::uint64_t rows() const { return rows_; }
  bool ends_right() const {
    return reader_.empty() && previous_.offset + previous_.bytes == footer_.index_offset &&
           previous_.columns_end == footer_.directory_offset;
  }

  bool Next(DirectoryBlock* block) {
    std::uint64_t id_step = 0;
    std::int64_t time_step = 0;
    std::uint64_t id_span = 0;
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
    std::uint64_t columns = 0;
    if (!reader_.ReadVarint(&id_step) || !reader_.ReadVarintSigned(&time_step) || !reader_.ReadVarint(&id_span) ||
        !reader_.ReadVarint(&rows) || !reader_.ReadVarint(&bytes) || !reader_.ReadVarint(&columns) ||
        !reader_.ReadFixed(&block->checksum)) {
      return false;
    }
    block->first_id.value = previous_.last_id.value + id_step;
    block->last_id.value = block->first_id.value + id_span;
    block->first_time = static_cast<Timestamp>(static_cast<std::uint64_t>(previous_.first_time) +
                                               static_cast<std::uint64_t>(time_step));
    block->offset = previous_.offset + previous_.bytes;
    block->columns_begin = previous_.columns_end;
    if (bytes == 0 || bytes > footer_.index_offset - block->offset || rows == 0 || rows > kDirectoryBlockRows ||
        columns > footer_.directory_offset - block->columns_begin || block->first_id.value == 0 ||
        block->first_time < kTimestampMin || bytes > UINT32_MAX ||
        block->first_id < previous_.last_id || block->last_id < block->first_id ||
        (block->first_id == previous_.first_id && block->first_time <= previous_.first_time)) {
      return false;
    }
    block->columns_end = block->columns_begin + columns;
    block->bytes = static_cast<std::uint32_t>(bytes);
    block->rows = static_cast<std::uint32_t>(rows);
    rows_ += rows;
    previous_ = *block;
    return true;
  }

 private:
  ByteReader reader_;
  const ChunkFileFooter& footer_;
  DirectoryBlock previous_;
  std::uint64_t rows_ = 0;
};

}  // namespace

void DirectoryEncoder::Add(const ChunkEntry& entry, std::uint64_t ordinal, const RowDetails& details,
                           std::uint64_t columns_end) {
  if (rows_.rows() == 0) {
    block_.first_id = entry.id;
    block_.first_time = entry.first_time;
    block_.columns_begin = columns_end_;
    rows_.Start(columns_end_);
  }
  rows_.Add(entry, ordinal, details);
  columns_end_ = columns_end;
  if (ordinal == time_columns_) {
    Count(&times_, entry.time_encoding, entry.count, entry.time_bytes);
    ++time_columns_;
  }
  Count(&values_, entry.value_encoding, entry.count, entry.value_bytes);
  if (rows_.rows() == kDirectoryBlockRows || rows_.bytes().size() >= kDirectoryBlockBytes) {
    EndBlock();
  }
}

void DirectoryEncoder::EndBlock() {
  block_.offset = blocks_bytes_.size();
  block_.bytes = static_cast<std::uint32_t>(rows_.bytes().size());
  block_.rows = static_cast<std::uint32_t>(rows_.rows());
  block_.columns_end = columns_end_;
  block_.last_id = rows_.last_id();
  blocks_.push_back(block_);
  blocks_bytes_ += rows_.bytes();
  rows_.Start(columns_end_);
}

std::string DirectoryEncoder::Finish(ChunkFileFooter* footer) {
  if (rows_.rows() != 0) {
    EndBlock();
  }
  std::string bytes = std::move(blocks_bytes_);
  footer->directory_offset = columns_end_;
  footer->index_offset = columns_end_ + bytes.size();
  footer->blocks = blocks_.size();
  PutTotals(times_, &bytes);
  PutTotals(values_, &bytes);
  DirectoryBlock previous;
  for (const DirectoryBlock& block : blocks_) {
    PutVarint(&bytes, block.first_id.value - previous.last_id.value);
    PutVarintSigned(&bytes, static_cast<std::int64_t>(static_cast<std::uint64_t>(block.first_time) -
                                                      static_cast<std::uint64_t>(previous.first_time)));
    PutVarint(&bytes, block.last_id.value - block.first_id.value);
    PutVarint(&bytes, block.rows);
    PutVarint(&bytes, block.bytes);
    PutVarint(&bytes, block.columns_end - block.columns_begin);
    PutFixed32(&bytes, Checksum32(std::string_view(bytes).substr(block.offset, block.bytes),
                                  PlaceSeed(file_number_, footer->directory_offset + block.offset)));
    previous = block;
  }
  const std::uint64_t index_at = footer->index_offset - footer->directory_offset;
  footer->index_checksum =
      Checksum64(std::string_view(bytes).substr(index_at), PlaceSeed(file_number_, footer->index_offset));
  return bytes;
}

Status DecodeDirectoryIndex(std::string_view data, const ChunkFileFooter& footer, std::vector<DirectoryBlock>* blocks,
                            ChunkFileTotals* totals) {
  blocks->clear();
  const auto corruption = [&](std::uint64_t offset, std::string_view what) {
    return Status::Corruption(fmt::format("@{}: index of the directory: {}", footer.index_offset + offset, what));
  };
  if (footer.blocks == 0 || footer.blocks > data.size() / kIndexEntryBytesMin) {
    return corruption(0, fmt::format("{} blocks do not fit {} bytes", footer.blocks, data.size()));
  }
  IndexReader index(data, footer);
  if (!ReadTotals(&index.reader(), &totals->times) || !ReadTotals(&index.reader(), &totals->values)) {
    return corruption(index.reader().offset(), "the totals of the encodings are damaged");
  }
  totals->directory_bytes = footer.index_offset + data.size() - footer.directory_offset;
  blocks->reserve(static_cast<std::size_t>(footer.blocks));
  for (std::uint64_t i = 0; i < footer.blocks; ++i) {
    DirectoryBlock block;
    if (!index.Next(&block)) {
      return corruption(index.reader().offset(), fmt::format("block {}: it is cut short or out of range", i));
    }
    blocks->push_back(block);
  }
  if (!index.ends_right() || index.rows() != footer.chunks) {
    return corruption(0, "blocks, columns or chunks do not add up to the footer's");
  }
  return {};
}

}  // namespace tsdb::chunk
