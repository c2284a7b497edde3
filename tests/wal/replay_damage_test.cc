// Damage at every byte of the log, against a plain model: the test knows where each group lies, what it claims to be
// synced, and derives from that alone what replay has to give back and to report.
#include <random>

#include <gtest/gtest.h>

#include "tests/wal/wal_test_util.h"

namespace tsdb::wal {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kStride = 13;
#else
constexpr std::size_t kStride = 1;
#endif

constexpr std::uint64_t kSegmentHeader = 80;
constexpr std::uint64_t kFrameHeader = 64;

struct Group {
  std::uint64_t offset = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t synced = 0;  // what its header says

  std::uint64_t payload_end() const { return offset + kFrameHeader + payload_bytes; }
  std::uint64_t end() const { return (payload_end() + 7) / 8 * 8; }
};

struct TestLog {
  MemoryFileSystem fs;
  std::vector<Group> groups;
  std::string bytes;
};

/// A record of about `bytes` that is quick to decode: one definition with a long key.
std::string BigPayload(std::uint64_t n, std::size_t bytes) {
  SeriesDefinition definition;
  definition.id = {n};
  definition.created_by_key = true;
  definition.key.assign(bytes, static_cast<char>('a' + n % 26));
  RecordBuilder builder;
  builder.AddDefinition(definition);
  return std::string(builder.payload());
}

/// One segment of about `bytes`, groups of 1 to 3 records, synced after every 7th group.
std::unique_ptr<TestLog> MakeLog(std::uint64_t bytes, std::size_t record_bytes) {
  auto test = std::make_unique<TestLog>();
  auto log = MustOpen(test->fs);
  std::uint64_t synced = 0;
  std::uint64_t end = kSegmentHeader;
  for (std::uint64_t n = 0; end < bytes; ++n) {
    Group group{end, 0, log->last_assigned().value + 1, 0, synced};
    std::vector<LogRecord> records(1 + n % 3);
    std::vector<std::string> payloads(records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::uint64_t commit = log->last_assigned().value + 1;
      payloads[i] = record_bytes == 0 ? PayloadOf(commit) : BigPayload(commit, record_bytes + n % 17);
      records[i].payload = payloads[i];
      group.payload_bytes += payloads[i].size() + (payloads[i].size() < 128 ? 1 : 2);
      EXPECT_TRUE(log->Enqueue(&records[i], Durability::kNone, log->epoch()));
    }
    for (LogRecord& record : records) {
      EXPECT_TRUE(log->Write(&record).ok());
    }
    group.last = log->last_assigned().value;
    test->groups.push_back(group);
    end = group.end();
    if (n % 7 == 3) {
      EXPECT_TRUE(log->SyncNow().ok());
    }
    if (n == 0 || n % 7 == 3) {  // the first group is synced together with its segment
      synced = group.last;
    }
  }
  log.reset();
  test->bytes = *test->fs.ReadWhole(SegmentPath(1));
  EXPECT_EQ(test->bytes.size(), end);
  return test;
}

struct Expected {
  std::vector<std::uint64_t> commits;
  std::uint64_t damages = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool tail = false;
};

void Add(const Group& group, std::vector<std::uint64_t>* commits) {
  for (std::uint64_t c = group.first; c <= group.last; ++c) {
    commits->push_back(c);
  }
}

Expected ExpectCut(const TestLog& log, std::uint64_t size) {
  Expected expected;
  std::uint64_t usable = size < kSegmentHeader ? 0 : kSegmentHeader;
  for (const Group& group : log.groups) {
    if (group.payload_end() <= size) {
      Add(group, &expected.commits);
      usable = group.end();
    }
  }
  if (size > usable || size == 0) {
    expected = {std::move(expected.commits), 1, usable, size - usable, true};
  }
  return expected;
}

Expected ExpectFlip(const TestLog& log, std::uint64_t at) {
  Expected expected;
  if (at < kSegmentHeader) {
    expected = {{}, 1, 0, kSegmentHeader, false};
    for (const Group& group : log.groups) {
      Add(group, &expected.commits);
    }
    return expected;
  }
  const Group* hit = nullptr;
  std::uint64_t synced = 0;
  for (const Group& group : log.groups) {
    if (group.offset <= at && at < group.payload_end()) {
      hit = &group;
    } else {
      synced = std::max(synced, group.synced);
    }
  }
  for (const Group& group : log.groups) {
    if (hit == &group) {
      const bool rot = group.last <= synced;
      const bool last = &group == &log.groups.back();
      expected.damages = 1;
      expected.offset = group.offset;
      expected.bytes = (rot || last ? group.end() : log.bytes.size()) - group.offset;
      expected.tail = !rot;
      if (!rot) {
        return expected;
      }
    } else {
      Add(group, &expected.commits);
    }
  }
  return expected;
}

/// Only the numbers: cheap enough for every byte of 64 KiB.
class Numbers final : public ReplayVisitor {
 public:
  Status OnCommit(CommitNumber commit, std::int64_t) override {
    commits.push_back(commit.value);
    return {};
  }
  Status OnPuts(std::span<const Put>) override { return {}; }
  Status OnDefinition(const SeriesDefinition&) override { return {}; }
  std::vector<std::uint64_t> commits;
};

::testing::AssertionResult Check(TestLog& log, std::string bytes, const Expected& expected) {
  log.fs.WriteWhole(SegmentPath(1), std::move(bytes));
  Numbers numbers;
  const auto report = Replay(log.fs, kDirectory, {kStore, {}, {}}, numbers);
  if (!report.ok()) {
    return ::testing::AssertionFailure() << report.status().ToString();
  }
  if (numbers.commits != expected.commits) {
    return ::testing::AssertionFailure() << numbers.commits.size() << " commits, expected " << expected.commits.size();
  }
  if (report->damage.size() != expected.damages || report->commits != expected.commits.size()) {
    return ::testing::AssertionFailure() << report->damage.size() << " damages, " << report->commits << " commits";
  }
  if (expected.damages == 0) {
    return ::testing::AssertionSuccess();
  }
  const LogDamage& damage = report->damage[0];
  if (damage.path != SegmentPath(1) || damage.offset != expected.offset || damage.bytes != expected.bytes ||
      damage.tail != expected.tail || report->bytes_dropped != expected.bytes || damage.reason.empty()) {
    return ::testing::AssertionFailure() << damage.path << "@" << damage.offset << " " << damage.bytes << " bytes tail "
                                         << damage.tail << " (" << damage.reason << "), expected @" << expected.offset
                                         << " " << expected.bytes << " tail " << expected.tail;
  }
  return ::testing::AssertionSuccess();
}

std::string Flipped(const std::string& bytes, std::uint64_t at, unsigned bit) {
  std::string flipped = bytes;
  flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
  return flipped;
}

TEST(ReplayDamage, GivesTheExactPrefixForEveryLengthOf64KiB) {
  const auto log = MakeLog(64 << 10, 1500);
  for (std::size_t n = 0; n <= log->bytes.size(); n += kStride) {
    ASSERT_TRUE(Check(*log, log->bytes.substr(0, n), ExpectCut(*log, n))) << "cut to " << n;
  }
}

TEST(ReplayDamage, LosesExactlyTheDamagedGroupForEveryByteOf64KiB) {
  const auto log = MakeLog(64 << 10, 1500);
  for (std::size_t at = 0; at < log->bytes.size(); at += kStride) {
    ASSERT_TRUE(Check(*log, Flipped(log->bytes, at, at % 8), ExpectFlip(*log, at))) << "flipped at " << at;
  }
}

TEST(ReplayDamage, JudgesEveryBitOfASmallLog) {
  const auto log = MakeLog(3000, 0);
  for (std::size_t bit = 0; bit < log->bytes.size() * 8; bit += kStride) {
    ASSERT_TRUE(Check(*log, Flipped(log->bytes, bit / 8, bit % 8), ExpectFlip(*log, bit / 8))) << "bit " << bit;
  }
}

TEST(ReplayDamage, DamageTheCallerKnowsToBeSyncedIsAHole) {
  const auto log = MakeLog(3000, 0);
  const Group& hit = log->groups[log->groups.size() - 2];
  log->fs.WriteWhole(SegmentPath(1), Flipped(log->bytes, hit.offset + kFrameHeader, 0));
  const Replayed torn = ReplayAll(log->fs);
  EXPECT_EQ(torn.commits(), UpTo(hit.first - 1));
  EXPECT_EQ(torn.report.last_commit.value, log->groups.back().last) << "numbers behind the end are not given again";
  EXPECT_EQ(torn.report.last_valid_commit.value, hit.first - 1);
  const Replayed rot = ReplayAll(log->fs, 0, hit.last);
  EXPECT_EQ(rot.commits().size(), log->groups.back().last - (hit.last - hit.first + 1));
  EXPECT_FALSE(rot.report.damage.at(0).tail);
  const Replayed in_files = ReplayAll(log->fs, hit.last);
  EXPECT_EQ(in_files.commits().size(), log->groups.back().last - hit.last);
  EXPECT_TRUE(in_files.report.damage.empty()) << "what was damaged is in files";
}

TEST(ReplayDamage, SaysWhenSyncedCommitsAreMissingAtTheEnd) {
  const auto log = MakeLog(2000, 0);
  const std::uint64_t last = log->groups.back().last;
  EXPECT_TRUE(ReplayAll(log->fs, 0, last).report.damage.empty());
  const Replayed replayed = ReplayAll(log->fs, 0, last + 2);
  ASSERT_EQ(replayed.report.damage.size(), 1u);
  EXPECT_EQ(replayed.report.damage[0].offset, log->bytes.size());
  EXPECT_EQ(replayed.report.damage[0].bytes, 0u);
  EXPECT_TRUE(replayed.report.damage[0].tail);
  EXPECT_EQ(replayed.commits(), UpTo(last));
}

TEST(ReplayDamage, TakesEveryForeignTailAsTorn) {
  const auto log = MakeLog(3000, 0);
  std::mt19937_64 random(11);
  std::string noise(700, '\0');
  for (char& c : noise) {
    c = static_cast<char>(random());
  }
  const Group& last = log->groups.back();
  const std::vector<std::string> tails = {std::string(4096, '\0'),
                                          std::string(1, '\0'),
                                          noise.substr(0, 7),
                                          noise,
                                          log->bytes.substr(log->bytes.size() - 40),
                                          log->bytes.substr(last.offset),
                                          log->bytes.substr(log->groups[3].offset),
                                          log->bytes};
  for (const std::string& tail : tails) {
    Expected expected{UpTo(last.last), 1, log->bytes.size(), tail.size(), true};
    EXPECT_TRUE(Check(*log, log->bytes + tail, expected)) << tail.size();
  }
}

TEST(ReplayDamage, ReadsTheSameTwice) {
  const auto log = MakeLog(3000, 0);
  log->fs.WriteWhole(SegmentPath(1), Flipped(log->bytes, log->groups[4].offset + 3, 0));
  const Replayed first = ReplayAll(log->fs);
  const Replayed second = ReplayAll(log->fs);
  EXPECT_EQ(first.commits(), second.commits());
  EXPECT_EQ(first.report.damage.size(), second.report.damage.size());
  EXPECT_EQ(first.report.bytes_dropped, second.report.bytes_dropped);
}

TEST(ReplayDamage, ATornTailIsReportedOnceWhenTheLogGoesOn) {
  auto log = MakeLog(3000, 0);
  // Two groups before the end: whole groups stand behind the hole and must never come back.
  const Group& hit = log->groups[log->groups.size() - 3];
  ASSERT_GT(hit.last, hit.synced);
  log->fs.WriteWhole(SegmentPath(1), Flipped(log->bytes, hit.offset + kFrameHeader, 0));
  Replayed replayed = ReplayAll(log->fs);
  ASSERT_EQ(replayed.commits(), UpTo(hit.first - 1));
  ASSERT_EQ(replayed.report.damage.size(), 1u);
  std::vector<std::uint64_t> expected = replayed.commits();
  for (int run = 0; run < 3; ++run) {
    auto next = MustOpen(log->fs, OptionsAfter(replayed.report));
    for (int i = 0; i < 3; ++i) {
      const Written written = WriteNext(*next);
      ASSERT_TRUE(written.status.ok());
      ASSERT_GT(written.commit, log->groups.back().last);
      expected.push_back(written.commit);
    }
    ASSERT_TRUE(next->SyncNow().ok());
    next.reset();
    replayed = ReplayAll(log->fs);
    EXPECT_EQ(replayed.commits(), expected);
    EXPECT_TRUE(replayed.report.damage.empty());
    EXPECT_TRUE(ContentIsRight(replayed.recorder));
  }
}

TEST(ReplayDamage, SurvivesRandomBytesAndRandomDamage) {
  const auto log = MakeLog(3000, 0);
  std::mt19937_64 random(5);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = log->bytes;
    for (std::uint64_t n = 1 + random() % 6; n > 0; --n) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const std::size_t from = random() % bytes.size();
    bytes.erase(from, random() % 200);
    log->fs.WriteWhole(SegmentPath(1), bytes);
    const Replayed replayed = ReplayAll(log->fs);
    ASSERT_TRUE(ContentIsRight(replayed.recorder)) << "seed 5, round " << round;
  }
}

}  // namespace
}  // namespace tsdb::wal
