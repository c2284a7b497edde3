#include "chunk/catalogue_file.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "chunk/file_dump.h"
#include "tests/chunk/damage.h"

namespace tsdb::chunk {
namespace {

std::vector<SeriesDefinition> MakeDefinitions(std::size_t count) {
  std::vector<SeriesDefinition> definitions;
  for (std::size_t i = 0; i < count; ++i) {
    SeriesDefinition d;
    d.id = {1 + i * 3};
    d.commit = {1000 - i % 7};
    if (i % 5 == 4) {
      d.dropped = true;
    } else if (i % 3 == 2) {
      d.created_by_key = true;
      d.key = "key " + std::to_string(i);
      d.labels = {{"unit", "°C"}};
      d.settings.retention = 86'400'000;
    } else {
      d.labels = {{"__name__", "cpu_usage"}, {"host", "host-" + std::to_string(i)}, {"region", "eu"}};
    }
    definitions.push_back(d);
  }
  return definitions;
}

/// Everything that can be read, and how it ended.
struct Contents {
  Status status;
  std::vector<SeriesDefinition> definitions;
};

Contents Read(FileSystem& fs, const std::string& path, std::uint64_t store_low = 2) {
  Contents contents;
  contents.status = ReadCatalogueFile(fs, path, 1, store_low, [&](const SeriesDefinition& definition) {
    contents.definitions.push_back(definition);
    return Status();
  });
  return contents;
}

TEST(CatalogueFile, GivesBackEveryDefinition) {
  for (const std::size_t count : {0u, 1u, 5u, 20'000u}) {
    SCOPED_TRACE(count);
    MemoryFileSystem fs;
    const std::vector<SeriesDefinition> definitions = MakeDefinitions(count);
    const auto meta = WriteCatalogueFile(fs, "f", 9, 1, 2, definitions);
    ASSERT_TRUE(meta.ok()) << meta.status().ToString();
    EXPECT_EQ(meta->bytes, fs.ReadWhole("f")->size());
    EXPECT_EQ(meta->number, 9u);
    EXPECT_EQ(meta->definitions, count);
    EXPECT_EQ(meta->last_commit.value, count == 0 ? 0u : 1000u);
    const Contents contents = Read(fs, "f");
    EXPECT_TRUE(contents.status.ok()) << contents.status.ToString();
    EXPECT_EQ(contents.definitions, definitions);
    EXPECT_EQ(*ReadCatalogueMeta(fs, "f"), *meta);
  }
}

TEST(CatalogueFile, ManySimilarDefinitionsTakeFewBytes) {
  MemoryFileSystem fs;
  const auto meta = WriteCatalogueFile(fs, "f", 9, 1, 2, MakeDefinitions(20'000));
  ASSERT_TRUE(meta.ok());
  EXPECT_LT(meta->bytes, 20'000u * 16);
}

TEST(CatalogueFile, HoldsTheLargestKeysAndLabels) {
  MemoryFileSystem fs;
  std::vector<SeriesDefinition> definitions(2);
  definitions[0].id = {1};
  definitions[0].created_by_key = true;
  definitions[0].key = std::string(kKeyBytesMax, 'k');
  definitions[0].labels = {{"l", std::string(kKeyBytesMax - 1, 'v')}};
  definitions[1] = definitions[0];
  definitions[1].id = {2};
  ASSERT_TRUE(WriteCatalogueFile(fs, "f", 9, 1, 2, definitions).ok());
  EXPECT_EQ(Read(fs, "f").definitions, definitions);
}

TEST(CatalogueFile, RefusesDefinitionsOutOfOrder) {
  MemoryFileSystem fs;
  std::vector<SeriesDefinition> definitions = MakeDefinitions(3);
  definitions[2].id = definitions[1].id;
  EXPECT_EQ(WriteCatalogueFile(fs, "f", 9, 1, 2, definitions).status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(*fs.Exists("f"));
}

TEST(CatalogueFile, OfAnotherDatabaseIsRefused) {
  MemoryFileSystem fs;
  ASSERT_TRUE(WriteCatalogueFile(fs, "f", 9, 1, 2, MakeDefinitions(3)).ok());
  const Contents contents = Read(fs, "f", 3);
  EXPECT_EQ(contents.status.code(), StatusCode::kCorruption);
  EXPECT_TRUE(contents.definitions.empty());
}

TEST(CatalogueFile, PassesOnTheVisitorsError) {
  MemoryFileSystem fs;
  ASSERT_TRUE(WriteCatalogueFile(fs, "f", 9, 1, 2, MakeDefinitions(3)).ok());
  int visited = 0;
  const Status status = ReadCatalogueFile(fs, "f", 1, 2, [&](const SeriesDefinition&) {
    return ++visited == 2 ? Status::Cancelled("enough") : Status();
  });
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_EQ(visited, 2);
}

TEST(CatalogueFile, EveryFlippedByteIsReported) {
  MemoryFileSystem fs;
  ASSERT_TRUE(WriteCatalogueFile(fs, "f", 9, 1, 2, MakeDefinitions(12)).ok());
  ForEachFlippedByte(fs, "f", [&](const std::string& what) {
    const Contents contents = Read(fs, "f");
    EXPECT_EQ(contents.status.code(), StatusCode::kCorruption) << what;
    EXPECT_NE(contents.status.message().find("f@"), std::string::npos) << contents.status.ToString();
  });
}

TEST(CatalogueFile, EveryTruncationAndEveryExtensionIsReported) {
  MemoryFileSystem fs;
  ASSERT_TRUE(WriteCatalogueFile(fs, "f", 9, 1, 2, MakeDefinitions(12)).ok());
  ForEachTruncation(fs, "f", [&](std::size_t length) {
    EXPECT_EQ(Read(fs, "f").status.code(), StatusCode::kCorruption) << length;
  });
  fs.WriteWhole("f", *fs.ReadWhole("f") + "x");
  EXPECT_EQ(Read(fs, "f").status.code(), StatusCode::kCorruption);
}

TEST(CatalogueFile, DamageInOneBlockLeavesTheDefinitionsBeforeIt) {
  MemoryFileSystem fs;
  const std::vector<SeriesDefinition> definitions = MakeDefinitions(20'000);
  ASSERT_TRUE(WriteCatalogueFile(fs, "f", 9, 1, 2, definitions).ok());
  std::string bytes = *fs.ReadWhole("f");
  bytes[bytes.size() - 5] = static_cast<char>(bytes[bytes.size() - 5] ^ 1);
  fs.WriteWhole("f", bytes);
  const Contents contents = Read(fs, "f");
  EXPECT_EQ(contents.status.code(), StatusCode::kCorruption);
  ASSERT_GT(contents.definitions.size(), 15'000u);
  EXPECT_TRUE(std::equal(contents.definitions.begin(), contents.definitions.end(), definitions.begin()));
}

TEST(CatalogueFile, EveryFailedOperationIsPassedOn) {
  for (std::uint64_t n = 1; n <= 3; ++n) {  // create, append, sync
    MemoryFileSystem fs;
    fs.SetFault([n](std::uint64_t number, std::string_view, const std::string& path) {
      return number == n ? Status::TooManyOpenFiles(path) : Status();
    });
    EXPECT_EQ(WriteCatalogueFile(fs, "f", 9, 1, 2, MakeDefinitions(3)).status().code(), StatusCode::kTooManyOpenFiles);
  }
}

TEST(CatalogueFile, DumpShowsEveryDefinition) {
  MemoryFileSystem fs;
  ASSERT_TRUE(WriteCatalogueFile(fs, "f", 9, 1, 2, MakeDefinitions(5)).ok());
  std::vector<std::string> lines;
  ASSERT_TRUE(DumpCatalogueTo(fs, "f", [&](std::string_view line) { lines.emplace_back(line); }).ok());
  ASSERT_EQ(lines.size(), 2u + 5u);
  EXPECT_NE(lines[2].find("host-0"), std::string::npos);
  EXPECT_NE(lines[4].find("key 2"), std::string::npos);
  EXPECT_NE(lines[6].find("dropped"), std::string::npos);
}

}  // namespace
}  // namespace tsdb::chunk
