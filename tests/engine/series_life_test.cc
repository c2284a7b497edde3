// Series end, come back, get other names, labels and settings: index, registry, log and files agree at every moment.
#include <algorithm>
#include <bit>

#include "tests/engine/engine_test_util.h"
#include "tests/engine/interrupted_database.h"
#include "tests/index/index_test_util.h"

namespace tsdb::engine {
namespace {

class SeriesLife : public InterruptedDatabase, public testing::WithParamInterface<Between> {
 protected:
  void Step() { Happens(GetParam()); }
  std::string Keys(const std::string& selector) {
    std::vector<std::string> keys;
    auto series = db_->ListSeries(*Selector::Parse(selector));
    EXPECT_TRUE(series.ok());
    for (const SeriesInfo& info : *series) {
      keys.push_back(info.key);
    }
    std::ranges::sort(keys);
    std::string text;
    for (const std::string& key : keys) {
      text += key + " ";
    }
    return text;
  }
  std::vector<Sample> Rows(const std::string& key) {
    QuerySpec spec;
    spec.selector = Selector::ForKey(key);
    return ReadRows(*db_, spec);
  }
  static SeriesChange NewLabels(Labels labels) {
    SeriesChange change;
    change.labels = std::move(labels);
    return change;
  }
};

TEST_P(SeriesLife, NamesLabelsAndSamplesChangeTogether) {
  const SeriesRef k1 = *db_->CreateSeriesByKey("k1", Labels{{"id", "10"}, {"app", "x"}});
  TSDB_ASSERT_OK(Put(*db_, k1, 1, 1));
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Keys("{id=\"10\"}"), "k1 ");
  TSDB_ASSERT_OK(db_->Alter(k1, NewLabels(Labels{{"id", "11"}, {"app", "x"}})));
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Keys("{id=\"10\"}"), "");
  EXPECT_EQ(Keys("{id=\"11\"}"), "k1 ");
  TSDB_ASSERT_OK(db_->Rename(k1, "k2"));
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Keys("{id=\"11\"}"), "k2 ");
  EXPECT_EQ(db_->ResolveKey("k1").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(db_->ResolveKey("k2")->id, k1.id);
  ASSERT_EQ(Rows("k2").size(), 1u);
  const SeriesRef again = *db_->CreateSeriesByKey("k1", Labels{{"id", "12"}, {"app", "x"}});
  EXPECT_NE(again.id, k1.id);
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Keys("{app=\"x\"}"), "k1 k2 ");
  EXPECT_EQ(db_->Rename(again, "k2").code(), StatusCode::kAlreadyExists);
  ASSERT_TRUE(db_->Drop(Selector::ForKey("k2")).ok());
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Keys("{app=\"x\"}"), "k1 ");
  EXPECT_EQ(Keys("{id=\"11\"}"), "");
  EXPECT_EQ(*db_->LabelValues("id"), std::vector<std::string>{"12"});
  EXPECT_EQ(Put(*db_, k1, 2, 2).code(), StatusCode::kDropped);
  const SeriesRef fresh = *db_->CreateSeriesByKey("k2", {});
  EXPECT_GT(fresh.id, again.id) << "ids are never given again";
  TSDB_ASSERT_OK(Put(*db_, fresh, 5, 5));
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Keys("{id=\"11\"}"), "");
  ASSERT_EQ(Rows("k2").size(), 1u);
  EXPECT_EQ(Rows("k2")[0].time, 5);
  TSDB_ASSERT_OK(db_->Alter(again, NewLabels({})));
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Keys("{app=\"x\"}"), "");
}

