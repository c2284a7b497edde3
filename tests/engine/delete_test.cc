// Deletes: what goes, what stays, from every place where samples can be: head, sealed generation, files, log.
#include <array>
#include <functional>

#include "chunk/manifest.h"
#include "tests/engine/engine_test_util.h"
#include "tests/engine/interrupted_database.h"

namespace tsdb::engine {
namespace {

class DeleteTest : public InterruptedDatabase {
 protected:
  SeriesRef Create(const std::string& key) { return *db_->CreateSeriesByKey(key, Labels{{"k", key}}); }
  void PutRange(SeriesRef ref, Timestamp from, Timestamp to, double factor) {
    WriteBatch batch;
    for (Timestamp t = from; t <= to; ++t) {
      batch.Add(ref, t, static_cast<double>(t) * factor);
    }
    ASSERT_TRUE(db_->Append(batch).ok());
  }
  DeleteReport Delete(const std::string& key, Timestamp from, Timestamp to) {
    DeleteOptions options;
    options.count_samples = true;
    const auto report = db_->Delete(Selector::ForKey(key), {from, to}, options);
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    return report.ok() ? *report : DeleteReport{};
  }
  std::vector<Sample> Rows(const std::string& key, Timestamp from = kTimestampMin, Timestamp to = kTimestampMax,
                           bool reverse = false, std::uint64_t limit = 0) {
    QuerySpec spec;
    spec.selector = Selector::ForKey(key);
    spec.range = {from, to};
    spec.reverse = reverse;
    spec.limit = limit;
    return ReadRows(*db_, spec);
  }
  static std::string Text(const std::vector<Sample>& rows) {
    std::string text;
    for (const Sample& row : rows) {
      text += std::to_string(row.time) + ":" + std::to_string(static_cast<int>(row.value)) + " ";
    }
    return text;
  }
};

class DeleteScript : public DeleteTest, public testing::WithParamInterface<Between> {
 protected:
  void Step() { Happens(GetParam()); }
};

TEST_P(DeleteScript, RangesOverChunkBordersGoAndWhatIsWrittenAfterwardsStays) {
  const SeriesRef ref = Create("d");
  PutRange(ref, 1, 5000, 2);
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Delete("d", 101, 4900).samples, 4800u);
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Text(Rows("d", 99, 4902)), "99:198 100:200 4901:9802 4902:9804 ");
  EXPECT_EQ(Text(Rows("d", kTimestampMin, kTimestampMax, true, 1)), "5000:10000 ");
  EXPECT_EQ(Delete("d", 4901, 5000).samples, 100u);
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Text(Rows("d", kTimestampMin, kTimestampMax, true, 1)), "100:200 ");
  EXPECT_EQ(Rows("d").size(), 100u);
  TSDB_ASSERT_OK(Put(*db_, ref, 4950, 7));
  ASSERT_NO_FATAL_FAILURE(Step());
  TSDB_ASSERT_OK(Put(*db_, ref, 150, 8));
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Text(Rows("d", 100, 5000)), "100:200 150:8 4950:7 ");
  EXPECT_EQ(Text(Rows("d", kTimestampMin, kTimestampMax, true, 3)), "4950:7 150:8 100:200 ");
  EXPECT_EQ(Delete("d", 200, 150).samples, 0u);
  EXPECT_EQ(Delete("d", 150, 150).samples, 1u);
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Delete("d", 0, 0).samples, 0u);
  EXPECT_EQ(Delete("d", kTimestampMin, kTimestampMax).samples, 101u);
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Text(Rows("d")), "");
  TSDB_ASSERT_OK(Put(*db_, ref, 5, 1));
  ASSERT_NO_FATAL_FAILURE(Step());
  EXPECT_EQ(Text(Rows("d")), "5:1 ");
}

TEST_P(DeleteScript, PoliciesAndIncrementsDoNotSeeDeletedSamples) {
  const SeriesRef ref = Create("d");
  PutRange(ref, 1, 10, 1);
  ASSERT_NO_FATAL_FAILURE(Step());
  Delete("d", 5, 10);
  ASSERT_NO_FATAL_FAILURE(Step());
  WriteOptions sum;
  sum.has_duplicates = true;
  sum.duplicates = DuplicatePolicy::kSum;
  TSDB_ASSERT_OK(Put(*db_, ref, 7, 100, sum));
  TSDB_ASSERT_OK(Put(*db_, ref, 3, 100, sum));
  ASSERT_NO_FATAL_FAILURE(Step());
  WriteOptions block;
  block.has_duplicates = true;
  block.duplicates = DuplicatePolicy::kBlock;
  TSDB_ASSERT_OK(Put(*db_, ref, 6, 60, block));
  EXPECT_EQ(Put(*db_, ref, 7, 1, block).code(), StatusCode::kDuplicate);
  Delete("d", 6, 7);
  ASSERT_NO_FATAL_FAILURE(Step());
  WriteBatch batch;
  batch.Increment(ref, 9, 1);
  ASSERT_TRUE(db_->Append(batch).ok());
  EXPECT_EQ(Text(Rows("d")), "1:1 2:2 3:103 4:4 9:5 ");
}

