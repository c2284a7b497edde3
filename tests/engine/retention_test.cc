// Retention: what is expired is not seen, not written, removed with its files, and does not come back.
#include <map>

#include "tests/engine/engine_test_util.h"

namespace tsdb::engine {
namespace {

constexpr Timestamp kDay = 24ll * 3600 * 1000;

class RetentionTest : public testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    db_.reset();
    TSDB_ASSERT_OPEN(db_, "/db", options_, MemoryEnvironment(&fs_, &clock_));
  }
  Timestamp Now() { return clock_.WallNanos() / 1'000'000; }
  void AdvanceDays(std::int64_t days) { clock_.Advance(days * kDay * 1'000'000); }
  std::string Times(const std::string& key) {
    QuerySpec spec;
    spec.selector = Selector::ForKey(key);
    std::string text;
    for (const Sample& row : ReadRows(*db_, spec)) {
      text += std::to_string(row.time) + ":" + std::to_string(static_cast<int>(row.value)) + " ";
    }
    return text;
  }

  OpenOptions options_ = QuietOptions();
  MemoryFileSystem fs_;
  FakeClock clock_;
  std::unique_ptr<Database> db_;
};

TEST_F(RetentionTest, OfASeriesCountsFromItsNewestSampleAndTheEdgeIsKept) {
  SeriesSettings settings;
  settings.retention = 5;
  const SeriesRef e = *db_->CreateSeriesByKey("e", {}, settings);
  TSDB_ASSERT_OK(Put(*db_, e, 10, 100));
  TSDB_ASSERT_OK(Put(*db_, e, 14, 101));
  TSDB_ASSERT_OK(Put(*db_, e, 15, 102));
  TSDB_ASSERT_OK(Put(*db_, e, 20, 103));
  EXPECT_EQ(Times("e"), "15:102 20:103 ");
  EXPECT_EQ(Put(*db_, e, 14, 7).code(), StatusCode::kOutOfRange);
  TSDB_ASSERT_OK(Put(*db_, e, 15, 8));
  TSDB_ASSERT_OK(Put(*db_, e, 16, 9));
  settings.retention = 2'592'000'000;
  const SeriesRef f = *db_->CreateSeriesByKey("f", {}, settings);
  TSDB_ASSERT_OK(Put(*db_, f, 1000, 1));
  TSDB_ASSERT_OK(Put(*db_, f, 2000, 2));
  const SeriesRef z = *db_->CreateSeriesByKey("z", {});
  TSDB_ASSERT_OK(Put(*db_, z, 1, 1));
  TSDB_ASSERT_OK(Put(*db_, z, Now(), 2));
  const auto check = [&](const char* when) {
    EXPECT_EQ(Times("e"), "15:8 16:9 20:103 ") << when;
    EXPECT_EQ(Times("f"), "1000:1 2000:2 ") << when;
    EXPECT_EQ(Times("z"), "1:1 " + std::to_string(Now()) + ":2 ") << when;
  };
  check("in memory");
  TSDB_ASSERT_OK(db_->EnforceRetention());
  check("after the job");
  TSDB_ASSERT_OK(db_->Flush());
  check("in files");
  ASSERT_NO_FATAL_FAILURE(Open());
  check("opened again");
  SeriesChange change;
  change.retention = 0;
  TSDB_ASSERT_OK(db_->Alter(e, change));
  check("altered");
  TSDB_ASSERT_OK(db_->Flush());
  ASSERT_TRUE(db_->Compact().ok());
  ASSERT_NO_FATAL_FAILURE(Open());
  check("at the end");
}

TEST_F(RetentionTest, DeletingTheNewestSampleBringsNothingBack) {
  SeriesSettings settings;
  settings.retention = 5;
  const SeriesRef e = *db_->CreateSeriesByKey("e", {}, settings);
  for (const Timestamp t : {10, 14, 15, 20}) {
    TSDB_ASSERT_OK(Put(*db_, e, t, 1));
  }
  TSDB_ASSERT_OK(db_->Delete(Selector::ForKey("e"), {20, 20}).status());
  EXPECT_EQ(Times("e"), "15:1 ");
  TSDB_ASSERT_OK(db_->Flush());
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_EQ(Times("e"), "15:1 ");
}

