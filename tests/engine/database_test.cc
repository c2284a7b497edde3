// The main job through the public interface, on a file system in memory.
#include <bit>
#include <cmath>
#include <limits>

#include "tests/engine/engine_test_util.h"

namespace tsdb::engine {
namespace {

class DatabaseTest : public testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() { TSDB_ASSERT_OPEN(db_, "/db", options_, MemoryEnvironment(&fs_, &clock_)); }
  void Reopen() {
    db_.reset();
    Open();
  }
  SeriesRef Create(const std::string& metric) {
    auto ref = db_->CreateSeries(Series(metric));
    EXPECT_TRUE(ref.ok()) << ref.status().ToString();
    return ref.ok() ? *ref : SeriesRef{};
  }
  std::vector<Sample> Rows(const std::string& selector, TimeRange range = {}) {
    QuerySpec spec;
    spec.selector = *Selector::Parse(selector);
    spec.range = range;
    return ReadRows(*db_, spec);
  }

  MemoryFileSystem fs_;
  FakeClock clock_;
  OpenOptions options_ = QuietOptions();
  std::unique_ptr<Database> db_;
};

TEST_F(DatabaseTest, GivesBackWhatWasWrittenFromHeadFileAndAfterReopening) {
  const SeriesRef ref = Create("cpu");
  WriteBatch batch;
  for (int i = 0; i < 3000; ++i) {
    batch.Add(ref, 1000 + i * 10, i * 0.5);
  }
  ASSERT_TRUE(db_->Append(batch).ok());
  const auto check = [&](const char* where) {
    const auto rows = Rows("cpu");
    ASSERT_EQ(rows.size(), 3000u) << where;
    EXPECT_EQ(rows[17].time, 1170) << where;
    EXPECT_EQ(rows[17].value, 8.5) << where;
    EXPECT_EQ(Rows("cpu", {1170, 1190}).size(), 3u) << where;
  };
  check("head");
  Reopen();
  check("replayed");
  TSDB_ASSERT_OK(db_->Flush());
  check("flushed");
  TSDB_ASSERT_OK(db_->Close());
  Reopen();
  check("closed and opened");
  EXPECT_EQ(db_->recovery_report().commits, 0u) << "a clean close leaves nothing to replay";
  EXPECT_TRUE(db_->recovery_report().notes.empty());
}

TEST_F(DatabaseTest, KeepsEveryBitOfAValue) {
  const SeriesRef ref = Create("odd");
  const std::uint64_t patterns[] = {0x405ec00000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000001,
                                    0x7ff0000000000002, 0x8000000000000000, 0x0000000000000001, 0xffffffffffffffff};
  Samples expected;
  for (std::size_t i = 0; i < std::size(patterns); ++i) {
    expected[static_cast<Timestamp>(i) - 4] = patterns[i];
    TSDB_ASSERT_OK(Put(*db_, ref, static_cast<Timestamp>(i) - 4, std::bit_cast<double>(patterns[i])));
  }
  EXPECT_EQ(ReadAll(*db_)["odd{host=\"a\"}"], expected);
  TSDB_ASSERT_OK(db_->Flush());
  EXPECT_EQ(ReadAll(*db_)["odd{host=\"a\"}"], expected);
  Reopen();
  EXPECT_EQ(ReadAll(*db_)["odd{host=\"a\"}"], expected);
}

TEST_F(DatabaseTest, ALongSeriesIsFlushedPieceByPiece) {
  const SeriesRef ref = Create("long");
  WriteBatch batch;
  for (int i = 0; i < 400'000; ++i) {
    batch.Add(ref, 1000 + i * 10, i * 0.5);
    if (i % 3000 == 2999) {
      batch.Add(ref, 1005 + i * 7, -1);  // late
      TSDB_ASSERT_OK(db_->Append(batch).status());
      batch.Clear();
    }
    if (i == 200'000) {
      TSDB_ASSERT_OK(db_->Delete(Selector::ForKey("long{host=\"a\"}"), {500'000, 501'000}).status());
    }
  }
  TSDB_ASSERT_OK(db_->Append(batch).status());
  const Contents before = ReadAll(*db_);
  TSDB_ASSERT_OK(db_->Flush());
  EXPECT_EQ(db_->GetStats().samples_in_head, 0u);
  EXPECT_EQ(ReadAll(*db_), before);
}

TEST_F(DatabaseTest, TakesSamplesInAnyOrderAndTheLastValueOfATimeWins) {
  const SeriesRef ref = Create("late");
  for (const Timestamp t : {50, 10, 30, 20, 40, 30}) {
    TSDB_ASSERT_OK(Put(*db_, ref, t, static_cast<double>(t)));
  }
  TSDB_ASSERT_OK(db_->Flush());
  TSDB_ASSERT_OK(Put(*db_, ref, 20, 21));
  TSDB_ASSERT_OK(Put(*db_, ref, 25, 25));
  const auto rows = Rows("late");
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[1].value, 21);
  EXPECT_EQ(rows[2].time, 25);
  TSDB_ASSERT_OK(db_->Flush());
  EXPECT_EQ(Rows("late").size(), 6u);
  EXPECT_EQ(Rows("late")[1].value, 21);
}

