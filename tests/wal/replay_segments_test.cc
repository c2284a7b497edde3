// Several segments: what a lost, empty, damaged, foreign or newer one does to the rest.
#include <gtest/gtest.h>

#include "base/coding.h"
#include "base/checksum.h"
#include "tests/wal/wal_test_util.h"

namespace tsdb::wal {
namespace {

constexpr int kCommitsEach = 4;

/// Segments 1 to n with commits 1-4, 5-8, ...
void MakeSegments(MemoryFileSystem& fs, int n) {
  auto log = MustOpen(fs);
  for (int segment = 0; segment < n; ++segment) {
    for (int i = 0; i < kCommitsEach; ++i) {
      ASSERT_TRUE(WriteNext(*log).status.ok());
    }
    log->RequestRoll();
  }
}

std::vector<std::uint64_t> Without(std::vector<std::uint64_t> numbers, std::uint64_t from, std::uint64_t to) {
  std::erase_if(numbers, [&](std::uint64_t n) { return from <= n && n <= to; });
  return numbers;
}

TEST(ReplaySegments, AFolderThatDoesNotExistIsAnEmptyLog) {
  MemoryFileSystem fs;
  const Replayed replayed = ReplayAll(fs, 7);
  EXPECT_TRUE(replayed.commits().empty());
  EXPECT_EQ(replayed.report.segments, 0u);
  EXPECT_EQ(replayed.report.last_valid_commit, CommitNumber{7});
}

TEST(ReplaySegments, EveryByteOfAnOlderSegmentIsKnownToBeSynced) {
  MemoryFileSystem fs;
  MakeSegments(fs, 3);
  const std::string bytes = *fs.ReadWhole(SegmentPath(2));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    fs.WriteWhole(SegmentPath(2), flipped);
    const Replayed replayed = ReplayAll(fs);
    const std::size_t lost = 12 - replayed.commits().size();
    ASSERT_LE(lost, 1u) << at;
    ASSERT_EQ(replayed.commits().back(), 12u) << at;
    ASSERT_LE(replayed.report.damage.size(), 1u) << at;
    ASSERT_EQ(replayed.report.damage.empty(), lost == 0 && at >= 80) << at;  // padding is not damage
    for (const LogDamage& damage : replayed.report.damage) {
      ASSERT_FALSE(damage.tail);
    }
  }
}

TEST(ReplaySegments, ACutOlderSegmentLosesItsEndOnly) {
  MemoryFileSystem fs;
  MakeSegments(fs, 3);
  const std::string bytes = *fs.ReadWhole(SegmentPath(2));
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    fs.WriteWhole(SegmentPath(2), bytes.substr(0, n));
    const Replayed replayed = ReplayAll(fs);
    const std::uint64_t kept = replayed.commits().size() - 8;
    ASSERT_EQ(replayed.commits(), Without(UpTo(12), 5 + kept, 8)) << n;
    ASSERT_EQ(replayed.report.damage.size(), kept < 4 ? 1u : 0u) << n;
  }
}

TEST(ReplaySegments, AMissingSegmentIsAHole) {
  MemoryFileSystem fs;
  MakeSegments(fs, 3);
  ASSERT_TRUE(fs.RemoveFile(SegmentPath(2)).ok());
  const Replayed replayed = ReplayAll(fs);
  EXPECT_EQ(replayed.commits(), Without(UpTo(12), 5, 8));
  ASSERT_EQ(replayed.report.damage.size(), 1u);
  EXPECT_EQ(replayed.report.damage[0].path, SegmentPath(2));
  EXPECT_EQ(replayed.report.damage[0].reason, "segment is missing; commits 5 to 8 lost");
  EXPECT_FALSE(replayed.report.damage[0].tail);
  EXPECT_TRUE(ReplayAll(fs, 8).report.damage.empty()) << "those commits are in files";
}

