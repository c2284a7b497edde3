// Every allocation of ours in an append, a query, a flush, a close and an open fails, one at a time: the call says
// kOutOfMemory, no exception leaves it, nothing is lost and nothing is half done.
//
// An error leaves the database as it was, with one exception that its message tells: a definition that was logged and
// then found no memory makes every call fail until the database is opened again. So after a failure: the contents are
// those before the call or those after it, in the running database and in one opened after a crash; the same call again
// does what it does.
#include "tests/allocation/failing_allocator.h"
#include "tests/allocation/granted_environment.h"

namespace tsdb::allocation_test {
namespace {

using engine::Contents;
using engine::Put;
using engine::Series;

constexpr Timestamp kBegin = 1'000'000;

Result<Contents> TryReadAll(Database& db) {
  const QuerySpec spec = Granted([] { return QuerySpec{}; });
  TSDB_ASSIGN_OR_RETURN(const auto result, db.Query(spec));
  ColumnBatch batch;
  Contents contents;
  while (result->NextSeries()) {
    const auto key = Granted([&] { return result->series().key; });
    while (result->NextBatch(&batch)) {
      const Grant grant;
      for (std::size_t i = 0; i < batch.times.size(); ++i) {
        contents[key][batch.times[i]] = std::bit_cast<std::uint64_t>(batch.columns[0][i]);
      }
    }
  }
  const Grant grant;
  TSDB_RETURN_IF_ERROR(result->status());
  return contents;
}

WriteOptions KeepingTheLargest() {
  WriteOptions options;
  options.has_duplicates = true;
  options.duplicates = DuplicatePolicy::kMax;
  return options;
}

/// Samples of three series, one of them new; in order and late ones, enough to open a new head chunk.
WriteBatch Batch(int new_series) {
  WriteBatch batch;
  for (int i = 0; i < 40; ++i) {
    batch.Add(Series("m", "a"), kBegin + 5000 + i, 0.1 * i);
    batch.Add(Series("m", "b"), kBegin - 5000 - i, i);
    batch.Add(Series("m", "new" + std::to_string(i % new_series)), kBegin + i, i);
  }
  return batch;
}

struct Call {
  const char* name;
  Status (*run)(Database& db);
};

constexpr Call kCalls[] = {
    {"Append",
     [](Database& db) {
       const WriteBatch batch = Granted([] { return Batch(2); });
       return db.Append(batch, WriteOptions::With(Durability::kAlways)).status();
     }},
    {"AppendWithPolicy",
     [](Database& db) {
       const WriteBatch batch = Granted([] { return Batch(1); });
       return db.Append(batch, KeepingTheLargest()).status();
     }},
    {"CreateSeries",
     [](Database& db) {
       const Labels labels = Granted([] { return Series("m", "created"); });
       return db.CreateSeries(labels).status();
     }},
    {"CreateSeriesByKey",
     [](Database& db) {
       const Labels labels = Granted([] { return Series("x"); });
       Status status = db.CreateSeriesByKey("a key that is longer than a short string", labels).status();
       return status.code() == StatusCode::kAlreadyExists ? Status::Ok() : status;
     }},
    {"Resolve",
     [](Database& db) {
       const Labels labels = Granted([] { return Series("m", "a"); });
       return db.Resolve(labels).status();
     }},
    {"Query", [](Database& db) { return TryReadAll(db).status(); }},
    {"Aggregate",
     [](Database& db) {
       const QuerySpec spec = Granted([] {
         QuerySpec aggregate;
         aggregate.aggregators = {Aggregator::kSum, Aggregator::kMax};
         aggregate.bucket.width = 100;
         return aggregate;
       });
       const auto result = db.Query(spec);
       if (!result.ok()) {
         return result.status();
       }
       ColumnBatch batch;
       while ((*result)->NextSeries()) {
         while ((*result)->NextBatch(&batch)) {
         }
       }
       return (*result)->status();
     }},
    {"ListSeries",
     [](Database& db) {
       const Selector selector = Granted([] { return *Selector::Parse("{host=\"a\"}"); });
       return db.ListSeries(selector, 0).status();
     }},
    {"Flush", [](Database& db) { return db.Flush(); }},
    {"Close", [](Database& db) { return db.Close(); }},
};

class Allocation : public testing::TestWithParam<std::tuple<Call, bool>> {
 protected:
  /// A database with samples in files and in the head, and a head chunk that is nearly full.
  void Prepare() {
    db_.reset();
    disk_ = std::make_unique<MemoryFileSystem>();
    fs_ = std::make_unique<GrantedFileSystem>(*disk_);
    ASSERT_NO_FATAL_FAILURE(Open());
    WriteBatch batch;
    for (int i = 0; i < 1020; ++i) {
      batch.Add(Series("m", "a"), kBegin + i, i);
      batch.Add(Series("m", "b"), kBegin + i, 0.5 * i);
    }
    ASSERT_TRUE(db_->Append(batch).ok());
    ASSERT_TRUE(db_->Flush().ok());
    batch.Clear();
    for (int i = 0; i < 1010; ++i) {
      batch.Add(Series("m", "a"), kBegin + 2000 + i, i);
    }
    ASSERT_TRUE(db_->Append(batch).ok());
  }
  void Open() {
    auto opened = engine::OpenDatabase("/db", engine::QuietOptions(), GrantedEnvironment(fs_.get(), &clock_));
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    db_ = std::move(*opened);
  }
  Contents Read() {
    auto contents = TryReadAll(*db_);
    EXPECT_TRUE(contents.ok()) << contents.status().ToString();
    return contents.ok() ? std::move(*contents) : Contents{};
  }

