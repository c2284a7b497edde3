#include "compaction/flush.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>

#include "base/memory_file_system.h"
#include "chunk/catalogue_file.h"
#include "chunk/chunk_file.h"
#include "chunk/manifest_codec.h"
#include "compaction/orphans.h"

namespace tsdb::compaction {
namespace {

using Content = std::map<std::uint64_t, chunk::Columns>;

class MapSource final : public SeriesSource {
 public:
  explicit MapSource(const Content& content, std::size_t fail_after = SIZE_MAX)
      : content_(content), next_(content_.begin()), left_(fail_after) {}

  bool Next(SeriesId* id, chunk::Columns* columns) override {
    if (next_ == content_.end()) {
      return false;
    }
    if (left_-- == 0) {
      status_ = Status::Corruption("a head chunk is damaged");
      return false;
    }
    *id = {next_->first};
    *columns = next_->second;
    ++next_;
    return true;
  }
  Status status() const override { return status_; }

 private:
  const Content& content_;
  Content::const_iterator next_;
  std::size_t left_;
  Status status_;
};

Content MakeContent(std::size_t series, std::size_t samples, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Content content;
  for (std::size_t s = 0; s < series; ++s) {
    chunk::Columns& columns = content[1 + s * 2];
    Timestamp t = 1'000'000;
    for (std::size_t i = 0; i < samples; ++i) {
      columns.Append(t += 1 + static_cast<Timestamp>(random() % 1000), static_cast<double>(random() % 100'000) / 1000);
    }
  }
  return content;
}

std::vector<SeriesDefinition> MakeDefinitions(const Content& content) {
  std::vector<SeriesDefinition> definitions;
  for (const auto& [id, columns] : content) {
    SeriesDefinition definition;
    definition.id = {id};
    definition.commit = {id + 1};
    definition.labels = {{"__name__", "m"}, {"n", std::to_string(id)}};
    definitions.push_back(definition);
  }
  return definitions;
}

chunk::ManifestState InitialState() {
  chunk::ManifestState state;
  state.store_high = 1;
  state.store_low = 2;
  return state;
}

/// Files are numbered from 4 on.
FlushInput MakeInput(SeriesSource* samples, std::span<const SeriesDefinition> definitions) {
  static std::optional<FileNumbers> numbers;
  numbers.emplace(4);
  FlushInput input;
  input.database_path = "db";
  input.store_high = 1;
  input.store_low = 2;
  input.first_commit = {5};
  input.last_commit = {90};
  input.file_numbers = &*numbers;
  input.samples = samples;
  input.definitions = definitions;
  return input;
}

/// All samples of the files; checks that each file is sound and as the manifest says.
Content ReadContent(FileSystem& fs, const std::vector<chunk::ChunkFileMeta>& files) {
  Content content;
  for (const chunk::ChunkFileMeta& meta : files) {
    auto reader = chunk::ChunkFileReader::Open(fs, JoinPath("db", chunk::ChunkFileName(meta.number)));
    if (!reader.ok()) {
      ADD_FAILURE() << reader.status().ToString();
      continue;
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
        chunk::Columns& all = content[entry.id.value];
        all.times.insert(all.times.end(), columns.times.begin(), columns.times.end());
        all.values.insert(all.values.end(), columns.values.begin(), columns.values.end());
      }
    }
  }
  return content;
}

void ExpectSame(const Content& a, const Content& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [id, columns] : a) {
    ASSERT_TRUE(b.contains(id)) << id;
    EXPECT_EQ(columns.times, b.at(id).times) << id;
    EXPECT_EQ(columns.values, b.at(id).values) << id;
  }
}

std::vector<SeriesDefinition> ReadDefinitions(FileSystem& fs, const std::vector<chunk::CatalogueMeta>& files) {
  std::vector<SeriesDefinition> definitions;
  for (const chunk::CatalogueMeta& meta : files) {
    const Status status = chunk::ReadCatalogueFile(fs, JoinPath("db", chunk::CatalogueFileName(meta.number)), 1, 2,
                                                   [&](const SeriesDefinition& definition) {
                                                     definitions.push_back(definition);
                                                     return Status();
                                                   });
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  return definitions;
}

std::size_t CountFiles(FileSystem& fs) {
  std::size_t count = 0;
  for (const char* const folder : {"db/chunks", "db/catalogue"}) {
    const auto entries = fs.List(folder);
    count += entries.ok() ? entries->size() : 0;
  }
  return count;
}

TEST(Flush, WritesEverySampleAndDefinition) {
  MemoryFileSystem fs;
  const Content content = MakeContent(20, 2500);
  const std::vector<SeriesDefinition> definitions = MakeDefinitions(content);
  MapSource source(content);
  const auto edit = Flush(MakeInput(&source, definitions), fs);
  ASSERT_TRUE(edit.ok()) << edit.status().ToString();
  ASSERT_EQ(edit->added_chunk_files.size(), 1u);
  const chunk::ChunkFileMeta& meta = edit->added_chunk_files[0];
  EXPECT_EQ(meta.number, 4u);
  EXPECT_EQ(meta.chunks, 60u);  // 1024 + 1024 + 452 of each series
  EXPECT_EQ(meta.samples, 50'000u);
  EXPECT_EQ(meta.first_commit.value, 5u);
  EXPECT_EQ(meta.last_commit.value, 90u);
  ASSERT_EQ(edit->added_catalogue_files.size(), 1u);
  EXPECT_EQ(edit->added_catalogue_files[0].number, 5u);
  EXPECT_EQ(edit->flushed_commit.value, 90u);
  ExpectSame(ReadContent(fs, edit->added_chunk_files), content);
  EXPECT_EQ(ReadDefinitions(fs, edit->added_catalogue_files), definitions);
}

TEST(Flush, OfNothingOnlyMovesThePosition) {
  MemoryFileSystem fs;
  const Content none;
  MapSource source(none);
  for (SeriesSource* samples : {static_cast<SeriesSource*>(&source), static_cast<SeriesSource*>(nullptr)}) {
    const auto edit = Flush(MakeInput(samples, {}), fs);
    ASSERT_TRUE(edit.ok());
    EXPECT_TRUE(edit->added_chunk_files.empty() && edit->added_catalogue_files.empty());
    EXPECT_EQ(edit->flushed_commit.value, 90u);
    EXPECT_EQ(CountFiles(fs), 0u);
  }
}

TEST(Flush, PassesOverSeriesWithoutSamples) {
  MemoryFileSystem fs;
  Content content = MakeContent(3, 10);
  content[2] = {};
  MapSource source(content);
  const auto edit = Flush(MakeInput(&source, {}), fs);
  ASSERT_TRUE(edit.ok());
  content.erase(2);
  ExpectSame(ReadContent(fs, edit->added_chunk_files), content);
}

TEST(Flush, StartsAnotherFileWhenOneIsFullAlsoWithinASeries) {
  MemoryFileSystem fs;
  const Content content = MakeContent(3, 20'000);
  const std::vector<SeriesDefinition> definitions = MakeDefinitions(content);
  MapSource source(content);
  FlushInput input = MakeInput(&source, definitions);
  input.file_bytes_max = 20'000;
  const auto edit = Flush(input, fs);
  ASSERT_TRUE(edit.ok()) << edit.status().ToString();
  ASSERT_GT(edit->added_chunk_files.size(), 3u);
  for (std::size_t i = 0; i < edit->added_chunk_files.size(); ++i) {
    EXPECT_EQ(edit->added_chunk_files[i].number, 4 + i);
    EXPECT_LT(edit->added_chunk_files[i].bytes, 25'000u);
  }
  EXPECT_EQ(edit->added_catalogue_files[0].number, 4 + edit->added_chunk_files.size());
  ExpectSame(ReadContent(fs, edit->added_chunk_files), content);
}

TEST(Flush, AnErrorOfTheSourceLeavesNoFile) {
  MemoryFileSystem fs;
  const Content content = MakeContent(5, 100);
  MapSource source(content, 3);
  EXPECT_EQ(Flush(MakeInput(&source, {}), fs).status().code(), StatusCode::kCorruption);
  EXPECT_EQ(CountFiles(fs), 0u);
}

TEST(Flush, RefusesDefinitionsOutOfOrderAndLeavesNoFile) {
  MemoryFileSystem fs;
  const Content content = MakeContent(5, 100);
  std::vector<SeriesDefinition> definitions = MakeDefinitions(content);
  std::swap(definitions[0], definitions[1]);
  MapSource source(content);
  EXPECT_EQ(Flush(MakeInput(&source, definitions), fs).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(CountFiles(fs), 0u);
}

TEST(Flush, RefusesWrongNumbers) {
  MemoryFileSystem fs;
  FlushInput input = MakeInput(nullptr, {});
  input.chunk_samples = 0;
  EXPECT_EQ(Flush(input, fs).status().code(), StatusCode::kInvalidArgument);
  input.chunk_samples = chunk::kChunkSamplesMax + 1;
  EXPECT_EQ(Flush(input, fs).status().code(), StatusCode::kInvalidArgument);
  input = MakeInput(nullptr, {});
  input.first_commit = {91};
  EXPECT_EQ(Flush(input, fs).status().code(), StatusCode::kInvalidArgument);
}

TEST(Flush, ReplacesALeftoverOfAnEarlierAttempt) {
  MemoryFileSystem fs;
  const Content content = MakeContent(2, 10);
  fs.WriteWhole("db/chunks/000004.chunk", "half a file");
  MapSource source(content);
  const auto edit = Flush(MakeInput(&source, {}), fs);
  ASSERT_TRUE(edit.ok()) << edit.status().ToString();
  ExpectSame(ReadContent(fs, edit->added_chunk_files), content);
}

TEST(Flush, EveryFailingOperationLeavesNoFileAndTheManifestAsItWas) {
  const Content content = MakeContent(3, 3000);
  const std::vector<SeriesDefinition> definitions = MakeDefinitions(content);
  for (std::uint64_t n = 1;; ++n) {
    SCOPED_TRACE(n);
    MemoryFileSystem fs;
    auto manifest = chunk::Manifest::Create(fs, "db", InitialState());
    ASSERT_TRUE(manifest.ok());
    const std::uint64_t start = fs.operations();
    bool failed = false;
    fs.SetFault([&](std::uint64_t number, std::string_view, const std::string& path) {
      failed |= number == start + n;
      return number == start + n ? Status::NoSpace(path + ": full") : Status();
    });
    MapSource source(content);
    FlushInput input = MakeInput(&source, definitions);
    input.file_bytes_max = 5000;
    const auto edit = Flush(input, fs);
    if (!failed) {
      EXPECT_TRUE(edit.ok());
      EXPECT_GT(n, 10u);
      break;
    }
    EXPECT_EQ(edit.status().code(), StatusCode::kNoSpace);
    EXPECT_EQ(CountFiles(fs), 0u);
    EXPECT_EQ(chunk::EncodeState(*chunk::Manifest::Load(fs, "db")), chunk::EncodeState(InitialState()));
  }
}

TEST(Flush, APowerCutAtAnyOperationLeavesAllOfItOrNothing) {
  const Content content = MakeContent(3, 1500);
  const std::vector<SeriesDefinition> definitions = MakeDefinitions(content);
  bool finished = false;
  for (std::uint64_t n = 1; !finished; ++n) {
    MemoryFileSystem fs;
    auto manifest = chunk::Manifest::Create(fs, "db", InitialState());
    ASSERT_TRUE(manifest.ok());
    const std::uint64_t start = fs.operations();
    fs.StopAt(start + n);
    MapSource source(content);
    FlushInput input = MakeInput(&source, definitions);
    input.file_bytes_max = 5000;
    const auto edit = Flush(input, fs);
    const bool acknowledged = edit.ok() && (*manifest)->Append(*edit).ok();
    finished = fs.operations() < start + n;
    EXPECT_TRUE(acknowledged || !finished);
    for (const auto mode : {MemoryFileSystem::CutMode::kDropUnsynced, MemoryFileSystem::CutMode::kKeepUnsynced,
                            MemoryFileSystem::CutMode::kRandom}) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("operation " + std::to_string(n) + ", mode " + std::to_string(static_cast<int>(mode)) + ", seed " +
                     std::to_string(seed));
        const auto left = fs.AfterPowerCut(mode, seed);
        auto again = chunk::Manifest::Open(*left, "db", nullptr);
        ASSERT_TRUE(again.ok()) << again.status().ToString();
        const chunk::ManifestState& state = (*again)->state();
        ASSERT_TRUE(RemoveOrphans(*left, "db", state, nullptr).ok());
        EXPECT_EQ(CountFiles(*left), state.chunk_files.size() + state.catalogue_files.size());
        if (state.flushed_commit.value == 0) {
          EXPECT_FALSE(acknowledged);
          EXPECT_TRUE(state.chunk_files.empty() && state.catalogue_files.empty());
        } else {
          ExpectSame(ReadContent(*left, state.chunk_files), content);
          EXPECT_EQ(ReadDefinitions(*left, state.catalogue_files), definitions);
        }
      }
    }
  }
}

TEST(Orphans, AreRemovedAndEverythingElseStays) {
  MemoryFileSystem fs;
  auto manifest = chunk::Manifest::Create(fs, "db", InitialState());
  ASSERT_TRUE(manifest.ok());
  const Content content = MakeContent(2, 10);
  const std::vector<SeriesDefinition> definitions = MakeDefinitions(content);
  MapSource source(content);
  const auto edit = Flush(MakeInput(&source, definitions), fs);
  ASSERT_TRUE(edit.ok() && (*manifest)->Append(*edit).ok());
  const std::vector<std::string> orphans = {"chunks/000099.chunk", "catalogue/000098.catalogue", "manifest/000000",
                                            "manifest/000002",     "CURRENT.tmp",                "chunks/x.tmp"};
  const std::vector<std::string> kept = {"chunks/000004.chunk", "catalogue/000005.catalogue", "manifest/000001",
                                         "CURRENT",             "chunks/notes.txt",           "LOCK",
                                         "chunks/a.chunk",      "wal/000001.log"};
  for (const std::string& name : orphans) {
    fs.WriteWhole("db/" + name, "x");
  }
  for (const std::string& name : kept) {
    if (!*fs.Exists("db/" + name)) {
      fs.WriteWhole("db/" + name, "x");
    }
  }
  std::vector<std::string> notes;
  const auto removed = RemoveOrphans(fs, "db", (*manifest)->state(), &notes);
  ASSERT_TRUE(removed.ok()) << removed.status().ToString();
  EXPECT_EQ(*removed, orphans.size());
  EXPECT_EQ(notes.size(), orphans.size() + 2);  // notes.txt and a.chunk are mentioned
  for (const std::string& name : orphans) {
    EXPECT_FALSE(*fs.Exists("db/" + name)) << name;
  }
  for (const std::string& name : kept) {
    EXPECT_TRUE(*fs.Exists("db/" + name)) << name;
  }
}

TEST(Orphans, NothingIsRemovedWhenCurrentCannotBeRead) {
  MemoryFileSystem fs;
  auto manifest = chunk::Manifest::Create(fs, "db", InitialState());
  ASSERT_TRUE(manifest.ok());
  fs.WriteWhole("db/chunks/000099.chunk", "x");
  fs.WriteWhole("db/CURRENT", "manifest/00");
  EXPECT_EQ(RemoveOrphans(fs, "db", (*manifest)->state(), nullptr).status().code(), StatusCode::kCorruption);
  EXPECT_TRUE(*fs.Exists("db/chunks/000099.chunk"));
}

TEST(Orphans, OneThatCannotBeRemovedIsMentionedAndNoError) {
  MemoryFileSystem fs;
  auto manifest = chunk::Manifest::Create(fs, "db", InitialState());
  ASSERT_TRUE(manifest.ok());
  fs.WriteWhole("db/chunks/000099.chunk", "x");
  fs.SetFault([](std::uint64_t, std::string_view operation, const std::string& path) {
    return operation == "RemoveFile" ? Status::IoError(path + ": not permitted") : Status();
  });
  std::vector<std::string> notes;
  const auto removed = RemoveOrphans(fs, "db", (*manifest)->state(), &notes);
  ASSERT_TRUE(removed.ok());
  EXPECT_EQ(*removed, 0u);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("not permitted"), std::string::npos);
}

}  // namespace
}  // namespace tsdb::compaction