TEST(ReplaySegments, AMissingOldestSegmentIsAHoleUnlessItIsInFiles) {
  MemoryFileSystem fs;
  MakeSegments(fs, 3);
  ASSERT_TRUE(fs.RemoveFile(SegmentPath(1)).ok());
  EXPECT_EQ(ReplayAll(fs).report.damage.size(), 1u);
  EXPECT_EQ(ReplayAll(fs).commits(), Without(UpTo(12), 1, 4));
  EXPECT_TRUE(ReplayAll(fs, 4).report.damage.empty());
}

TEST(ReplaySegments, AMissingOrEmptyNewestSegmentLeavesTheOlderOnes) {
  MemoryFileSystem fs;
  MakeSegments(fs, 3);
  fs.WriteWhole(SegmentPath(3), "");
  const Replayed empty = ReplayAll(fs);
  EXPECT_EQ(empty.commits(), UpTo(8));
  ASSERT_EQ(empty.report.damage.size(), 1u);
  EXPECT_EQ(empty.report.damage[0].reason, "segment is empty");
  EXPECT_TRUE(empty.report.damage[0].tail);
  EXPECT_EQ(empty.report.last_segment, 3u);

  ASSERT_TRUE(fs.RemoveFile(SegmentPath(3)).ok());
  EXPECT_EQ(ReplayAll(fs).commits(), UpTo(8));
  EXPECT_EQ(ReplayAll(fs, 0, 12).report.damage.size(), 1u) << "the manifest knows that more was synced";

  auto log = MustOpen(fs, OptionsAfter(empty.report));
  ASSERT_TRUE(WriteNext(*log).status.ok());
  EXPECT_EQ(ReplayAll(fs).commits().size(), 9u);
  EXPECT_TRUE(ReplayAll(fs).report.damage.empty());
}

TEST(ReplaySegments, ADamagedHeaderAndFirstGroupStillGiveTheRest) {
  MemoryFileSystem fs;
  MakeSegments(fs, 2);
  std::string bytes = *fs.ReadWhole(SegmentPath(2));
  bytes[5] = static_cast<char>(bytes[5] ^ 1);
  fs.WriteWhole(SegmentPath(2), bytes);
  EXPECT_EQ(ReplayAll(fs).commits(), UpTo(8));
  bytes[81] = static_cast<char>(bytes[81] ^ 1);  // commit 5 was synced with its segment, and the next group says so
  fs.WriteWhole(SegmentPath(2), bytes);
  const Replayed replayed = ReplayAll(fs);
  EXPECT_EQ(replayed.commits(), Without(UpTo(8), 5, 5));
  ASSERT_EQ(replayed.report.damage.size(), 1u);
  EXPECT_EQ(replayed.report.damage[0].offset, 0u);
}

TEST(ReplaySegments, ASegmentOfAnotherStoreIsLeftAlone) {
  MemoryFileSystem fs;
  MakeSegments(fs, 1);
  MemoryFileSystem other;
  LogOptions options = TestOptions();
  options.store_id = {1, 2};
  options.last_segment = 1;
  auto foreign = MustOpen(other, options);
  ASSERT_TRUE(WriteNext(*foreign).status.ok());
  fs.WriteWhole(SegmentPath(2), *other.ReadWhole(SegmentPath(2)));

  const Replayed replayed = ReplayAll(fs);
  EXPECT_EQ(replayed.commits(), UpTo(4));
  ASSERT_EQ(replayed.report.damage.size(), 1u);
  EXPECT_FALSE(replayed.report.damage[0].tail);
  EXPECT_EQ(replayed.report.last_segment, 2u);

  auto log = MustOpen(fs, OptionsAfter(replayed.report));
  ASSERT_TRUE(WriteNext(*log).status.ok());
  EXPECT_EQ(ReplayAll(fs).commits(), UpTo(5));
  ASSERT_TRUE(log->RemoveThrough({5}, true).ok());
  EXPECT_TRUE(*fs.Exists(SegmentPath(2))) << "it is not ours to remove";
  EXPECT_FALSE(*fs.Exists(SegmentPath(1)));
}