TEST_P(SeriesLife, ADroppedSeriesComesBackWithItsSamplesUnlessItsTimeIsOver) {
  const SeriesRef a = *db_->CreateSeriesByKey("a", Labels{{"x", "1"}});
  const SeriesRef b = *db_->CreateSeries(Labels{{"__name__", "b"}});
  TSDB_ASSERT_OK(Put(*db_, a, 1, 10));
  TSDB_ASSERT_OK(Put(*db_, b, 1, 20));
  ASSERT_NO_FATAL_FAILURE(Step());
  TSDB_ASSERT_OK(Put(*db_, a, 2, 11));
  ASSERT_EQ(db_->Drop(Selector())->series, 2u);
  EXPECT_TRUE(ReadAll(*db_).empty());
  ASSERT_NO_FATAL_FAILURE(Step());
  ASSERT_EQ(db_->ListDropped()->size(), 2u);
  EXPECT_EQ((*db_->ListDropped())[0].key, "a");
  EXPECT_EQ(db_->GetStats().dropped_series, 2u);
  const SeriesRef other = *db_->CreateSeriesByKey("a", {});
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(db_->Undrop(a.id).status().code(), StatusCode::kAlreadyExists);
  ASSERT_TRUE(db_->Undrop(a.id, "a2").ok());
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Keys("{x=\"1\"}"), "a2 ");
  ASSERT_EQ(Rows("a2").size(), 2u);
  TSDB_ASSERT_OK(Put(*db_, a, 3, 12));
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Rows("a2").size(), 3u);
  EXPECT_TRUE(Rows("a").empty());
  EXPECT_NE(other.id, a.id);
  clock_.Advance(2 * kDropGraceMs * 1'000'000);
  EXPECT_EQ(db_->Undrop(b.id).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(db_->ListDropped()->empty());
  CompactOptions purge;
  purge.purge = true;
  ASSERT_TRUE(db_->Compact(purge).ok());
  EXPECT_EQ(db_->GetStats().samples_in_files, 3u) << "what cannot come back is gone from the files";
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Rows("a2").size(), 3u);
}

TEST_P(SeriesLife, ManySeriesEndAndTheirNamesAreFree) {
  constexpr int kSeries = 2000;
  const auto write = [&](bool expect_new) {
    WriteBatch batch;
    for (int i = 1; i <= kSeries; ++i) {
      batch.Add(Labels{{"__name__", "m"}, {"app", "x"}, {"pod", "p" + std::to_string(i)}}, 1000, i);
    }
    const auto result = db_->Append(batch);
    ASSERT_TRUE(result.ok());
    EXPECT_TRUE(result->rejected.empty());
    EXPECT_EQ(result->new_series, expect_new ? kSeries - 20u : 0u);
  };
  WriteBatch first;
  for (int i = 1; i <= kSeries; ++i) {
    first.Add(Labels{{"__name__", "m"}, {"app", "x"}, {"pod", "p" + std::to_string(i)}}, 1000, i);
  }
  ASSERT_EQ(db_->Append(first)->new_series, std::uint64_t{kSeries});
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(db_->LabelValues("pod")->size(), std::size_t{kSeries});
  const auto report = db_->Drop(*Selector::Parse("{pod!~\"p[0-9]*00\"}"));
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->series, kSeries - 20u);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(db_->ListSeries(*Selector::Parse("{app=\"x\"}"))->size(), 20u);
    EXPECT_EQ(db_->LabelValues("pod")->size(), 20u);
    EXPECT_EQ(ReadAll(*db_).size(), 20u);
    ASSERT_NO_FATAL_FAILURE(Step());
  }
  ASSERT_NO_FATAL_FAILURE(write(true));
  EXPECT_EQ(ReadAll(*db_).size(), std::size_t{kSeries});
  ASSERT_NO_FATAL_FAILURE(Step());
  ASSERT_NO_FATAL_FAILURE(write(false));
  EXPECT_EQ(ReadAll(*db_).size(), std::size_t{kSeries});
}

TEST_P(SeriesLife, SettingsThatAreAlteredHoldAtOnce) {
  const SeriesRef ref = *db_->CreateSeriesByKey("s", {});
  TSDB_ASSERT_OK(Put(*db_, ref, 1, 1));
  ASSERT_NO_FATAL_FAILURE(Step());
  SeriesChange change;
  change.duplicates = DuplicatePolicy::kSum;
  TSDB_ASSERT_OK(db_->Alter(ref, change));
  ASSERT_NO_FATAL_FAILURE(Step());
  TSDB_ASSERT_OK(Put(*db_, ref, 1, 2));
  EXPECT_EQ(Rows("s")[0].value, 3);
  change = {};
  change.duplicates.emplace(std::nullopt);
  TSDB_ASSERT_OK(db_->Alter(ref, change));
  ASSERT_NO_FATAL_FAILURE(Step());
  TSDB_ASSERT_OK(Put(*db_, ref, 1, 9));
  EXPECT_EQ(Rows("s")[0].value, 9);
  change = {};
  change.retention = -1;
  EXPECT_EQ(db_->Alter(ref, change).code(), StatusCode::kInvalidArgument);
}

