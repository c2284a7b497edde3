// What is not usable is discarded, and damage never makes an answer wrong.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "tests/index/index_test_util.h"

namespace tsdb::index {
namespace {

namespace fs = std::filesystem;
using Op = Matcher::Op;

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

constexpr std::uint64_t kSeries = 400;

SeriesDefinition Series(std::uint64_t i, std::uint64_t commit) {
  return ByLabels(
      i, commit,
      {{"__name__", "m"}, {"host", "h" + std::to_string(i)}, {"rack", "r" + std::to_string((i + commit) % 7)}});
}

// An index of several files: created, changed and dropped in several persists.
void Fill(SeriesIndex& index) {
  std::uint64_t commit = 0;
  const auto persist = [&] { ASSERT_TRUE(index.Persist(CommitNumber{commit}).ok()); };
  for (std::uint64_t i = 1; i <= kSeries; ++i) {
    index.Apply(Series(i, ++commit));
  }
  persist();
  for (std::uint64_t i = 1; i <= kSeries; i += 3) {
    index.Apply(Series(i, ++commit));
  }
  persist();
  for (std::uint64_t i = 1; i <= kSeries; i += 10) {
    index.Apply(Drop(i, ++commit));
  }
  persist();
}

// Everything asked of the index, as text; the Status of the first question that failed.
Result<std::string> Answers(SeriesIndex& index) {
  std::string text;
  const auto add = [&](const auto& items) {
    for (const auto& item : items) {
      if constexpr (std::is_same_v<std::decay_t<decltype(item)>, SeriesId>) {
        text += std::to_string(item.value) + " ";
      } else {
        text += item + " ";
      }
    }
    text += "\n";
  };
  TSDB_ASSIGN_OR_RETURN(const std::uint64_t count, index.Count());
  text += std::to_string(count) + "\n";
  TSDB_ASSIGN_OR_RETURN(const auto names, index.LabelNames("", 0));
  add(names);
  for (const char* name : {"host", "rack"}) {
    TSDB_ASSIGN_OR_RETURN(const auto values, index.LabelValues(name, "", 0));
    add(values);
  }
  for (const Matcher& matcher : std::vector<Matcher>{{"rack", Op::kEqual, {"r3"}},
                                                     {"rack", Op::kNotEqual, {"r3"}},
                                                     {"host", Op::kRegex, {"h1.*"}},
                                                     {"host", Op::kNotRegex, {"h1.*"}}}) {
    TSDB_ASSIGN_OR_RETURN(const auto ids, index.Select(Selector({matcher})));
    add(ids);
  }
  std::vector<SeriesId> ids;
  for (std::uint64_t i = 0; i <= kSeries + 1; ++i) {
    ids.push_back(SeriesId{i});
  }
  TSDB_ASSIGN_OR_RETURN(const auto definitions, index.FindByIds(ids));
  std::vector<Labels> sets;
  for (const auto& definition : definitions) {
    text += definition.has_value() ? definition->ShownKey() + "@" + std::to_string(definition->commit.value) : "-";
    text += "\n";
    if (definition.has_value()) {
      sets.push_back(definition->labels);
    }
  }
  std::vector<const Labels*> pointers;
  for (const Labels& labels : sets) {
    pointers.push_back(&labels);
  }
  TSDB_ASSIGN_OR_RETURN(const auto found, index.FindByLabels(pointers));
  for (const auto& definition : found) {
    text += definition.has_value() ? std::to_string(definition->id.value) : "-";
  }
  return text;
}

TEST(IndexDiscard, DiscardsAnotherDatabasesIndex) {
  const TemporaryDirectory directory;
  auto index = MustOpen(directory.path());
  Fill(*index);
  index.reset();
  IndexOptions other = StoreOptions();
  other.store_low += 1;
  index = MustOpen(directory.path(), /*rebuilt=*/true, other);
  EXPECT_EQ(index->applied_commit().value, 0u);
  EXPECT_EQ(index->Count().value(), 0u);
  index->Apply(Series(1, 1));
  ASSERT_TRUE(index->Persist(CommitNumber{1}).ok());
  index.reset();
  index = MustOpen(directory.path(), /*rebuilt=*/false, other);
  EXPECT_EQ(index->Count().value(), 1u);
}

TEST(IndexDiscard, DiscardsAnIndexAheadOfTheDatabase) {
  const TemporaryDirectory directory;
  auto index = MustOpen(directory.path());
  Fill(*index);
  const CommitNumber applied = index->applied_commit();
  index.reset();
  IndexOptions options = StoreOptions();
  options.known_commit = applied;
  index = MustOpen(directory.path(), /*rebuilt=*/false, options);
  EXPECT_EQ(index->applied_commit(), applied);
  index.reset();
  options.known_commit.value -= 1;
  std::vector<std::string> said;
  options.log = [&](LogLevel, std::string_view line) { said.emplace_back(line); };
  index = MustOpen(directory.path(), /*rebuilt=*/true, options);
  EXPECT_EQ(index->applied_commit().value, 0u);
  EXPECT_FALSE(said.empty());
}

TEST(IndexDiscard, RemovesWhatAnUnfinishedPersistLeftBehind) {
  const TemporaryDirectory directory;
  auto index = MustOpen(directory.path());
  Fill(*index);
  index.reset();
  const fs::path leftover = fs::path(directory.path()) / "0.pending";
  Write(leftover, "half a table");
  index = MustOpen(directory.path());
  EXPECT_FALSE(fs::exists(leftover));
}

// Does `damage` to one file of a good index at a time, over all its files.
void ForEachFile(const std::function<void(const fs::path& file, const std::string& good_answers)>& test,
                 const std::string& scratch) {
  const TemporaryDirectory good;
  std::string answers;
  {
    const auto index = MustOpen(good.path());
    Fill(*index);
    answers = Answers(*index).value();
  }
  for (const auto& entry : fs::directory_iterator(good.path())) {
    fs::remove_all(scratch);
    fs::copy(good.path(), scratch);
    test(fs::path(scratch) / entry.path().filename(), answers);
  }
}

// After damage: the same answers, an older state or none (the caller catches up), or kCorruption; never wrong answers.
// True when the damage was noticed.
bool ExpectNothingWrong(const std::string& directory, const std::string& good_answers, const std::string& what) {
  bool rebuilt = false;
  auto opened = OpenRocksIndex(directory, StoreOptions(), &rebuilt);
  EXPECT_TRUE(opened.ok()) << what << ": " << opened.status().ToString();
  if (!opened.ok()) {
    return false;
  }
  SeriesIndex& index = **opened;
  const std::uint64_t applied = index.applied_commit().value;
  if (rebuilt) {
    EXPECT_EQ(applied, 0u) << what;
    EXPECT_EQ(index.Count().value(), 0u) << what;
    Fill(index);  // and it can be filled again
  } else {
    // Catching up, as recovery does from the commit the index claims.
    std::uint64_t commit = 0;
    const auto apply = [&](SeriesDefinition definition) {
      definition.commit = CommitNumber{++commit};
      if (commit > applied) {
        index.Apply(definition);
      }
    };
    for (std::uint64_t i = 1; i <= kSeries; ++i) {
      apply(Series(i, commit + 1));
    }
    for (std::uint64_t i = 1; i <= kSeries; i += 3) {
      apply(Series(i, commit + 1));
    }
    for (std::uint64_t i = 1; i <= kSeries; i += 10) {
      apply(Drop(i, commit + 1));
    }
  }
  const Result<std::string> answers = Answers(index);
  if (answers.ok()) {
    EXPECT_EQ(*answers, good_answers) << what;
  } else {
    EXPECT_EQ(answers.status().code(), StatusCode::kCorruption) << what << ": " << answers.status().ToString();
  }
  return rebuilt || !answers.ok();
}

// Files without which there is no index.
bool IsVital(const fs::path& file) {
  const std::string name = file.filename().string();
  return file.extension() == ".sst" || name == "CURRENT" || name.starts_with("MANIFEST");
}

TEST(IndexDamage, OfAMissingFileIsNoticed) {
  const TemporaryDirectory scratch;
  ForEachFile(
      [&](const fs::path& file, const std::string& answers) {
        fs::remove(file);
        const bool noticed = ExpectNothingWrong(scratch.path(), answers, file.filename().string() + " removed");
        EXPECT_EQ(noticed, IsVital(file)) << file;
      },
      scratch.path());
}

TEST(IndexDamage, OfATruncatedFileIsNoticed) {
  const TemporaryDirectory scratch;
  std::mt19937 random(3);
  for (int round = 0; round < 3; ++round) {
    ForEachFile(
        [&](const fs::path& file, const std::string& answers) {
          const std::uint64_t size = fs::file_size(file);
          const std::uint64_t kept = round == 0 || size == 0 ? 0 : random() % size;
          fs::resize_file(file, kept);
          const bool noticed =
              ExpectNothingWrong(scratch.path(), answers,
                                 file.filename().string() + " cut to " + std::to_string(kept) + " seed 3");
          EXPECT_TRUE(noticed || file.extension() != ".sst") << file;
        },
        scratch.path());
  }
}

TEST(IndexDamage, OfAnyByteIsNoticedOrHarmless) {
  const TemporaryDirectory scratch;
  std::mt19937 random(4);
  int noticed = 0;
  for (int round = 0; round < 12; ++round) {
    ForEachFile(
        [&](const fs::path& file, const std::string& answers) {
          std::string bytes = Read(file);
          if (bytes.empty()) {
            bytes = "garbage";
            Write(file, bytes);
            ExpectNothingWrong(scratch.path(), answers, file.filename().string() + " with garbage");
            return;
          }
          // One bit, a short burst, or everything behind a place.
          const std::size_t at = random() % bytes.size();
          const std::size_t length = round % 3 == 0 ? 1 : round % 3 == 1 ? 16 : bytes.size();
          for (std::size_t i = at; i < std::min(bytes.size(), at + length); ++i) {
            bytes[i] = static_cast<char>(bytes[i] ^ (length == 1 ? 1 << (random() % 8) : random()));
          }
          Write(file, bytes);
          noticed += ExpectNothingWrong(scratch.path(), answers,
                                        file.filename().string() + " damaged at " + std::to_string(at) + " over " +
                                            std::to_string(length) + " seed 4");
        },
        scratch.path());
  }
  EXPECT_GT(noticed, 20);  // most of what hits a table, the manifest or CURRENT
}

// The end of a table says where everything else is: each of its bytes.
TEST(IndexDamage, OfTheEndOfATableIsNoticedOrHarmless) {
  const TemporaryDirectory scratch;
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    bool done = false;
    ForEachFile(
        [&](const fs::path& file, const std::string& answers) {
          if (done || file.extension() != ".sst") {
            return;
          }
          done = true;
          std::string bytes = Read(file);
          const std::size_t at = bytes.size() - 1 - random() % std::min<std::size_t>(bytes.size(), 1500);
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
          Write(file, bytes);
          ExpectNothingWrong(scratch.path(), answers,
                             file.filename().string() + " damaged at " + std::to_string(at) + " seed 5");
        },
        scratch.path());
  }
}

}  // namespace
}  // namespace tsdb::index