TEST(ReplaySegments, ARenamedSegmentDoesNotVerify) {
  MemoryFileSystem fs;
  MakeSegments(fs, 1);
  fs.WriteWhole(SegmentPath(2), *fs.ReadWhole(SegmentPath(1)));
  const Replayed replayed = ReplayAll(fs);
  EXPECT_EQ(replayed.commits(), UpTo(4));
  ASSERT_EQ(replayed.report.damage.size(), 1u);
  EXPECT_EQ(replayed.report.damage[0].path, SegmentPath(2));
}

TEST(ReplaySegments, ALaterVersionIsNotSupported) {
  MemoryFileSystem fs;
  MakeSegments(fs, 1);
  std::string bytes = *fs.ReadWhole(SegmentPath(1));
  StoreFixed<std::uint32_t>(bytes.data() + 8, 2);
  fs.WriteWhole(SegmentPath(1), bytes);
  EXPECT_EQ(ReplayAll(fs).report.damage.size(), 1u) << "without its checksum it is damage";
  StoreFixed(bytes.data() + 72, Checksum64({bytes.data(), 72}, 1));
  fs.WriteWhole(SegmentPath(1), bytes);
  Recorder recorder;
  EXPECT_EQ(Replay(fs, kDirectory, {kStore, {}, {}}, recorder).status().code(), StatusCode::kNotSupported);
  EXPECT_TRUE(recorder.order.empty());
}

TEST(ReplaySegments, ReturnsAnOperationOfALaterVersionWithItsPlace) {
  MemoryFileSystem fs;
  auto log = MustOpen(fs);
  ASSERT_TRUE(WriteNext(*log).status.ok());
  ASSERT_TRUE(WriteOne(*log, std::string("\x09\x00", 2)).status.ok());
  Recorder recorder;
  const auto report = Replay(fs, kDirectory, {kStore, {}, {}}, recorder);
  EXPECT_EQ(report.status().code(), StatusCode::kNotSupported);
  EXPECT_NE(report.status().message().find("wal/000001.log@"), std::string::npos) << report.status().ToString();
}

TEST(ReplaySegments, ReportsAVerifiedRecordThatDoesNotDecode) {
  MemoryFileSystem fs;
  auto log = MustOpen(fs);
  ASSERT_TRUE(WriteNext(*log).status.ok());
  ASSERT_TRUE(WriteOne(*log, "\x01").status.ok());
  ASSERT_TRUE(WriteNext(*log).status.ok());
  const Replayed replayed = ReplayAll(fs);
  EXPECT_EQ(replayed.commits(), UpTo(3));
  ASSERT_EQ(replayed.report.damage.size(), 1u);
  EXPECT_FALSE(replayed.report.damage[0].tail);
}

TEST(ReplaySegments, ReturnsTheVisitorsErrorEvenWhenItIsCorruption) {
  class Stopper final : public ReplayVisitor {
   public:
    Status OnCommit(CommitNumber, std::int64_t) override { return {}; }
    Status OnPuts(std::span<const Put>) override { return Status::Corruption("mine"); }
    Status OnDefinition(const SeriesDefinition&) override { return {}; }
  } stopper;
  MemoryFileSystem fs;
  MakeSegments(fs, 1);
  const auto report = Replay(fs, kDirectory, {kStore, {}, {}}, stopper);
  EXPECT_EQ(report.status().message(), "mine");
}

TEST(ReplaySegments, OtherFilesInTheFolderAreIgnored) {
  MemoryFileSystem fs;
  MakeSegments(fs, 1);
  for (const char* name : {"000001.log.bak", "1.log", "0000002.log", "x.log", "99999999999999999999999.log", ".log"}) {
    fs.WriteWhole(JoinPath(kDirectory, name), "junk");
  }
  const Replayed replayed = ReplayAll(fs);
  EXPECT_EQ(replayed.report.segments, 1u);
  EXPECT_EQ(replayed.report.last_segment, 1u);
  EXPECT_EQ(SegmentFileName(17), "000017.log");
  EXPECT_EQ(SegmentFileName(1234567), "1234567.log");
}

}  // namespace
}  // namespace tsdb::wal