TEST_F(RetentionTest, OfTheDatabaseHidesAtOnceAndRemovesWholeFiles) {
  Retention retention;
  retention.age = 10 * kDay;
  TSDB_ASSERT_OK(db_->SetRetention(retention));
  const SeriesRef ref = *db_->CreateSeriesByKey("s", {});
  const Timestamp begin = Now();
  for (int day = 0; day < 8; ++day) {
    TSDB_ASSERT_OK(Put(*db_, ref, Now(), day));
    TSDB_ASSERT_OK(db_->Flush());
    TSDB_ASSERT_OK(db_->EnforceRetention());
    AdvanceDays(1);
  }
  EXPECT_EQ(db_->GetStats().chunk_files, 8u);
  for (int day = 8; day < 12; ++day) {
    TSDB_ASSERT_OK(Put(*db_, ref, Now(), day));
    TSDB_ASSERT_OK(db_->EnforceRetention());
    AdvanceDays(1);
  }
  // Newest: day 11. Day 1 is exactly as old as allowed.
  EXPECT_EQ(Times("s").substr(0, Times("s").find(' ')), std::to_string(begin + kDay) + ":1");
  EXPECT_EQ(Put(*db_, ref, begin + kDay - 1, 9).code(), StatusCode::kOutOfRange);
  TSDB_ASSERT_OK(Put(*db_, ref, begin + kDay, 9));
  EXPECT_EQ(db_->GetStats().chunk_files, 7u);
  EXPECT_EQ(db_->GetStats().expired_files, 1u);
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_EQ(db_->GetRetention()->settings, retention);
  EXPECT_EQ(Times("s").substr(0, Times("s").find(' ')), std::to_string(begin + kDay) + ":9");
  retention.age = 0;
  TSDB_ASSERT_OK(db_->SetRetention(retention));
  EXPECT_EQ(Times("s").substr(0, Times("s").find(' ')), std::to_string(begin + kDay) + ":9");
  EXPECT_EQ(Put(*db_, ref, begin, 9).code(), StatusCode::kOutOfRange) << "below the floor all is gone for good";
}

TEST_F(RetentionTest, IsPartOfTheSettingsADatabaseIsCreatedWith) {
  db_.reset();
  MemoryFileSystem fs;
  OpenOptions options = QuietOptions();
  options.create.retention = kDay;
  options.create.bytes_max = 1 << 30;
  TSDB_ASSERT_OPEN(db_, "/other", options, MemoryEnvironment(&fs, &clock_));
  EXPECT_EQ(db_->GetRetention()->settings.age, kDay);
  EXPECT_EQ(db_->GetRetention()->settings.bytes_max, 1u << 30);
  const SeriesRef ref = *db_->CreateSeriesByKey("s", {});
  TSDB_ASSERT_OK(Put(*db_, ref, Now(), 1));
  EXPECT_EQ(Put(*db_, ref, Now() - kDay - 1, 1).code(), StatusCode::kOutOfRange);
  db_.reset();
}

TEST_F(RetentionTest, AClassKeepsItsSeriesForAnotherTime) {
  Retention retention;
  retention.age = 2 * kDay;
  retention.classes = {{"{keep=\"long\"}", 20 * kDay}};
  TSDB_ASSERT_OK(db_->SetRetention(retention));
  const SeriesRef a = *db_->CreateSeriesByKey("a", Labels{{"keep", "long"}});
  const SeriesRef b = *db_->CreateSeriesByKey("b", {});
  TSDB_ASSERT_OK(Put(*db_, a, Now(), 1));
  TSDB_ASSERT_OK(Put(*db_, b, Now(), 1));
  const Timestamp begin = Now();
  TSDB_ASSERT_OK(db_->Flush());
  AdvanceDays(5);
  TSDB_ASSERT_OK(Put(*db_, a, Now(), 2));
  TSDB_ASSERT_OK(Put(*db_, b, Now(), 2));
  for (int round = 0; round < 3; ++round) {
    TSDB_ASSERT_OK(db_->EnforceRetention());
    EXPECT_EQ(Times("a"), std::to_string(begin) + ":1 " + std::to_string(Now()) + ":2 ");
    EXPECT_EQ(Times("b"), std::to_string(Now()) + ":2 ");
    TSDB_ASSERT_OK(Put(*db_, a, begin, 1));
    EXPECT_EQ(Put(*db_, b, begin, 1).code(), StatusCode::kOutOfRange);
    ASSERT_NO_FATAL_FAILURE(Open());
  }
}