TEST_F(DatabaseTest, PoliciesDecideWhatAStoredTimeBecomes) {
  struct Row {
    DuplicatePolicy policy;
    double expected;
    std::size_t refused;
  };
  const Row rows[] = {{DuplicatePolicy::kBlock, 10, 2}, {DuplicatePolicy::kFirst, 10, 0},
                      {DuplicatePolicy::kLast, 25, 0},  {DuplicatePolicy::kMin, 4, 0},
                      {DuplicatePolicy::kMax, 25, 0},   {DuplicatePolicy::kSum, 39, 0}};
  for (const bool flush : {false, true}) {
    for (const Row& row : rows) {
      const std::string name = std::string(DuplicatePolicyName(row.policy)) + (flush ? "_flushed" : "");
      SeriesSettings settings;
      settings.duplicates = row.policy;
      settings.has_duplicates = true;
      auto ref = db_->CreateSeries(Series(name), settings);
      ASSERT_TRUE(ref.ok());
      std::size_t refused = 0;
      for (const auto& [time, value] : {std::pair{100, 10.0}, {500, 1.0}, {100, 4.0}, {100, 25.0}}) {
        const Status status = Put(*db_, *ref, time, value);
        if (!status.ok()) {
          EXPECT_EQ(status.code(), StatusCode::kDuplicate);
          ++refused;
        }
        if (flush) {
          TSDB_ASSERT_OK(db_->Flush());
        }
      }
      EXPECT_EQ(refused, row.refused) << name;
      const auto got = Rows(name);
      ASSERT_EQ(got.size(), 2u) << name;
      EXPECT_EQ(got[0].value, row.expected) << name;
    }
  }
  Reopen();
  EXPECT_EQ(Rows("sum")[0].value, 39);
  EXPECT_EQ(Rows("min_flushed")[0].value, 4);
}

TEST_F(DatabaseTest, APolicyOfOneWriteDoesNotChangeTheSeries) {
  SeriesSettings settings;
  settings.duplicates = DuplicatePolicy::kBlock;
  settings.has_duplicates = true;
  const SeriesRef ref = *db_->CreateSeriesByKey("x", {}, settings);
  WriteOptions last;
  last.duplicates = DuplicatePolicy::kLast;
  last.has_duplicates = true;
  TSDB_ASSERT_OK(Put(*db_, ref, 200, 7));
  EXPECT_FALSE(Put(*db_, ref, 200, 8).ok());
  TSDB_ASSERT_OK(Put(*db_, ref, 200, 8, last));
  EXPECT_FALSE(Put(*db_, ref, 200, 9).ok());
  QuerySpec spec;
  spec.selector = Selector::ForKey("x");
  ASSERT_EQ(ReadRows(*db_, spec).size(), 1u);
  EXPECT_EQ(ReadRows(*db_, spec)[0].value, 8);
}

