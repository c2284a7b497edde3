// Readers go on while series are created, changed, dropped and persisted; each sees only states that existed.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/index/index_test_util.h"

namespace tsdb::index {
namespace {

using Op = Matcher::Op;

// Series i lives in exactly one of two racks at any time, and moves; it always has the key k<i>.
TEST(IndexConcurrency, ReadersSeeEverySeriesExactlyOnceDuringApplyAndPersist) {
  constexpr std::uint64_t kSeries = 300;
  constexpr std::uint64_t kCommits = 6000;
  const TemporaryDirectory directory;
  const auto index = MustOpen(directory.path());
  std::uint64_t commit = 0;
  const auto series = [&](std::uint64_t id, const char* rack) {
    return ByKey(id, ++commit, "k" + std::to_string(id), {{"rack", rack}, {"id", std::to_string(id)}});
  };
  for (std::uint64_t id = 1; id <= kSeries; ++id) {
    index->Apply(series(id, "left"));
  }
  std::atomic<std::uint64_t> applied{commit};
  std::atomic<bool> done{false};

  std::thread persister([&] {
    while (!done.load()) {
      const Status status = index->Persist(CommitNumber{applied.load()});
      EXPECT_TRUE(status.ok()) << status.ToString();
    }
  });
  std::vector<std::thread> readers;
  for (unsigned seed = 0; seed < 2; ++seed) {
    readers.emplace_back([&, seed] {
      std::mt19937 random(seed);
      while (!done.load()) {
        EXPECT_EQ(SelectIds(*index, {{"rack", Op::kNotEqual, {""}}}).size(), kSeries);
        EXPECT_EQ(SelectIds(*index, {{"rack", Op::kRegex, {"l.*|right"}}}).size(), kSeries);
        EXPECT_EQ(index->Count().value(), kSeries);
        const std::uint64_t id = 1 + random() % kSeries;
        const auto found = index->FindByKey("k" + std::to_string(id));
        ASSERT_TRUE(found.ok() && found->has_value()) << id;
        EXPECT_EQ((*found)->id.value, id);
        const SeriesId ids[] = {SeriesId{id}, SeriesId{kSeries + 1}};
        const auto by_id = index->FindByIds(ids);
        ASSERT_TRUE(by_id.ok() && (*by_id)[0].has_value() && !(*by_id)[1].has_value());
        const auto infos = index->InfosByIds(ids);
        ASSERT_TRUE(infos.ok() && (*infos)[0] != nullptr && (*infos)[1] == nullptr);
        EXPECT_EQ((*infos)[0]->id.value, id);
        EXPECT_EQ(index->LabelValues("id", std::to_string(id), 1).value().size(), 1u);
      }
    });
  }
  std::mt19937 random(9);
  while (commit < kCommits) {
    index->Apply(series(1 + random() % kSeries, random() % 2 == 0 ? "left" : "right"));
    applied.store(commit);
    if (commit % 100 == 0) {
      std::this_thread::yield();
    }
  }
  done.store(true);
  persister.join();
  for (std::thread& reader : readers) {
    reader.join();
  }
  ASSERT_TRUE(index->Persist(CommitNumber{commit}).ok());
  EXPECT_EQ(index->Count().value(), kSeries);
}

}  // namespace
}  // namespace tsdb::index