TEST_F(RetentionTest, WhatAClassHidStaysGoneWhenItsAgeIsRaised) {
  for (const bool flushed : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(Open());
    Retention retention;
    retention.age = 5 * kDay;
    retention.classes = {{"{keep=\"long\"}", 20 * kDay}, {"{keep=\"short\"}", 2 * kDay}};
    TSDB_ASSERT_OK(db_->SetRetention(retention));
    const std::string name = flushed ? "f" : "h";
    std::map<std::string, SeriesRef> refs;
    for (const std::string keep : {"long", "short", "as all"}) {
      refs[keep] = *db_->CreateSeriesByKey(name + keep, Labels{{"keep", keep}});
      TSDB_ASSERT_OK(Put(*db_, refs[keep], Now(), 1));
    }
    const std::string begin = std::to_string(Now()) + ":1 ";
    AdvanceDays(3);
    for (const auto& [keep, ref] : refs) {
      TSDB_ASSERT_OK(Put(*db_, ref, Now(), 2));
    }
    const std::string middle = std::to_string(Now()) + ":2 ";
    AdvanceDays(3);
    for (const auto& [keep, ref] : refs) {
      TSDB_ASSERT_OK(Put(*db_, ref, Now(), 3));
    }
    const std::string end = std::to_string(Now()) + ":3 ";
    if (flushed) {
      TSDB_ASSERT_OK(db_->Flush());
    }
    EXPECT_EQ(Times(name + "short"), end);
    EXPECT_EQ(Times(name + "as all"), middle + end);
    TSDB_ASSERT_OK(db_->SetRetention({}));
    for (int round = 0; round < 4; ++round) {
      EXPECT_EQ(Times(name + "long"), begin + middle + end);
      EXPECT_EQ(Times(name + "short"), end) << round;
      EXPECT_EQ(Times(name + "as all"), middle + end) << round;
      if (round == 1) {
        ASSERT_TRUE(db_->Compact().ok());
      }
      ASSERT_NO_FATAL_FAILURE(Open());
    }
  }
}

TEST_F(RetentionTest, ASampleOfTheFarFutureTakesNoOtherSeriesWithIt) {
  constexpr Timestamp kYear2262 = 9'214'646'400'000;
  OpenOptions options = QuietOptions();
  options.future_limit_ms = -1;
  TSDB_ASSERT_OPEN(db_, "/future", options, MemoryEnvironment(&fs_, &clock_));
  const SeriesRef far = *db_->CreateSeriesByKey("far", {});
  const SeriesRef near = *db_->CreateSeriesByKey("near", {});
  TSDB_ASSERT_OK(Put(*db_, near, Now() - kDay, 1));
  TSDB_ASSERT_OK(Put(*db_, far, kYear2262, 2));
  TSDB_ASSERT_OK(db_->Flush());
  const std::string kept = std::to_string(Now() - kDay) + ":1 ";
  Retention by_bytes;
  by_bytes.bytes_max = 1;  // less than the folder can ever have
  Retention by_age;
  by_age.age = 10 * kDay;
  for (const Retention& retention : {by_bytes, by_age}) {
    TSDB_ASSERT_OK(db_->SetRetention(retention));
    TSDB_ASSERT_OK(db_->EnforceRetention());
    EXPECT_EQ(Times("near"), kept);
    EXPECT_EQ(Times("far"), std::to_string(kYear2262) + ":2 ");
    // Nor does it keep anything from being taken in, flushed and merged.
    TSDB_ASSERT_OK(Put(*db_, near, Now() - kDay, 1));
    TSDB_ASSERT_OK(db_->Flush());
    ASSERT_TRUE(db_->Compact().ok());
    EXPECT_EQ(Times("near"), kept);
    EXPECT_EQ(Times("far"), std::to_string(kYear2262) + ":2 ");
  }
  // Merged apart, the old file goes by the bytes and the other stays.
  TSDB_ASSERT_OK(db_->SetRetention(by_bytes));
  TSDB_ASSERT_OK(db_->EnforceRetention());
  EXPECT_EQ(Times("near"), "");
  EXPECT_EQ(Times("far"), std::to_string(kYear2262) + ":2 ");
  TSDB_ASSERT_OK(Put(*db_, near, Now(), 4));
  EXPECT_EQ(Times("near"), std::to_string(Now()) + ":4 ");
}