  FakeClock clock_;
  std::unique_ptr<MemoryFileSystem> disk_;
  std::unique_ptr<GrantedFileSystem> fs_;
  std::unique_ptr<Database> db_;
};

TEST_P(Allocation, AFailureIsAnErrorAndLeavesTheContentsBeforeOrAfter) {
  const auto& [call, for_good] = GetParam();
  const bool closes = std::string_view(call.name) == "Close";
  ASSERT_NO_FATAL_FAILURE(Prepare());
  const Contents before = Read();
  ASSERT_TRUE(call.run(*db_).ok());
  db_.reset();
  ASSERT_NO_FATAL_FAILURE(Open());
  const Contents after = Read();

  bool failed = true;
  std::uint64_t n = 1;
  for (; failed; ++n) {
    ASSERT_NO_FATAL_FAILURE(Prepare());
    Status status;
    {
      const FailingAllocator failing(n, for_good);
      status = call.run(*db_);
      failed = failing.has_failed();
    }
    SCOPED_TRACE(std::string(call.name) + ", allocation " + std::to_string(n));
    ASSERT_TRUE(status.ok() || (failed && status.code() == StatusCode::kOutOfMemory)) << status.ToString();
    // In the running database, unless it says that it must be opened again.
    auto now = closes ? Result<Contents>(Status::Closed("")) : TryReadAll(*db_);
    if (now.ok()) {
      ASSERT_TRUE(*now == before || *now == after);
      ASSERT_TRUE(!status.ok() || *now == after);
      if (!status.ok() && call.run(*db_).ok()) {
        ASSERT_EQ(Read(), after) << "the same call again";
      }
    } else if (!closes) {
      ASSERT_EQ(now.status().code(), StatusCode::kOutOfMemory);
      ASSERT_NE(now.status().message().find("open it again"), std::string_view::npos) << now.status().ToString();
    }
    // After a crash, and a clean close behind that.
    db_.reset();
    ASSERT_NO_FATAL_FAILURE(Open());
    const Contents reopened = Read();
    ASSERT_TRUE(reopened == before || reopened == after);
    ASSERT_TRUE(!status.ok() || reopened == after);
    ASSERT_TRUE(!now.ok() || *now == before || reopened == after);
    ASSERT_TRUE(db_->Close().ok());
    db_.reset();
    ASSERT_NO_FATAL_FAILURE(Open());
    ASSERT_EQ(Read(), reopened);
  }
  RecordProperty("allocations", static_cast<int>(n - 2));
  EXPECT_GT(n, 2u) << "the call allocates";
}

INSTANTIATE_TEST_SUITE_P(Calls, Allocation, testing::Combine(testing::ValuesIn(kCalls), testing::Bool()),
                         [](const auto& row) {
                           return std::string(std::get<0>(row.param).name) +
                                  (std::get<1>(row.param) ? "ForGood" : "Once");
                         });

TEST(AllocationOfAnOpen, AFailureIsAnErrorAndTheNextOpenFindsEverything) {
  for (const bool for_good : {false, true}) {
    MemoryFileSystem disk;
    GrantedFileSystem fs(disk);
    FakeClock clock;
    const auto open = [&](GrantedFileSystem& granted) {
      const auto environment = Granted([&] { return GrantedEnvironment(&granted, &clock); });
      return engine::OpenDatabase("/db", engine::QuietOptions(), environment);
    };
    Contents expected;
    {
      auto db = open(fs);
      ASSERT_TRUE(db.ok());
      ASSERT_TRUE((*db)->Append(Batch(2)).ok());
      ASSERT_TRUE((*db)->Flush().ok());
      ASSERT_TRUE((*db)->Append(Batch(5)).ok());
      expected = *TryReadAll(**db);
    }
    bool failed = true;
    for (std::uint64_t n = 1; failed; ++n) {
      const auto copy = disk.Clone();
      GrantedFileSystem granted(*copy);
      Status status;
      {
        const FailingAllocator failing(n, for_good);
        auto db = open(granted);
        status = db.ok() ? Status::Ok() : std::move(db).status();
        failed = failing.has_failed();
      }
      ASSERT_TRUE(status.ok() || (failed && status.code() == StatusCode::kOutOfMemory))
          << "allocation " << n << ": " << status.ToString();
      // The reserve for statuses without memory fills up again with the next one that finds some.
      ASSERT_FALSE(Status::NotFound("nothing").ok());
      auto db = open(granted);
      ASSERT_TRUE(db.ok()) << "allocation " << n << ": " << db.status().ToString();
      const auto found = TryReadAll(**db);
      ASSERT_TRUE(found.ok());
      ASSERT_EQ(*found, expected) << "allocation " << n;
    }
  }
}

}  // namespace
}  // namespace tsdb::allocation_test
