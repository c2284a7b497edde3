// RocksDB is a cache: whatever stands in its folder, the database answers the same.
//
// During a run copies of the folder are taken; the database of every stage is then opened beside earlier, later, torn,
// foreign and missing ones.
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/crash/oracle.h"
#include "tests/crash/seeds.h"
#include "tests/crash/workload.h"

namespace tsdb::engine {
namespace {

namespace stdfs = std::filesystem;

/// Begins again when a living process removes a file meanwhile: RocksDB does in the background.
void CopyTree(const stdfs::path& from, const stdfs::path& to) {
  for (;;) {
    stdfs::remove_all(to);
    stdfs::create_directories(to);
    std::error_code error;
    if (stdfs::exists(from)) {
      stdfs::copy(from, to, stdfs::copy_options::recursive, error);
    }
    if (!error) {
      return;
    }
    if (error != std::errc::no_such_file_or_directory) {
      throw stdfs::filesystem_error("copy", from, to, error);
    }
  }
}

class IndexFolder : public testing::Test {
 protected:
  void SetUp() override {
    root_ = stdfs::path(testing::TempDir()) / ("index_folder_" + std::to_string(getpid()));
    stdfs::remove_all(root_);
    stdfs::create_directories(root_);
  }
  void TearDown() override { stdfs::remove_all(root_); }

  std::unique_ptr<Database> Open(const stdfs::path& path) {
    auto db = Database::Open(path.string(), QuietOptions());
    EXPECT_TRUE(db.ok()) << db.status().ToString();
    return db.ok() ? std::move(*db) : nullptr;
  }

  /// Contents, and what selectors and listings say.
  struct Answers {
    Contents contents;
    std::vector<std::string> keys;
    std::vector<std::string> values;
    friend bool operator==(const Answers&, const Answers&) = default;
  };
  Answers Ask(Database& db) {
    Answers answers;
    answers.contents = ReadAll(db);
    auto listed = db.ListSeries(*Selector::Parse("{i!=\"3\",i=~\"[0-4].*\"}"));
    EXPECT_TRUE(listed.ok()) << listed.status().ToString();
    for (const SeriesInfo& series : *listed) {
      answers.keys.push_back(series.key);
    }
    answers.values = *db.LabelValues("i");
    return answers;
  }

  /// One history of several stages; the database of each is opened beside some fourteen copies of an index.
  void TryEveryCopy(std::uint64_t seed);

  stdfs::path root_;
};

// Cuts, empties or scribbles over a file of the folder.
void Damage(const stdfs::path& folder, std::mt19937_64& random) {
  std::vector<stdfs::path> files;
  for (const auto& entry : stdfs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().filename() != "LOCK") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    return;
  }
  const stdfs::path& file = files[random() % files.size()];
  const auto size = stdfs::file_size(file);
  switch (random() % 3) {
    case 0:
      stdfs::resize_file(file, size == 0 ? 0 : random() % size);
      break;
    case 1:
      stdfs::remove(file);
      break;
    default: {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      for (std::uint64_t offset = size == 0 ? 0 : random() % size; offset < size; offset += 512) {
        stream.seekp(static_cast<std::streamoff>(offset));
        stream.put(static_cast<char>(random()));
      }
    }
  }
}

void IndexFolder::TryEveryCopy(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Workload workload(seed);
  constexpr int kStages = 9;
  std::vector<Answers> expected;
  auto db = Open(root_ / "live");
  ASSERT_NE(db, nullptr);
  for (int stage = 0; stage < kStages; ++stage) {
    for (int i = 0; i < 4; ++i) {
      RandomBatch batch = workload.Next(Durability::kNone);
      for (OracleOp& op : batch.ops) {
        op.key = Labels{{"__name__", "m"}, {"i", std::to_string(workload.Below(4 + 4 * stage))}}.CanonicalKey();
      }
      ASSERT_TRUE(engine::Run(*db, batch).ok());
    }
    if (stage % 3 != 2) {
      TSDB_ASSERT_OK(db->Flush());
    }
    expected.push_back(Ask(*db));
    // A copy of the folder of a living process: what a crash could leave.
    CopyTree(root_ / "live", root_ / ("stage" + std::to_string(stage)));
  }
  TSDB_ASSERT_OK(db->Close());
  db.reset();
  {
    auto foreign = Open(root_ / "foreign");
    ASSERT_TRUE(engine::Run(*foreign, workload.Next(Durability::kNone)).ok());
    TSDB_ASSERT_OK(foreign->Close());
  }
  int opens = 0;
  const auto check = [&](int stage, const std::string& what) {
    auto opened = Open(root_ / "try");
    ASSERT_NE(opened, nullptr) << what;
    EXPECT_EQ(Ask(*opened), expected[static_cast<std::size_t>(stage)]) << "stage " << stage << " beside " << what;
    ++opens;
  };
  for (int stage = 0; stage < kStages; ++stage) {
    const auto prepare = [&](const stdfs::path& index) {
      CopyTree(root_ / ("stage" + std::to_string(stage)), root_ / "try");
      if (index.empty()) {
        stdfs::remove_all(root_ / "try" / "index");
      } else {
        CopyTree(index, root_ / "try" / "index");
      }
    };
    for (int other = 0; other < kStages; ++other) {
      prepare(root_ / ("stage" + std::to_string(other)) / "index");
      ASSERT_NO_FATAL_FAILURE(check(stage, "the index of stage " + std::to_string(other)));
    }
    prepare(root_ / "foreign" / "index");
    ASSERT_NO_FATAL_FAILURE(check(stage, "a foreign index"));
    prepare({});
    ASSERT_NO_FATAL_FAILURE(check(stage, "no index"));
    for (int i = 0; i < 3; ++i) {
      prepare(root_ / ("stage" + std::to_string(stage)) / "index");
      Damage(root_ / "try" / "index", random);
      ASSERT_NO_FATAL_FAILURE(check(stage, "a damaged index"));
    }
  }
  EXPECT_GE(opens, 100);
}

TEST_F(IndexFolder, AnyCopyOfTheIndexGivesTheSameAnswers) {
  ForEachSeed(1, 2000, [this](std::uint64_t seed) {
    TearDown();
    SetUp();
    TryEveryCopy(seed);
  });
}

}  // namespace
}  // namespace tsdb::engine