TEST_F(RetentionTest, APartitionExactlyAtTheEdgeIsKeptUntilItsLastSampleIsTooOld) {
  const Timestamp day = Now() / kDay * kDay;  // begin of a partition
  const SeriesRef ref = *db_->CreateSeriesByKey("s", {});
  TSDB_ASSERT_OK(Put(*db_, ref, day - 1, 1));  // last of the day before
  TSDB_ASSERT_OK(Put(*db_, ref, day, 2));      // first of its own
  ASSERT_TRUE(db_->Compact().ok());
  ASSERT_EQ(db_->GetStats().chunk_files, 2u);
  Retention retention;
  retention.age = kDay;
  TSDB_ASSERT_OK(db_->SetRetention(retention));
  const auto at = [&](Timestamp time) {  // the clock and the newest sample
    clock_.Advance((time - Now()) * 1'000'000);
    TSDB_ASSERT_OK(Put(*db_, *db_->CreateSeries({{"__name__", "now"}}), time, 0));
    TSDB_ASSERT_OK(db_->EnforceRetention());
  };
  at(day - 1 + kDay);
  EXPECT_EQ(Times("s"), std::to_string(day - 1) + ":1 " + std::to_string(day) + ":2 ");
  EXPECT_EQ(db_->GetStats().chunk_files, 2u);
  at(day + kDay);
  EXPECT_EQ(Times("s"), std::to_string(day) + ":2 ");
  EXPECT_EQ(db_->GetStats().chunk_files, 1u);
  at(day + kDay + 1);
  EXPECT_EQ(Times("s"), "");
  EXPECT_EQ(db_->GetStats().chunk_files, 0u);
}

TEST_F(RetentionTest, AClockInDoubtMakesNothingGoWhenTheSettingsChange) {
  Retention retention;
  retention.age = 10 * kDay;
  TSDB_ASSERT_OK(db_->SetRetention(retention));
  const SeriesRef ref = *db_->CreateSeriesByKey("s", {});
  TSDB_ASSERT_OK(Put(*db_, ref, Now(), 1));
  TSDB_ASSERT_OK(db_->EnforceRetention());
  const std::string kept = std::to_string(Now()) + ":1 ";
  const std::int64_t right = clock_.WallNanos();
  clock_.SetWall(right + 365ll * kDay * 1'000'000);
  const Timestamp wrong = Now();
  TSDB_ASSERT_OK(Put(*db_, ref, wrong, 2));
  TSDB_ASSERT_OK(db_->EnforceRetention());
  ASSERT_TRUE(db_->GetRetention()->clock_in_doubt);
  retention.age = 20 * kDay;
  TSDB_ASSERT_OK(db_->SetRetention(retention));
  clock_.SetWall(right);
  EXPECT_EQ(Times("s"), kept + std::to_string(wrong) + ":2 ");
}

TEST_F(RetentionTest, AClockThatJumpsAYearHidesButRemovesNothing) {
  Retention retention;
  retention.age = 10 * kDay;
  TSDB_ASSERT_OK(db_->SetRetention(retention));
  const SeriesRef ref = *db_->CreateSeriesByKey("s", {});
  TSDB_ASSERT_OK(Put(*db_, ref, Now(), 1));
  TSDB_ASSERT_OK(db_->Flush());
  TSDB_ASSERT_OK(db_->EnforceRetention());
  const Timestamp begin = Now();
  const std::int64_t right = clock_.WallNanos();
  clock_.SetWall(right + 365ll * kDay * 1'000'000);
  TSDB_ASSERT_OK(db_->EnforceRetention());
  EXPECT_EQ(Times("s"), std::to_string(begin) + ":1 ") << "there is no newer sample: nothing is old";
  TSDB_ASSERT_OK(Put(*db_, ref, Now(), 2));
  EXPECT_EQ(Times("s"), std::to_string(Now()) + ":2 ");
  TSDB_ASSERT_OK(db_->EnforceRetention());
  EXPECT_TRUE(db_->GetRetention()->clock_in_doubt);
  EXPECT_EQ(db_->GetStats().chunk_files, 1u);
  // The clock is put right, the sample from the future taken away: all is as it was.
  clock_.SetWall(right);
  TSDB_ASSERT_OK(db_->Delete(Selector::ForKey("s"), {begin + 100 * kDay, kTimestampMax}).status());
  TSDB_ASSERT_OK(db_->EnforceRetention());
  EXPECT_EQ(Times("s"), std::to_string(begin) + ":1 ");
  // The jump was right after all.
  clock_.SetWall(right + 365ll * kDay * 1'000'000);
  TSDB_ASSERT_OK(Put(*db_, ref, Now(), 3));
  TSDB_ASSERT_OK(db_->AcceptClock());
  TSDB_ASSERT_OK(db_->EnforceRetention());
  EXPECT_EQ(db_->GetStats().chunk_files, 0u);
}