INSTANTIATE_TEST_SUITE_P(Between, DeleteScript,
                         testing::Values(Between::kNothing, Between::kFlush, Between::kKill, Between::kClose,
                                         Between::kCompact));

TEST_F(DeleteTest, TombstonesGoWithTheFilesTheyConcern) {
  const SeriesRef ref = Create("d");
  PutRange(ref, 1, 100, 1);
  TSDB_ASSERT_OK(db_->Flush());
  Delete("d", 10, 20);
  TSDB_ASSERT_OK(db_->Flush());
  EXPECT_EQ(db_->GetStats().tombstones, 1u);
  Delete("d", 1000, 2000);  // concerns no file
  TSDB_ASSERT_OK(db_->Flush());
  EXPECT_EQ(db_->GetStats().tombstones, 1u);
  CompactOptions purge;
  purge.purge = true;
  ASSERT_TRUE(db_->Compact(purge).ok());
  EXPECT_EQ(db_->GetStats().tombstones, 0u);
  EXPECT_EQ(db_->GetStats().samples_in_files, 89u);
  EXPECT_EQ(Rows("d").size(), 89u);
}

TEST_F(DeleteTest, ManyDeletesOfOneSeriesInTheHeadKeepTheRightSamples) {
  const SeriesRef ref = Create("d");
  std::map<Timestamp, double> model;
  for (int round = 0; round < 200; ++round) {
    for (Timestamp t = round; t < round + 30; ++t) {
      TSDB_ASSERT_OK(Put(*db_, ref, t, round));
      model[t] = round;
    }
    const Timestamp from = round + (round * 7) % 25;
    const Timestamp to = from + round % 6;
    TSDB_ASSERT_OK(db_->Delete(Selector::ForKey("d"), {from, to}).status());
    model.erase(model.lower_bound(from), model.upper_bound(to));
  }
  std::map<Timestamp, double> found;
  for (const Sample& row : Rows("d")) {
    found[row.time] = row.value;
  }
  EXPECT_EQ(found, model);
}

TEST_F(DeleteTest, BySelectorOnlyTheSelectedSeriesLoseSamples) {
  for (int i = 0; i < 100; ++i) {
    PutRange(*db_->CreateSeries(Labels{{"__name__", "m"}, {"odd", i % 2 == 0 ? "no" : "yes"},
                                       {"i", std::to_string(i)}}), 1, 10, 1);
  }
  TSDB_ASSERT_OK(db_->Flush());
  const auto report = db_->Delete(*Selector::Parse("m{odd=\"yes\"}"), {3, 10});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->series, 50u);
  const Contents contents = ReadAll(*db_);
  ASSERT_EQ(contents.size(), 100u);
  for (const auto& [key, samples] : contents) {
    EXPECT_EQ(samples.size(), key.find("yes") != std::string::npos ? 2u : 10u) << key;
  }
}

TEST_F(DeleteTest, AReaderInAnotherProcessSeesThem) {
  const SeriesRef ref = Create("d");
  PutRange(ref, 1, 10, 1);
  TSDB_ASSERT_OK(db_->Flush());
  PutRange(ref, 11, 20, 1);
  for (const bool lazy : {false, true}) {
    ReadOnlyOptions options;
    options.lazy_head = lazy;
    auto reader = OpenDatabaseReadOnly("/db", options, MemoryEnvironment(&fs_, &clock_));
    ASSERT_TRUE(reader.ok());
    const Timestamp at = lazy ? 12 : 8;
    Delete("d", at, at);
    TSDB_ASSERT_OK((*reader)->Refresh());
    EXPECT_EQ(ReadAll(**reader), ReadAll(*db_)) << lazy;
  }
  TSDB_ASSERT_OK(db_->Flush());
  auto reader = OpenDatabaseReadOnly("/db", {}, MemoryEnvironment(&fs_, &clock_));
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(ReadAll(**reader), ReadAll(*db_));
  EXPECT_EQ((*reader)->Delete(Selector::ForKey("d"), {1, 2}).status().code(), StatusCode::kReadOnly);
}

}  // namespace
}  // namespace tsdb::engine
