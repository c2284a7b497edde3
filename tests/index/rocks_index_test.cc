// The RocksDB index against the plain twin, and what each change must do.
#include <gtest/gtest.h>

#include "base/file_system.h"
#include "tests/index/index_test_util.h"

namespace tsdb::index {
namespace {

using Op = Matcher::Op;
using Texts = std::vector<std::string>;

TEST(RocksIndex, ForgetsOldLabelsAndKeysOfAChangedSeriesWhereverItIs) {
  for (const bool persist : {false, true}) {
    for (const bool reopen : {false, true}) {
      const TemporaryDirectory directory;
      auto index = MustOpen(directory.path());
      std::uint64_t commit = 0;
      const auto apply = [&](const SeriesDefinition& definition) {
        index->Apply(definition);
        if (persist || reopen) {
          ASSERT_TRUE(index->Persist(CommitNumber{commit}).ok());
        }
        if (reopen) {
          index.reset();
          index = MustOpen(directory.path());
          ASSERT_EQ(index->applied_commit().value, commit);
        }
      };
      const auto by = [&](const char* name, const char* value) {
        return SelectIds(*index, {{name, Op::kEqual, {value}}});
      };
      using Found = std::vector<std::uint64_t>;
      apply(ByKey(1, ++commit, "k1", {{"id", "10"}, {"app", "x"}}));
      EXPECT_EQ(by("id", "10"), Found{1});
      apply(ByKey(1, ++commit, "k1", {{"id", "11"}, {"app", "x"}}));
      EXPECT_EQ(by("id", "10"), Found{});
      EXPECT_EQ(by("id", "11"), Found{1});
      EXPECT_EQ(index->LabelValues("id", "", 0).value(), Texts{"11"});
      apply(ByKey(1, ++commit, "k2", {{"id", "11"}, {"app", "x"}}));
      EXPECT_EQ(Ids(index->Select(Selector::ForKey("k1"))), Found{});
      EXPECT_EQ(Ids(index->Select(Selector::ForKey("k2"))), Found{1});
      apply(ByKey(2, ++commit, "k1", {{"id", "12"}, {"app", "x"}}));
      EXPECT_EQ(by("app", "x"), (Found{1, 2}));
      apply(Drop(1, ++commit));
      EXPECT_EQ(by("app", "x"), Found{2});
      EXPECT_EQ(by("id", "11"), Found{});
      EXPECT_EQ(index->Count().value(), 1u);
      EXPECT_FALSE(index->FindByKey("k2").value().has_value());
      apply(ByKey(3, ++commit, "k2", {}));
      EXPECT_EQ(by("id", "11"), Found{});
      EXPECT_EQ(index->FindByKey("k2").value()->id.value, 3u);
      apply(ByKey(2, ++commit, "k1", {}));
      EXPECT_EQ(by("app", "x"), Found{});
      EXPECT_EQ(index->LabelNames("", 0).value(), Texts{});
      EXPECT_EQ(index->Count().value(), 2u);
    }
  }
}

TEST(RocksIndex, KeepsNoFileThatNobodyReads) {
  const TemporaryDirectory directory;
  for (std::uint64_t commit = 1; commit <= 3; ++commit) {
    auto index = MustOpen(directory.path());
    index->Apply(ByKey(commit, commit, "k" + std::to_string(commit), {{"app", "x"}}));
    ASSERT_TRUE(index->Persist(CommitNumber{commit}).ok());
    EXPECT_EQ(index->Count().value(), commit);
    ASSERT_TRUE(index->Close().ok());
    const std::vector<DirectoryEntry> entries = PosixFileSystem().List(directory.path()).value();
    for (const DirectoryEntry& entry : entries) {
      EXPECT_FALSE(entry.name.starts_with("OPTIONS-")) << entry.name;
    }
  }
}

TEST(RocksIndex, KeepsTheNameSpacesApart) {
  const TemporaryDirectory directory;
  const auto index = MustOpen(directory.path());
  const Labels labels = ByLabels(0, 0, {{"__name__", "cpu"}, {"host", "a"}}).labels;
  index->Apply(ByKey(1, 1, "temperature", labels.pairs()));
  const Labels* set = &labels;
  for (const bool persisted : {false, true}) {
    if (persisted) {
      ASSERT_TRUE(index->Persist(CommitNumber{1}).ok());
    }
    EXPECT_FALSE(index->FindByLabels({&set, 1}).value()[0].has_value());
    EXPECT_FALSE(index->FindByKey(labels.CanonicalKey()).value().has_value());
    EXPECT_EQ(index->FindByKey("temperature").value()->id.value, 1u);
  }
  index->Apply(ByLabels(2, 2, labels.pairs()));
  for (const bool persisted : {false, true}) {
    if (persisted) {
      ASSERT_TRUE(index->Persist(CommitNumber{2}).ok());
    }
    EXPECT_EQ(index->FindByLabels({&set, 1}).value()[0]->id.value, 2u);
    EXPECT_EQ(index->FindByKey("cpu{host=\"a\"}").value()->id.value, 2u);
    EXPECT_FALSE(index->FindByKey("cpu{ host=\"a\"}").value().has_value());
  }
}

TEST(RocksIndex, FindsAKeyWhoseOldOwnerIsDroppedAfterwards) {
  const TemporaryDirectory directory;
  const auto index = MustOpen(directory.path());
  index->Apply(ByKey(1, 1, "k", {}));
  ASSERT_TRUE(index->Persist(CommitNumber{1}).ok());
  index->Apply(ByKey(2, 3, "k", {}));
  index->Apply(Drop(1, 2));
  EXPECT_EQ(index->FindByKey("k").value()->id.value, 2u);
  ASSERT_TRUE(index->Persist(CommitNumber{2}).ok());
  EXPECT_EQ(index->FindByKey("k").value()->id.value, 2u);
  ASSERT_TRUE(index->Persist(CommitNumber{3}).ok());
  EXPECT_EQ(index->FindByKey("k").value()->id.value, 2u);
}

TEST(RocksIndex, PersistsExactlyTheCommitsAskedFor) {
  const TemporaryDirectory directory;
  auto index = MustOpen(directory.path());
  index->Apply(ByKey(1, 1, "k", {{"v", "1"}}));
  index->Apply(ByKey(1, 2, "k", {{"v", "2"}}));
  index->Apply(ByKey(1, 3, "k", {{"v", "3"}}));
  index->Apply(ByKey(2, 3, "other", {}));
  ASSERT_TRUE(index->Persist(CommitNumber{2}).ok());
  EXPECT_EQ(index->applied_commit().value, 2u);
  EXPECT_EQ(index->FindByKey("k").value()->labels.Get("v"), "3");  // the overlay goes on
  EXPECT_EQ(index->Count().value(), 2u);
  index.reset();  // commit 3 was never persisted
  index = MustOpen(directory.path());
  EXPECT_EQ(index->applied_commit().value, 2u);
  EXPECT_EQ(index->FindByKey("k").value()->labels.Get("v"), "2");
  EXPECT_EQ(index->FindByKey("k").value()->commit.value, 2u);
  EXPECT_EQ(index->Count().value(), 1u);
  EXPECT_EQ(index->LabelValues("v", "", 0).value(), Texts{"2"});
}

TEST(RocksIndex, RemembersACommitWithoutChanges) {
  const TemporaryDirectory directory;
  auto index = MustOpen(directory.path());
  EXPECT_EQ(index->applied_commit().value, 0u);
  ASSERT_TRUE(index->Persist(CommitNumber{5}).ok());
  index.reset();
  index = MustOpen(directory.path());
  EXPECT_EQ(index->applied_commit().value, 5u);
}

TEST(RocksIndex, ListsNamesAndValuesSortedWithPrefixAndLimit) {
  const TemporaryDirectory directory;
  const auto index = MustOpen(directory.path());
  for (std::uint64_t i = 1; i <= 20; ++i) {
    index->Apply(ByLabels(i, i, {{"n" + std::to_string(i % 3), "v" + std::to_string(i)}, {"all", "x"}}));
    if (i == 10) {
      ASSERT_TRUE(index->Persist(CommitNumber{10}).ok());
    }
  }
  EXPECT_EQ(index->LabelNames("", 0).value(), (Texts{"all", "n0", "n1", "n2"}));
  EXPECT_EQ(index->LabelNames("n", 2).value(), (Texts{"n0", "n1"}));
  EXPECT_EQ(index->LabelValues("n1", "v1", 3).value(), (Texts{"v1", "v10", "v13"}));
  EXPECT_EQ(index->LabelValues("n1", "", 0).value(), (Texts{"v1", "v10", "v13", "v16", "v19", "v4", "v7"}));
  EXPECT_EQ(index->LabelValues("nosuch", "", 0).value(), Texts{});
}

TEST(RocksIndex, SelectsAmongManyValuesWithAndWithoutCandidates) {
  const TemporaryDirectory directory;
  const auto index = MustOpen(directory.path());
  constexpr std::uint64_t kSeries = 3000;
  for (std::uint64_t i = 1; i <= kSeries; ++i) {
    index->Apply(
        ByLabels(70000 * i, i, {{"user", "u" + std::to_string(i)}, {"app", i % 300 == 0 ? "rare" : "common"}}));
  }
  for (const bool persisted : {false, true}) {
    if (persisted) {
      ASSERT_TRUE(index->Persist(CommitNumber{kSeries}).ok());
    }
    // 10 candidates against 3000 values: the scan gives up and reads the labels of the candidates.
    EXPECT_EQ(SelectIds(*index, {{"app", Op::kEqual, {"rare"}}, {"user", Op::kRegex, {".*0"}}}).size(), 10u);
    EXPECT_EQ(SelectIds(*index, {{"app", Op::kEqual, {"rare"}}, {"user", Op::kNotRegex, {".*[05]00"}}}).size(), 8u);
    EXPECT_EQ(SelectIds(*index, {{"user", Op::kRegex, {"u29.."}}}).size(), 100u);
    EXPECT_EQ(SelectIds(*index, {{"user", Op::kRegex, {"u1|u2|u3000|u3001"}}}).size(), 3u);
  }
}

TEST(RocksIndex, IsBusyWhileItIsOpenElsewhere) {
  const TemporaryDirectory directory;
  auto index = MustOpen(directory.path());
  index->Apply(ByKey(1, 1, "k", {}));
  ASSERT_TRUE(index->Persist(CommitNumber{1}).ok());
  bool rebuilt = true;
  const auto second = OpenRocksIndex(directory.path(), StoreOptions(), &rebuilt);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::kBusy) << second.status().ToString();
  EXPECT_FALSE(rebuilt);
  EXPECT_TRUE(index->FindByKey("k").value().has_value());
}

TEST(RocksIndex, SaysClosedAfterClose) {
  const TemporaryDirectory directory;
  const auto index = MustOpen(directory.path());
  ASSERT_TRUE(index->Close().ok());
  EXPECT_TRUE(index->Close().ok());
  EXPECT_EQ(index->Count().status().code(), StatusCode::kClosed);
  EXPECT_EQ(index->Select(Selector()).status().code(), StatusCode::kClosed);
  EXPECT_EQ(index->FindByKey("k").status().code(), StatusCode::kClosed);
  EXPECT_EQ(index->Persist(CommitNumber{1}).code(), StatusCode::kClosed);
}

}  // namespace
}  // namespace tsdb::index