TEST_F(RetentionTest, ByBytesTheOldestFilesGoFirst) {
  const SeriesRef ref = *db_->CreateSeriesByKey("s", {});
  for (int file = 0; file < 6; ++file) {
    WriteBatch batch;
    for (int i = 0; i < 2000; ++i) {
      batch.Add(ref, Now() - (10 - file) * kDay + i, static_cast<double>(i * 7919 % 1000) / 3);
    }
    ASSERT_TRUE(db_->Append(batch).ok());
    TSDB_ASSERT_OK(db_->Flush());
  }
  Retention retention;
  retention.bytes_max = db_->GetStats().bytes_on_disk / 2;
  TSDB_ASSERT_OK(db_->SetRetention(retention));
  TSDB_ASSERT_OK(db_->EnforceRetention());
  EXPECT_LE(db_->GetStats().bytes_on_disk, retention.bytes_max);
  const Contents left = ReadAll(*db_);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.at("s").size() % 2000, 0u);
  EXPECT_GT(left.at("s").size(), 0u);
  EXPECT_EQ(left.at("s").rbegin()->first, Now() - 5 * kDay + 1999);
}

TEST_F(RetentionTest, AReaderBesideTheWriterHidesTheSame) {
  SeriesSettings settings;
  settings.retention = 5;
  const SeriesRef e = *db_->CreateSeriesByKey("e", {}, settings);
  const SeriesRef f = *db_->CreateSeriesByKey("f", {});
  auto reader = OpenDatabaseReadOnly("/db", {}, MemoryEnvironment(&fs_, &clock_));
  ASSERT_TRUE(reader.ok());
  Retention retention;
  retention.age = 50;
  TSDB_ASSERT_OK(db_->SetRetention(retention));
  for (const Timestamp t : {10, 14, 15, 20, 100}) {
    TSDB_ASSERT_OK(Put(*db_, e, t, 1));
    TSDB_ASSERT_OK(Put(*db_, f, t, 1));
    for (int again = 0; again < 2; ++again) {
      TSDB_ASSERT_OK((*reader)->Refresh());
      EXPECT_EQ(ReadAll(**reader), ReadAll(*db_)) << t;
    }
  }
  EXPECT_EQ(Times("e"), "100:1 ");
  EXPECT_EQ(Times("f"), "100:1 ");
  EXPECT_EQ((*reader)->GetRetention()->settings, retention);
  TSDB_ASSERT_OK(db_->Flush());
  TSDB_ASSERT_OK((*reader)->Refresh());
  EXPECT_EQ(ReadAll(**reader), ReadAll(*db_));
}

TEST_F(RetentionTest, ASeriesIntoWhichNothingCameForItsExpiryEnds) {
  SeriesSettings settings;
  settings.expiry = 3 * kDay;
  const SeriesRef quiet = *db_->CreateSeriesByKey("quiet", {}, settings);
  const SeriesRef busy = *db_->CreateSeriesByKey("busy", {}, settings);
  TSDB_ASSERT_OK(Put(*db_, quiet, Now(), 1));
  for (int day = 0; day < 5; ++day) {
    TSDB_ASSERT_OK(Put(*db_, busy, Now(), day));
    TSDB_ASSERT_OK(db_->EnforceRetention());
    EXPECT_EQ(db_->ListSeries(Selector())->size(), day <= 3 ? 2u : 1u) << day;
    AdvanceDays(1);
  }
}

}  // namespace
}  // namespace tsdb::engine
