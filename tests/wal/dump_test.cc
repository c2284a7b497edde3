#include <gtest/gtest.h>

#include "tests/wal/wal_test_util.h"
#include "wal/dump.h"

namespace tsdb::wal {
namespace {

struct Dumped {
  Status status;
  std::string text;
};

Dumped Dump(MemoryFileSystem& fs, const std::string& path) {
  Dumped dumped;
  dumped.status = DumpSegment(fs, path, [&](std::string_view line) { dumped.text.append(line).append("\n"); });
  return dumped;
}

void MakeLog(MemoryFileSystem& fs) {
  auto log = MustOpen(fs);
  SeriesDefinition definition;
  definition.id = {5};
  definition.labels = Labels({{"__name__", "cpu"}});
  RecordBuilder builder;
  builder.AddDefinition(definition);
  builder.AddPuts(std::vector<Put>{{{5}, 1'700'000'000'000, 21.5}, {{5}, 1'700'000'015'000, -3}});
  ASSERT_TRUE(WriteOne(*log, builder.payload()).status.ok());
  ASSERT_TRUE(WriteNext(*log).status.ok());
  ASSERT_TRUE(WriteOne(*log, std::string("\x09\x02zz", 4)).status.ok());
}

TEST(Dump, PrintsEveryGroupWithItsOperations) {
  MemoryFileSystem fs;
  MakeLog(fs);
  const Dumped dumped = Dump(fs, SegmentPath(1));
  EXPECT_TRUE(dumped.status.ok()) << dumped.status.ToString();
  for (const char* part :
       {"segment 1 version 1 store 112233445566778899aabbccddeeff00 after segment 0 and commit 0 wall "
        "1700000000000000000",
        "@80 commits 1-1 (1) ", "previous 0 synced 0", "    define ", "series 5 key cpu\n", "    put ",
        "series 5 time 1700000000000 value 21.5\n", "series 5 time 1700000015000 value -3\n", "commits 2-2 (1) ",
        "previous 1 synced 1", "    rule-set 2 bytes\n      not shown: kind 9"}) {
    EXPECT_NE(dumped.text.find(part), std::string::npos) << part << "\nin\n" << dumped.text;
  }
}

TEST(Dump, PrintsDamageInPlaceAndTheRestBehindIt) {
  MemoryFileSystem fs;
  MakeLog(fs);
  std::string bytes = *fs.ReadWhole(SegmentPath(1));
  bytes[81] = static_cast<char>(bytes[81] ^ 1);
  fs.WriteWhole(SegmentPath(1), bytes + "junk");
  const Dumped dumped = Dump(fs, SegmentPath(1));
  EXPECT_EQ(dumped.status.code(), StatusCode::kCorruption);
  EXPECT_NE(dumped.text.find("@80 DAMAGED "), std::string::npos) << dumped.text;
  EXPECT_NE(dumped.text.find("commits 2-2 (1) "), std::string::npos) << dumped.text;
  EXPECT_NE(dumped.text.find("DAMAGED 4 bytes: no group here"), std::string::npos) << dumped.text;
}

TEST(Dump, ReadsGroupsBehindADamagedHeaderWithTheStoreOfANeighbour) {
  MemoryFileSystem fs;
  {
    auto log = MustOpen(fs);
    ASSERT_TRUE(WriteNext(*log).status.ok());
    log->RequestRoll();
    ASSERT_TRUE(WriteNext(*log).status.ok());
  }
  std::string bytes = *fs.ReadWhole(SegmentPath(2));
  bytes[20] = static_cast<char>(bytes[20] ^ 1);
  fs.WriteWhole(SegmentPath(2), bytes);
  const Dumped dumped = Dump(fs, SegmentPath(2));
  EXPECT_EQ(dumped.status.code(), StatusCode::kCorruption);
  EXPECT_NE(dumped.text.find("@0 DAMAGED 80 bytes: segment header is damaged"), std::string::npos) << dumped.text;
  EXPECT_NE(dumped.text.find("commits 2-2 (1) "), std::string::npos) << dumped.text;
}

TEST(Dump, RefusesWhatIsNotASegment) {
  MemoryFileSystem fs;
  MakeLog(fs);
  EXPECT_EQ(Dump(fs, "wal/MANIFEST").status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Dump(fs, SegmentPath(9)).status.code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace tsdb::wal
