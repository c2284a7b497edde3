// Reading beside the writer, after it, and on media that cannot be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "tests/engine/engine_test_util.h"
#include "tests/index/index_test_util.h"

namespace tsdb::engine {
namespace {

using ::testing::HasSubstr;

class ReadOnly : public ::testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<Database> Writer(OpenOptions options = QuietOptions()) {
    std::unique_ptr<Database> db;
    auto opened = OpenDatabase("/db", options, MemoryEnvironment(&fs_, &clock_));
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return opened.ok() ? std::move(*opened) : nullptr;
  }
  std::unique_ptr<Database> Reader() {
    ReadOnlyOptions options;
    options.lazy_head = GetParam();
    auto opened = OpenDatabaseReadOnly("/db", options, MemoryEnvironment(&fs_, &clock_));
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return opened.ok() ? std::move(*opened) : nullptr;
  }
  std::string OnlySegment() {
    const auto entries = fs_.List("/db/wal");
    EXPECT_TRUE(entries.ok() && entries->size() == 1);
    return JoinPath("/db/wal", entries->front().name);
  }

  MemoryFileSystem fs_;
  FakeClock clock_;
};

INSTANTIATE_TEST_SUITE_P(WholeAndLazyHead, ReadOnly, ::testing::Bool());

TEST_P(ReadOnly, SeesWhatWasAcknowledgedWithoutWritingAnything) {
  const auto writer = Writer();
  const SeriesRef a = *writer->CreateSeries(Series("a"));
  const SeriesRef b = *writer->CreateSeriesByKey("by key", Labels{{"host", "x"}});
  for (int i = 0; i < 100; ++i) {
    TSDB_ASSERT_OK(Put(*writer, a, i, i * 0.5, WriteOptions::With(Durability::kNone)));
  }
  TSDB_ASSERT_OK(writer->Flush());
  TSDB_ASSERT_OK(Put(*writer, b, 7, 8, WriteOptions::With(Durability::kNone)));
  TSDB_ASSERT_OK(Put(*writer, a, 50, -1, WriteOptions::With(Durability::kNone)));

  const std::uint64_t operations = fs_.operations();
  const auto reader = Reader();
  EXPECT_EQ(ReadAll(*reader), ReadAll(*writer));
  EXPECT_EQ(reader->ListSeries(Selector())->size(), 2u);
  EXPECT_EQ(*reader->LabelNames(), *writer->LabelNames());
  EXPECT_EQ(*reader->LabelValues("host"), *writer->LabelValues("host"));
  EXPECT_EQ(reader->Resolve(Series("a"))->id, a.id);
  EXPECT_EQ(reader->ResolveKey("by key")->id, b.id);
  EXPECT_EQ(reader->GetSeries(b)->key, "by key");
  EXPECT_EQ(reader->unit(), TimeUnit::kMilliseconds);
  const Stats stats = reader->GetStats();
  EXPECT_EQ(stats.series, 2u);
  EXPECT_EQ(stats.samples_in_files, 100u);
  EXPECT_EQ(stats.last_commit, writer->GetStats().last_commit);
  EXPECT_TRUE(reader->recovery_report().notes.empty());
  TSDB_ASSERT_OK(reader->Close());
  EXPECT_EQ(reader->Query({}).status().code(), StatusCode::kClosed);
  EXPECT_EQ(fs_.operations(), operations);
}

TEST_P(ReadOnly, RefusesEverythingThatChangesSomething) {
  const auto writer = Writer();
  const SeriesRef a = *writer->CreateSeries(Series("a"));
  const auto reader = Reader();
  EXPECT_EQ(reader->CreateSeries(Series("b")).status().code(), StatusCode::kReadOnly);
  EXPECT_EQ(reader->CreateSeriesByKey("k", {}).status().code(), StatusCode::kReadOnly);
  EXPECT_EQ(Put(*reader, a, 1, 1).code(), StatusCode::kReadOnly);
  EXPECT_EQ(reader->Flush().code(), StatusCode::kReadOnly);
  EXPECT_EQ(reader->WaitDurable(CommitNumber{1}).code(), StatusCode::kReadOnly);
  EXPECT_THAT(Put(*reader, a, 1, 1).ToString(), HasSubstr("read-only"));
}

TEST_P(ReadOnly, FollowsARandomWriterStepByStep) {
  OpenOptions options = QuietOptions();
  auto writer = Writer(options);
  auto reader = Reader();
  const int seed = GetParam() ? 11 : 12;
  SCOPED_TRACE(seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  for (int step = 0; step < 300; ++step) {
    switch (random() % 10) {
      case 0:
        TSDB_ASSERT_OK(writer->Flush());
        break;
      case 1:
        if (random() % 4 == 0) {  // the writer comes back after a clean end or a crash
          if (random() % 2 == 0) {
            TSDB_ASSERT_OK(writer->Close());
          }
          writer.reset();
          writer = Writer(options);
        }
        break;
      case 2:
        if (random() % 4 == 0) {
          reader = Reader();
        }
        break;
      default: {
        WriteBatch batch;
        for (int i = 0; i < 20; ++i) {
          batch.Add(Series("m" + std::to_string(random() % 15)), static_cast<Timestamp>(random() % 1000),
                    static_cast<double>(random() % 100));
        }
        ASSERT_TRUE(writer->Append(batch).ok());
      }
    }
    if (step % 3 == 0) {
      TSDB_ASSERT_OK(reader->Refresh());
      ASSERT_EQ(ReadAll(*reader), ReadAll(*writer)) << "step " << step;
      QuerySpec one;
      one.selector = Selector({{"__name__", Matcher::Op::kEqual, {"m3"}}});
      ASSERT_EQ(ReadAll(*reader, one), ReadAll(*writer, one)) << "step " << step;
      ASSERT_EQ(reader->ListSeries(Selector())->size(), writer->ListSeries(Selector())->size());
    }
  }
}

TEST_P(ReadOnly, ARunningQueryKeepsItsPictureWhileTheReaderMovesOn) {
  const auto writer = Writer();
  const SeriesRef a = *writer->CreateSeries(Series("a"));
  TSDB_ASSERT_OK(Put(*writer, a, 1, 1));
  const auto reader = Reader();
  auto query = reader->Query({});
  ASSERT_TRUE(query.ok());
  TSDB_ASSERT_OK(Put(*writer, a, 2, 2));
  TSDB_ASSERT_OK(writer->Flush());
  TSDB_ASSERT_OK(reader->Refresh());
  ASSERT_TRUE((*query)->NextSeries());
  ColumnBatch batch;
  std::size_t rows = 0;
  while ((*query)->NextBatch(&batch)) {
    rows += batch.times.size();
  }
  EXPECT_GE(rows, 1u);
  EXPECT_TRUE((*query)->status().ok());
  EXPECT_EQ(ReadAll(*reader).begin()->second.size(), 2u);
}

TEST_P(ReadOnly, TakesATornEndOfTheLogForNotYetWritten) {
  auto writer = Writer();
  const SeriesRef a = *writer->CreateSeries(Series("a"));
  TSDB_ASSERT_OK(Put(*writer, a, 1, 1));
  const std::string segment = OnlySegment();
  const std::string before = *fs_.ReadWhole(segment);
  TSDB_ASSERT_OK(Put(*writer, a, 2, 2));
  const std::string after = *fs_.ReadWhole(segment);
  ASSERT_GT(after.size(), before.size());
  writer.reset();
  for (std::size_t cut = before.size(); cut < before.size() + 64; cut += 9) {
    fs_.WriteWhole(segment, after.substr(0, cut));
    const auto reader = Reader();
    EXPECT_EQ(ReadAll(*reader).begin()->second.size(), 1u);
    EXPECT_TRUE(reader->recovery_report().notes.empty());
    fs_.WriteWhole(segment, after);
    TSDB_ASSERT_OK(reader->Refresh());
    EXPECT_EQ(ReadAll(*reader).begin()->second.size(), 2u);
  }
}

TEST_P(ReadOnly, ServesTheRestWhenAChunkFileIsDamagedAndSaysSo) {
  auto writer = Writer();
  const SeriesRef a = *writer->CreateSeries(Series("a"));
  TSDB_ASSERT_OK(Put(*writer, a, 1, 1));
  TSDB_ASSERT_OK(writer->Flush());
  const auto files = fs_.List("/db/chunks");
  const std::string damaged = JoinPath("/db/chunks", files->front().name);
  TSDB_ASSERT_OK(Put(*writer, a, 2, 2));
  TSDB_ASSERT_OK(writer->Flush());
  std::string bytes = *fs_.ReadWhole(damaged);
  bytes[0] = static_cast<char>(bytes[0] ^ 1);
  fs_.WriteWhole(damaged, bytes);
  const auto reader = Reader();
  EXPECT_EQ(ReadAll(*reader).begin()->second.size(), 1u);
  ASSERT_EQ(reader->recovery_report().notes.size(), 1u);
  EXPECT_THAT(reader->recovery_report().notes[0], HasSubstr(damaged));
}

TEST_P(ReadOnly, MissingDatabaseIsNotFound) {
  ReadOnlyOptions options;
  options.lazy_head = GetParam();
  const auto opened = OpenDatabaseReadOnly("/nowhere", options, MemoryEnvironment(&fs_, &clock_));
  EXPECT_EQ(opened.status().code(), StatusCode::kNotFound);
}

TEST_P(ReadOnly, FailedWritesAreForgottenOnceTheWriterSaysTheyAreVoid) {
  auto writer = Writer();
  const SeriesRef a = *writer->CreateSeries(Series("a"));
  TSDB_ASSERT_OK(Put(*writer, a, 1, 1));
  // Everything of the group reaches the file, then nothing can be synced: the write fails although its bytes are there.
  fs_.SetFault([](std::uint64_t, std::string_view operation, const std::string& path) {
    return operation == "Sync" && path.find("/wal/") != std::string::npos ? Status::IoError("no sync today")
                                                                          : Status::Ok();
  });
  WriteBatch batch;
  batch.Add(Series("b"), 2, 2);
  ASSERT_FALSE(writer->Append(batch, WriteOptions::With(Durability::kAlways)).ok());
  const auto reader = Reader();  // may see it or not: it has failed, but is not void yet
  fs_.SetFault({});
  TSDB_ASSERT_OK(Put(*writer, a, 3, 3));
  TSDB_ASSERT_OK(reader->Refresh());
  EXPECT_EQ(ReadAll(*reader), ReadAll(*writer));
  EXPECT_EQ(reader->ListSeries(Selector())->size(), 1u);
}

// What failed changes, drops, renames and settings told a reader goes as well, whether the series lies in files, in the
// log, or in files by the time the reader looks again.
TEST_P(ReadOnly, FailedChangesOfSeriesAreForgottenOnceTheWriterSaysTheyAreVoid) {
  for (const bool flushed_before : {false, true}) {
    for (const bool flushed_after : {false, true}) {
      SCOPED_TRACE(std::string(flushed_before ? "in files" : "in the log") + (flushed_after ? ", then flushed" : ""));
      TSDB_ASSERT_OK(fs_.RemoveAll("/db"));
      auto writer = Writer();
      std::map<std::string, SeriesRef> refs;
      for (const char* key : {"altered", "dropped", "renamed", "back"}) {
        refs[key] = *writer->CreateSeriesByKey(key, Labels{{"host", key}});
        TSDB_ASSERT_OK(Put(*writer, refs[key], 1, 1));
        TSDB_ASSERT_OK(Put(*writer, refs[key], 100, 2));
      }
      ASSERT_TRUE(writer->Drop(Selector::ForKey("back")).ok());
      if (flushed_before) {
        TSDB_ASSERT_OK(writer->Flush());
      }
      const auto reader = Reader();
      const Contents contents = ReadAll(*writer);
      ASSERT_EQ(contents.size(), 3u);
      fs_.SetFault([](std::uint64_t, std::string_view operation, const std::string& path) {
        return operation == "Sync" && path.find("/wal/") != std::string::npos ? Status::IoError("no sync today")
                                                                              : Status::Ok();
      });
      SeriesChange change;
      change.retention = 10;
      change.labels = Labels{{"host", "elsewhere"}};
      const auto look = [&](const Status& failed) {
        ASSERT_FALSE(failed.ok());
        TSDB_ASSERT_OK(reader->Refresh());  // may see it: it has failed, but is not void yet
      };
      look(writer->Alter(refs["altered"], change));
      look(writer->Drop(Selector::ForKey("dropped")).status());
      look(writer->Rename(refs["renamed"], "other name"));
      look(writer->Undrop(refs["back"].id).status());
      Retention retention;
      retention.age = 20;
      look(writer->SetRetention(retention));
      fs_.SetFault({});
      TSDB_ASSERT_OK(Put(*writer, refs["altered"], 101, 3));
      if (flushed_after) {
        TSDB_ASSERT_OK(writer->Flush());
      }
      TSDB_ASSERT_OK(reader->Refresh());
      EXPECT_EQ(ReadAll(*reader), ReadAll(*writer));
      EXPECT_EQ(ReadAll(*reader).size(), 3u);
      EXPECT_EQ(reader->GetSeries(refs["altered"])->labels, Labels({{"host", "altered"}}));
      EXPECT_EQ(reader->ListSeries(*Selector::Parse("{host=\"elsewhere\"}"))->size(), 0u);
      EXPECT_TRUE(reader->ResolveKey("dropped").ok());
      EXPECT_TRUE(reader->ResolveKey("renamed").ok());
      EXPECT_EQ(reader->ResolveKey("other name").status().code(), StatusCode::kNotFound);
      EXPECT_EQ(reader->ResolveKey("back").status().code(), StatusCode::kNotFound);
      if (flushed_before || flushed_after) {  // a reader does not list what was only ever in the log
        EXPECT_EQ(reader->ListDropped()->size(), 1u);
      }
      EXPECT_EQ(reader->GetRetention()->settings.age, 0);
      // What is changed from here on is followed as ever.
      TSDB_ASSERT_OK(writer->Alter(refs["altered"], change));
      ASSERT_TRUE(writer->Undrop(refs["back"].id).ok());
      TSDB_ASSERT_OK(reader->Refresh());
      EXPECT_EQ(ReadAll(*reader), ReadAll(*writer));
      EXPECT_EQ(reader->ListSeries(*Selector::Parse("{host=\"elsewhere\"}"))->size(), 1u);
      EXPECT_EQ(ReadAll(*reader).size(), 4u);
    }
  }
}

// On the real disk, with RocksDB: everything acknowledged when Refresh begins is seen, and each series is a prefix.
class ReadOnlyDisk : public ::testing::TestWithParam<bool> {
 protected:
  std::string Db() const { return folder_.path() + "/db"; }
  Result<std::unique_ptr<Database>> Open() const {
    ReadOnlyOptions options;
    options.lazy_head = GetParam();
    return Database::OpenReadOnly(Db(), options);
  }
  index::TemporaryDirectory folder_;
};

INSTANTIATE_TEST_SUITE_P(WholeAndLazyHead, ReadOnlyDisk, ::testing::Bool());

TEST_P(ReadOnlyDisk, ConcurrentWriterIsFollowedThroughFlushesAndRemovedSegments) {
  OpenOptions options;
  options.wal_bytes_max = 64 << 10;  // flushes all the time
  auto opened = Database::Open(Db(), options);
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  Database& writer = **opened;
  constexpr int kSeries = 50;
  std::atomic<int> acknowledged{0};  // rounds: each puts one sample into every series and defines a new one
  std::jthread writing([&](const std::stop_token& stop) {
    for (int round = 1; !stop.stop_requested(); ++round) {
      WriteBatch batch;
      for (int s = 0; s < kSeries; ++s) {
        batch.Add(Series("m", std::to_string(s)), round, round + 0.25);
      }
      batch.Add(Series("new", std::to_string(round)), round, 1);
      const auto result = writer.Append(batch);
      ASSERT_TRUE(result.ok()) << result.status().ToString();
      acknowledged.store(round);
    }
  });
  while (acknowledged.load() == 0) {
    std::this_thread::yield();
  }
  std::unique_ptr<Database> reader;
  for (int pass = 0; pass < 8 || writer.GetStats().flushes < 4; ++pass) {
    const int before = acknowledged.load();
    if (pass % 4 == 0) {
      auto again = Open();
      ASSERT_TRUE(again.ok()) << again.status().ToString();
      reader = std::move(*again);
    } else {
      TSDB_ASSERT_OK(reader->Refresh());
    }
    QuerySpec spec;
    spec.selector = Selector({{"__name__", Matcher::Op::kEqual, {"m"}}});
    const Contents contents = ReadAll(*reader, spec);
    ASSERT_EQ(contents.size(), static_cast<std::size_t>(kSeries));
    for (const auto& [key, samples] : contents) {
      ASSERT_GE(samples.size(), static_cast<std::size_t>(before)) << key;
      ASSERT_EQ(samples.rbegin()->first, static_cast<Timestamp>(samples.size())) << key << ": a hole";
    }
    ASSERT_TRUE(reader->Resolve(Series("new", std::to_string(before))).ok());
  }
  writing.request_stop();
  writing.join();
  TSDB_ASSERT_OK(writer.Close());
  TSDB_ASSERT_OK(reader->Refresh());
  EXPECT_EQ(ReadAll(*reader).size(), static_cast<std::size_t>(kSeries + acknowledged.load()));
}

TEST_P(ReadOnlyDisk, DoesWithoutTheIndexFolder) {
  {
    auto writer = Database::Open(Db());
    ASSERT_TRUE(writer.ok()) << writer.status().ToString();
    const SeriesRef a = *(*writer)->CreateSeries(Series("a"));
    TSDB_ASSERT_OK(Put(**writer, a, 1, 1));
    TSDB_ASSERT_OK((*writer)->Close());
  }
  const auto with = Open();
  ASSERT_TRUE(with.ok()) << with.status().ToString();
  const Contents contents = ReadAll(**with);
  ASSERT_EQ(contents.size(), 1u);
  std::filesystem::remove_all(Db() + "/index");
  const auto without = Open();
  ASSERT_TRUE(without.ok()) << without.status().ToString();
  EXPECT_EQ(ReadAll(**without), contents);
  EXPECT_FALSE(std::filesystem::exists(Db() + "/index"));
}

TEST_P(ReadOnlyDisk, LeavesNoTraceInTheFolder) {
  auto writer = Database::Open(Db());
  ASSERT_TRUE(writer.ok());
  TSDB_ASSERT_OK(Put(**writer, *(*writer)->CreateSeries(Series("a")), 1, 1));
  TSDB_ASSERT_OK((*writer)->Flush());
  const auto names = [&] {
    std::map<std::string, std::uintmax_t> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Db())) {
      found[entry.path().string()] = entry.is_regular_file() ? entry.file_size() : 0;
    }
    return found;
  };
  const auto before = names();
  const auto reader = Open();
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(ReadAll(**reader).size(), 1u);
  EXPECT_EQ(names(), before);
}

}  // namespace
}  // namespace tsdb::engine