TEST_P(SeriesLife, ASampleThatSaysNothingNewIsIgnoredWhenAskedFor) {
  SeriesSettings settings;
  settings.ignore_max_time_diff = 10;
  settings.ignore_max_value_diff = 0.5;
  const SeriesRef ref = *db_->CreateSeriesByKey("s", {}, settings);
  const auto put = [&](Timestamp time, double value) {
    WriteBatch batch;
    batch.Add(ref, time, value);
    const auto result = db_->Append(batch);
    EXPECT_TRUE(result.ok());
    return result->ignored;
  };
  EXPECT_EQ(put(100, 1), 0u);
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(put(105, 1.25), 1u);
  EXPECT_EQ(put(105, 1.75), 0u) << "too different";
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(put(116, 1.75), 0u) << "too late";
  EXPECT_EQ(put(110, 1.75), 0u) << "not in order";
  EXPECT_EQ(put(116, 2.0), 1u);
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Rows("s").size(), 4u);
  WriteOptions none;
  none.has_ignore = true;
  TSDB_ASSERT_OK(Put(*db_, ref, 117, 1.75, none));
  EXPECT_EQ(Rows("s").size(), 5u);
}

/// With the stored index on a real disk: it shrinks with the series.
TEST(SeriesChurn, TheIndexGivesItsSpaceBackWhenMostSeriesHaveEnded) {
  constexpr int kSeries = 20'000;
  const index::TemporaryDirectory folder;
  const auto pod = [](int i) {
    const std::string digits = std::to_string(i);
    return "p" + std::string(5 - digits.size(), '0') + digits;
  };
  std::unique_ptr<Database> db;
  const auto open = [&] {
    db.reset();
    auto opened = Database::Open(folder.path());
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    db = *std::move(opened);
  };
  const auto ingest = [&](std::uint64_t new_series) {
    WriteBatch batch;
    for (int i = 1; i <= kSeries; ++i) {
      batch.Add(Labels{{"__name__", "c_v"}, {"app", "x"}, {"pod", pod(i)}}, 1'700'000'000'000 + i, i);
    }
    const auto result = db->Append(batch);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_EQ(result->new_series, new_series);
    TSDB_ASSERT_OK(db->Flush());
  };
  const auto expect = [&](std::size_t series, double sum) {
    EXPECT_EQ(db->ListSeries(*Selector::Parse("{app=\"x\"}"))->size(), series);
    const auto pods = db->LabelValues("pod");
    ASSERT_TRUE(pods.ok());
    EXPECT_EQ(pods->size(), series);
    EXPECT_TRUE(std::ranges::is_sorted(*pods));
    const Contents contents = ReadAll(*db);
    double found = 0;
    for (const auto& [key, samples] : contents) {
      EXPECT_EQ(samples.size(), 1u) << key;
      found += std::bit_cast<double>(samples.begin()->second);
    }
    EXPECT_EQ(contents.size(), series);
    EXPECT_EQ(found, sum);
  };
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(ingest(kSeries));
  ASSERT_NO_FATAL_FAILURE(expect(kSeries, 200'010'000));
  const std::uint64_t index_bytes = db->GetStats().index_bytes;
  const auto dropped = db->Drop(*Selector::Parse("{pod!~\"p..000\"}"), DropOptions{.grace_ms = 0});
  ASSERT_TRUE(dropped.ok());
  EXPECT_EQ(dropped->series, 19'980u);
  ASSERT_NO_FATAL_FAILURE(expect(20, 210'000));
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(expect(20, 210'000));
  TSDB_ASSERT_OK(db->Flush());
  EXPECT_LT(db->GetStats().index_bytes, index_bytes / 10);
  ASSERT_NO_FATAL_FAILURE(expect(20, 210'000));
  ASSERT_NO_FATAL_FAILURE(ingest(19'980));
  ASSERT_NO_FATAL_FAILURE(expect(kSeries, 200'010'000));
  TSDB_ASSERT_OK(db->Close());
  db.reset();
}

INSTANTIATE_TEST_SUITE_P(Between, SeriesLife,
                         testing::Values(Between::kNothing, Between::kFlush, Between::kKill, Between::kClose,
                                         Between::kCompact));

}  // namespace
}  // namespace tsdb::engine
