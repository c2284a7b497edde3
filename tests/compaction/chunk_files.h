// What tests of merging share: chunk files made from maps, and maps read back from chunk files.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "chunk/chunk_file.h"
#include "chunk/manifest.h"

namespace tsdb::compaction {

using Samples = std::map<Timestamp, std::uint64_t>;      // time → bits of the value
using SampleTable = std::map<std::uint64_t, Samples>;    // by series id

/// Chunk files in "db", opened, oldest first.
class ChunkFiles {
 public:
  explicit ChunkFiles(FileSystem& fs) : fs_(fs) { EXPECT_TRUE(fs.CreateDirectories("db/chunks").ok()); }

  /// Writes the table as one file with the commits [first, last], in chunks of `chunk_samples`.
  void Add(std::uint64_t number, const SampleTable& table, std::uint64_t first, std::uint64_t last,
           std::size_t chunk_samples = 1024, std::uint32_t level = 0) {
    chunk::ChunkFileOptions options;
    options.store_high = 1;
    options.store_low = 2;
    options.number = number;
    options.first_commit = {first};
    options.last_commit = {last};
    options.level = level;
    auto writer = chunk::ChunkFileWriter::Create(fs_, JoinPath("db", chunk::ChunkFileName(number)), options);
    ASSERT_TRUE(writer.ok()) << writer.status().ToString();
    for (const auto& [id, samples] : table) {
      chunk::Columns columns;
      for (const auto& [time, bits] : samples) {
        columns.Append(time, std::bit_cast<double>(bits));
        if (columns.size() == chunk_samples) {
          ASSERT_TRUE((*writer)->Add({id}, {columns.times, columns.values}).ok());
          columns.Clear();
        }
      }
      if (!columns.empty()) {
        ASSERT_TRUE((*writer)->Add({id}, {columns.times, columns.values}).ok());
      }
    }
    const auto meta = (*writer)->Finish();
    ASSERT_TRUE(meta.ok()) << meta.status().ToString();
    metas_.push_back(*meta);
    Open(number);
  }

  void Open(std::uint64_t number) {
    auto reader = chunk::ChunkFileReader::Open(fs_, JoinPath("db", chunk::ChunkFileName(number)));
    ASSERT_TRUE(reader.ok()) << reader.status().ToString();
    readers_.push_back(std::move(*reader));
  }

  std::vector<const chunk::ChunkFileReader*> files() const {
    std::vector<const chunk::ChunkFileReader*> files;
    for (const auto& reader : readers_) {
      files.push_back(reader.get());
    }
    return files;
  }
  const std::vector<chunk::ChunkFileMeta>& metas() const { return metas_; }

 private:
  FileSystem& fs_;
  std::vector<std::unique_ptr<chunk::ChunkFileReader>> readers_;
  std::vector<chunk::ChunkFileMeta> metas_;
};

/// All samples of a file; checks that it is sound and as `meta` says.
inline SampleTable ReadTable(FileSystem& fs, const chunk::ChunkFileMeta& meta) {
  SampleTable table;
  auto reader = chunk::ChunkFileReader::Open(fs, JoinPath("db", chunk::ChunkFileName(meta.number)));
  EXPECT_TRUE(reader.ok()) << reader.status().ToString();
  if (!reader.ok()) {
    return table;
  }
  EXPECT_EQ((*reader)->meta(), meta);
  std::vector<std::string> damage;
  EXPECT_TRUE((*reader)->Verify(&damage).ok() && damage.empty());
  chunk::Columns columns;
  chunk::ChunkRows rows;
  for (std::size_t block = 0; block < (*reader)->blocks(); ++block) {
    EXPECT_TRUE((*reader)->ReadBlock(block, &rows).ok());
    for (const chunk::ChunkEntry& entry : rows.entries) {
      EXPECT_TRUE((*reader)->Read(entry, &columns).ok());
      for (std::size_t i = 0; i < columns.size(); ++i) {
        table[entry.id.value][columns.times[i]] = std::bit_cast<std::uint64_t>(columns.values[i]);
      }
    }
  }
  return table;
}

/// `newer` over `older`.
inline void Overlay(const SampleTable& newer, SampleTable* older) {
  for (const auto& [id, samples] : newer) {
    for (const auto& [time, bits] : samples) {
      (*older)[id][time] = bits;
    }
  }
}

}  // namespace tsdb::compaction
