// The error walk: one I/O operation of ours fails, at every position; the engine goes on, and what was not acknowledged
// never appears once writing has resumed.
#include "tests/crash/oracle.h"
#include "tests/crash/seeds.h"
#include "tests/crash/workload.h"

namespace tsdb::engine {
namespace {

constexpr std::uint64_t kSeed = 11;

/// Runs the script through errors. `fault` operations fail from number `first` on, `count` of them.
void RunThroughErrors(MemoryFileSystem* fs, std::uint64_t first, std::uint64_t count, StatusCode code,
                      std::size_t* failures) {
  FakeClock clock;
  Workload workload(kSeed);
  Oracle oracle;
  Ages ages;
  std::unique_ptr<Database> db;
  TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(fs, &clock));
  fs->SetFault([=](std::uint64_t number, std::string_view operation, const std::string& path) {
    return number >= first && number < first + count
               ? Status(code, std::string(operation) + " of " + path + " fails as told")
               : Status::Ok();
  });
  for (int step = 0; step < 45; ++step) {
    clock.Advance(1'000'000);
    if (step % 9 == 8) {
      *failures += IntoFiles(*db, step / 9).ok() ? 0 : 1;
      ASSERT_EQ(ReadAll(*db), oracle.contents()) << "step " << step;
      continue;
    }
    if (step % 5 == 4) {
      const RandomEnd end = step % 15 == 14 ? NextRetention(workload) : NextEnd(workload);
      bool durable = false;
      if (engine::Run(*db, end, Durability::kNone, &durable).ok()) {
        oracle.Change([&](Contents* contents) { end.Apply(contents, &ages); });
      } else {
        ++*failures;
      }
      ASSERT_EQ(ReadAll(*db), oracle.contents()) << "step " << step;
      continue;
    }
    const RandomBatch batch = workload.Next(step % 3 == 0 ? Durability::kAlways : Durability::kNone);
    const auto result = engine::Run(*db, batch);
    if (result.ok()) {
      ages.Apply(batch.ops, &oracle);
    } else {
      ++*failures;
    }
    ASSERT_EQ(ReadAll(*db), oracle.contents()) << "step " << step;
  }
  fs->SetFault(nullptr);
  // One more write, synced: from here on what failed must not come back.
  const SeriesRef ref = *db->CreateSeries(Labels{{"__name__", "m"}, {"i", "0"}});
  const Timestamp last = std::max(ages.newest, Timestamp{0}) + 1;
  TSDB_ASSERT_OK(Put(*db, ref, last, 1, WriteOptions::With(Durability::kAlways)));
  ages.Apply({{Labels{{"__name__", "m"}, {"i", "0"}}.CanonicalKey(), last, 1}}, &oracle);
  db.reset();
  const auto after = fs->AfterPowerCut(MemoryFileSystem::CutMode::kDropUnsynced);
  TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(after.get(), &clock));
  EXPECT_EQ(ReadAll(*db), oracle.contents()) << "after a power cut";
  TSDB_ASSERT_OK(db->Close());
  TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(after.get(), &clock));
  EXPECT_EQ(ReadAll(*db), oracle.contents()) << "after a clean close";
}

class ErrorWalk : public testing::TestWithParam<std::pair<StatusCode, std::uint64_t>> {};

TEST_P(ErrorWalk, AFailedOperationCostsAtMostWhatItBelongedTo) {
  MemoryFileSystem whole;
  std::uint64_t begin = 0;
  {
    FakeClock clock;
    auto db = OpenDatabase("/db", QuietOptions(), MemoryEnvironment(&whole, &clock));
    ASSERT_TRUE(db.ok());
    begin = whole.operations();
  }
  MemoryFileSystem counted;
  std::size_t failures = 0;
  ASSERT_NO_FATAL_FAILURE(RunThroughErrors(&counted, ~std::uint64_t{0} / 2, 0, StatusCode::kIoError, &failures));
  ASSERT_EQ(failures, 0u);
  const std::uint64_t end = counted.operations();
  ASSERT_GT(end, begin + 60);
  for (std::uint64_t n = begin + 1; n <= end; ++n) {
    MemoryFileSystem fs;
    ASSERT_NO_FATAL_FAILURE(RunThroughErrors(&fs, n, GetParam().second, GetParam().first, &failures))
        << "operation " << n;
    ASSERT_FALSE(HasFailure()) << "operation " << n;
  }
  TellCount("failed_positions", end - begin);
  EXPECT_GT(failures, 30u) << "most positions fail a batch or a flush";
}

INSTANTIATE_TEST_SUITE_P(Kinds, ErrorWalk,
                         testing::Values(std::pair{StatusCode::kIoError, std::uint64_t{1}},
                                         std::pair{StatusCode::kIoError, std::uint64_t{4}},
                                         std::pair{StatusCode::kNoSpace, std::uint64_t{1}},
                                         std::pair{StatusCode::kNoSpace, std::uint64_t{12}}));

}  // namespace
}  // namespace tsdb::engine