TEST_F(DatabaseTest, IncrementsAddToTheNewestValue) {
  const SeriesRef ref = Create("counter");
  WriteBatch batch;
  batch.Increment(ref, 10, 5);
  batch.Increment(ref, 10, 2);
  batch.Increment(ref, 20, 1);
  ASSERT_TRUE(db_->Append(batch).ok());
  TSDB_ASSERT_OK(db_->Flush());
  batch.Clear();
  batch.Increment(ref, 15, 1);
  batch.Increment(ref, 20, 1);
  batch.Increment(ref, kNow, 1);
  const auto result = db_->Append(batch);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->rejected.size(), 1u);
  EXPECT_EQ(result->rejected[0].index, 0u);
  EXPECT_EQ(result->rejected[0].status.code(), StatusCode::kOutOfRange);
  const auto rows = Rows("counter");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].value, 7);
  EXPECT_EQ(rows[1].value, 9);
  EXPECT_EQ(rows[2].time, 1'700'000'000'000);
  EXPECT_EQ(rows[2].value, 10);
}

TEST_F(DatabaseTest, CountsReplacementsWhenAsked) {
  WriteBatch batch;
  const auto series = batch.AddLabels(Series("r"));
  for (const Timestamp t : {1, 2, 3, 1, 1, 2}) {
    batch.Add(series, t, static_cast<double>(t));
  }
  WriteOptions options;
  options.count_replaced = true;
  const auto result = db_->Append(batch, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->stored, 6u);
  EXPECT_EQ(result->replaced, 3u);
  EXPECT_EQ(result->new_series, 1u);
  EXPECT_EQ(Rows("r").size(), 3u);
}

TEST_F(DatabaseTest, TheTwoNameSpacesShareTheShownKey) {
  const Labels labels = Series("cpu");
  const SeriesRef by_labels = *db_->CreateSeries(labels);
  EXPECT_EQ(db_->CreateSeries(labels)->id, by_labels.id) << "the same labels are the same series";
  EXPECT_EQ(db_->CreateSeriesByKey(labels.CanonicalKey(), {}).status().code(), StatusCode::kAlreadyExists);
  const SeriesRef by_key = *db_->CreateSeriesByKey("plain", labels);
  EXPECT_NE(by_key.id, by_labels.id);
  EXPECT_EQ(db_->CreateSeriesByKey("plain", {}).status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(db_->Resolve(labels)->id, by_labels.id) << "ingest by labels never finds a series created by key";
  const std::string shown = Series("mem").CanonicalKey();
  ASSERT_TRUE(db_->CreateSeriesByKey(shown, {}).ok());
  WriteBatch batch;
  batch.Add(Series("mem"), 1, 1);
  batch.Add(Series("disk"), 1, 1);
  const auto result = db_->Append(batch);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->rejected.size(), 1u);
  EXPECT_EQ(result->rejected[0].status.code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(result->stored, 1u);
  Reopen();
  EXPECT_EQ(db_->ResolveKey("plain")->id, by_key.id);
  EXPECT_EQ(db_->Resolve(labels)->id, by_labels.id);
  TSDB_ASSERT_OK(db_->Close());
  Reopen();
  EXPECT_EQ(db_->ResolveKey("plain")->id, by_key.id);
  EXPECT_EQ(db_->Resolve(labels)->id, by_labels.id);
  EXPECT_EQ(db_->ListSeries(Selector())->size(), 4u);
}

TEST_F(DatabaseTest, RefusesSamplesOneByOneWithTheReason) {
  const SeriesRef ref = Create("a");
  WriteBatch batch;
  batch.Add(ref, 1, 1);
  batch.Add(SeriesRef{SeriesId{99}}, 2, 2);
  batch.Add(Labels(), 3, 3);
  batch.Add(ref, 1'700'000'000'000 + 2 * 86'400'000, 4);
  batch.Add(ref, 5, 5);
  const auto result = db_->Append(batch);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->rejected.size(), 3u);
  EXPECT_EQ(result->rejected[0].index, 1u);
  EXPECT_EQ(result->rejected[0].status.code(), StatusCode::kDropped);
  EXPECT_EQ(result->rejected[1].status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(result->rejected[2].status.code(), StatusCode::kOutOfRange);
  EXPECT_EQ(Rows("a").size(), 2u);
}

TEST_F(DatabaseTest, AggregatesPerBucketAlsoBeforeTheEpoch) {
  const SeriesRef ref = Create("b");
  for (const Timestamp t : {-101, -100, -1, 0, 99, 100}) {
    TSDB_ASSERT_OK(Put(*db_, ref, t, 1));
  }
  QuerySpec spec;
  spec.range = {-1000, 1000};
  spec.aggregators = {Aggregator::kCount};
  spec.bucket.width = 100;
  const auto check = [&](Timestamp align, const std::vector<std::pair<Timestamp, double>>& expected) {
    spec.bucket.align = align;
    const auto rows = ReadRows(*db_, spec);
    ASSERT_EQ(rows.size(), expected.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].time, expected[i].first);
      EXPECT_EQ(rows[i].value, expected[i].second);
    }
  };
  check(0, {{-200, 1}, {-100, 2}, {0, 2}, {100, 1}});
  check(30, {{-170, 2}, {-70, 2}, {30, 2}});
}

