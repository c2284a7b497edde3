// Every byte of every kind of file of ours, changed: what it means is reported with the file's name, or it means
// nothing.
#include "tests/crash/byte_flips.h"

#include "tests/engine/engine_test_util.h"

namespace tsdb::engine {
namespace {

TEST(ByteFlip, InAChunkFileIsReported) { EXPECT_EQ(FlipEveryByteOfAChunkFile(), ""); }

TEST(ByteFlip, InACatalogueIsReported) { EXPECT_EQ(FlipEveryByteOfACatalogue(), ""); }

TEST(ByteFlip, InAManifestIsReportedOrInASeal) { EXPECT_EQ(FlipEveryByteOfAManifest(), ""); }

TEST(ByteFlip, InCurrentIsReported) { EXPECT_EQ(FlipEveryByteOfCurrent(), ""); }

TEST(ByteFlip, InALogSegmentIsReportedOrInPadding) { EXPECT_EQ(FlipEveryByteOfASegment(), ""); }

TEST(ByteFlip, InTheLockFileChangesNothing) {
  MemoryFileSystem fs;
  FakeClock clock;
  std::unique_ptr<Database> db;
  TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(&fs, &clock));
  const SeriesRef ref = *db->CreateSeries(Series("m"));
  TSDB_ASSERT_OK(Put(*db, ref, 1, 1));
  const Contents expected = ReadAll(*db);
  db.reset();
  for (const std::string& bytes : {std::string(), std::string("\0\xff garbage", 10), std::string(1 << 16, '9')}) {
    fs.WriteWhole("/db/LOCK", bytes);
    TSDB_ASSERT_OPEN(db, "/db", QuietOptions(), MemoryEnvironment(&fs, &clock));
    EXPECT_EQ(ReadAll(*db), expected);
    db.reset();
  }
}

}  // namespace
}  // namespace tsdb::engine