TEST_F(DatabaseTest, ImpossibleOptionsAreRefusedNotStored) {
  SeriesSettings settings;
  settings.retention = -5;
  EXPECT_EQ(db_->CreateSeries(Series("r"), settings).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(db_->Resolve(Series("r")).status().code(), StatusCode::kNotFound);
  OpenOptions options = QuietOptions();
  options.create.retention = -1;
  EXPECT_EQ(OpenDatabase("/other", options, MemoryEnvironment(&fs_, &clock_)).status().code(),
            StatusCode::kInvalidArgument);
}

TEST_F(DatabaseTest, ASecondOpenIsRefusedAndAForeignFolderIsLeftAlone) {
  EXPECT_EQ(OpenDatabase("/db", options_, MemoryEnvironment(&fs_, &clock_)).status().code(), StatusCode::kBusy);
  ASSERT_TRUE(fs_.CreateDirectories("/home").ok());
  fs_.WriteWhole("/home/letter.txt", "dear");
  EXPECT_EQ(OpenDatabase("/home", options_, MemoryEnvironment(&fs_, &clock_)).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(*fs_.ReadWhole("/home/letter.txt"), "dear");
  OpenOptions must_exist = QuietOptions();
  must_exist.create_if_missing = false;
  EXPECT_EQ(OpenDatabase("/none", must_exist, MemoryEnvironment(&fs_, &clock_)).status().code(), StatusCode::kNotFound);
}

TEST_F(DatabaseTest, ReverseAndLimitCutPerSeries) {
  const SeriesRef ref = Create("q");
  for (int i = 0; i < 100; ++i) {
    TSDB_ASSERT_OK(Put(*db_, ref, i, i));
    if (i == 50) {
      TSDB_ASSERT_OK(db_->Flush());
    }
  }
  QuerySpec spec;
  spec.reverse = true;
  spec.limit = 3;
  auto rows = ReadRows(*db_, spec);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].time, 99);
  EXPECT_EQ(rows[2].time, 97);
  spec.aggregators = {Aggregator::kSum};
  spec.bucket.width = 10;
  rows = ReadRows(*db_, spec);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].time, 90);
  EXPECT_EQ(rows[0].value, 945);
  spec.reverse = false;
  rows = ReadRows(*db_, spec);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[2].time, 20);
}

TEST_F(DatabaseTest, AClosedDatabaseSaysSo) {
  TSDB_ASSERT_OK(db_->Close());
  TSDB_ASSERT_OK(db_->Close());
  EXPECT_EQ(db_->Append({}).status().code(), StatusCode::kClosed);
  EXPECT_EQ(db_->Query({}).status().code(), StatusCode::kClosed);
  EXPECT_EQ(db_->Flush().code(), StatusCode::kClosed);
}

}  // namespace
}  // namespace tsdb::engine
