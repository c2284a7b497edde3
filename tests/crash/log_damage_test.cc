// Damage of the log seen through Database::Open: cut off, flipped, with a foreign or copied tail, emptied, missing.
#include <algorithm>
#include <random>
#include <set>

#include "tests/engine/engine_test_util.h"
#include "wal/replay.h"

namespace tsdb::engine {
namespace {

constexpr int kBatches = 120;
const std::string kLog = "/db/wal/" + wal::SegmentFileName(1);

/// A database whose log holds one frame per batch, each synced; batch i is samples (i, i) of two series.
struct Written {
  std::unique_ptr<MemoryFileSystem> fs = std::make_unique<MemoryFileSystem>();
  std::vector<std::uint64_t> ends;  // of the frame of each batch
  std::uint64_t begin = 0;          // where the first of them begins

  Written() {
    FakeClock clock;
    auto db = OpenDatabase("/db", QuietOptions(), MemoryEnvironment(fs.get(), &clock));
    const SeriesRef a = *(*db)->CreateSeries(Series("a"));
    const SeriesRef b = *(*db)->CreateSeries(Series("b"));
    begin = *fs->FileSize(kLog);
    for (int i = 0; i < kBatches; ++i) {
      WriteBatch batch;
      batch.Add(a, i, i);
      batch.Add(b, i, i);
      EXPECT_TRUE((*db)->Append(batch, WriteOptions::With(Durability::kAlways)).ok());
      ends.push_back(*fs->FileSize(kLog));
    }
    db->reset();
  }
  int BatchAt(std::uint64_t offset) const {
    return static_cast<int>(std::upper_bound(ends.begin(), ends.end(), offset) - ends.begin());
  }
};

const Written& Shared() {
  static const Written* written = new Written;
  return *written;
}

class LogDamage : public testing::Test {
 protected:
  void SetUp() override { bytes_ = *Shared().fs->ReadWhole(kLog); }

  /// Opens a copy whose log holds `bytes`; returns the batches that are there, each checked to be whole.
  std::set<int> Open(const std::string& bytes) {
    fs_ = Shared().fs->Clone();
    fs_->WriteWhole(kLog, bytes);
    return OpenAgain();
  }
  std::set<int> OpenAgain() {
    db_.reset();
    auto opened = OpenDatabase("/db", QuietOptions(), MemoryEnvironment(fs_.get(), &clock_));
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    std::set<int> batches;
    if (!opened.ok()) {
      return batches;
    }
    db_ = std::move(*opened);
    const Contents contents = ReadAll(*db_);
    const auto a = contents.find(Series("a").CanonicalKey());
    const auto b = contents.find(Series("b").CanonicalKey());
    if (a == contents.end() || b == contents.end()) {
      EXPECT_EQ(a == contents.end(), b == contents.end());
      return batches;
    }
    EXPECT_EQ(a->second, b->second) << "a batch is there whole or not at all";
    for (const auto& [time, bits] : a->second) {
      EXPECT_EQ(std::bit_cast<double>(bits), static_cast<double>(time));
      batches.insert(static_cast<int>(time));
    }
    return batches;
  }
  static std::set<int> AllBut(int missing) {
    std::set<int> batches;
    for (int i = 0; i < kBatches; ++i) {
      if (i != missing) {
        batches.insert(i);
      }
    }
    return batches;
  }
  static std::set<int> First(int count) {
    std::set<int> batches;
    for (int i = 0; i < count; ++i) {
      batches.insert(i);
    }
    return batches;
  }

  std::string bytes_;
  std::unique_ptr<MemoryFileSystem> fs_;
  FakeClock clock_;
  std::unique_ptr<Database> db_;
};

/// Record boundaries ± 1 and a seeded sample of all other positions.
std::vector<std::uint64_t> Positions(std::size_t at_least) {
  const Written& written = Shared();
  std::set<std::uint64_t> positions;
  for (const std::uint64_t end : written.ends) {
    positions.insert({end - 1, end, end + 1});
  }
  std::mt19937_64 random(20261130);
  while (positions.size() < at_least) {
    positions.insert(written.begin + random() % (written.ends.back() - written.begin));
  }
  std::erase_if(positions, [&](std::uint64_t p) { return p >= written.ends.back(); });
  return {positions.begin(), positions.end()};
}

TEST_F(LogDamage, AFlippedByteCostsAtMostTheBatchItLiesIn) {
  const auto positions = Positions(700);
  ASSERT_GE(positions.size(), 500u);
  for (const std::uint64_t position : positions) {
    std::string bytes = bytes_;
    bytes[position] = static_cast<char>(bytes[position] ^ (1 << (position % 8)));
    const std::set<int> found = Open(bytes);
    const int hit = Shared().BatchAt(position);
    if (found == AllBut(-1)) {
      continue;  // padding between frames carries nothing
    }
    ASSERT_EQ(found, AllBut(hit)) << "flip at " << position;
    ASSERT_GT(db_->recovery_report().bytes_dropped, 0u) << "flip at " << position;
    ASSERT_FALSE(db_->recovery_report().notes.empty());
  }
}

TEST_F(LogDamage, ACutLogLosesOnlyWhatWasCutOff) {
  for (const std::uint64_t position : Positions(700)) {
    const std::set<int> found = Open(bytes_.substr(0, position));
    const int hit = Shared().BatchAt(position);
    if (position + 8 > Shared().ends[static_cast<std::size_t>(hit)] && found == First(hit + 1)) {
      continue;  // only padding behind the frame was cut off
    }
    ASSERT_EQ(found, First(hit)) << "cut at " << position;
  }
}

// A torn tail is repaired once, with file and offset; what is written behind it stays; the next open has nothing to
// say.
TEST_F(LogDamage, WritingGoesOnBehindATornTail) {
  for (const std::uint64_t cut : {1u, 7u, 33u, 64u, 97u, 970u}) {
    const std::set<int> found = Open(bytes_.substr(0, bytes_.size() - cut));
    if (cut > 8) {  // more than the padding behind the last frame
      ASSERT_LT(found.size(), static_cast<std::size_t>(kBatches));
      ASSERT_EQ(db_->recovery_report().notes.size(), 1u);
      EXPECT_NE(db_->recovery_report().notes[0].find(wal::SegmentFileName(1) + "@"), std::string::npos);
    }
    ASSERT_EQ(found, First(static_cast<int>(found.size())));
    const SeriesRef a = *db_->Resolve(Series("a"));
    const SeriesRef b = *db_->Resolve(Series("b"));
    TSDB_ASSERT_OK(Put(*db_, a, 200, 200));
    TSDB_ASSERT_OK(Put(*db_, b, 200, 200));
    TSDB_ASSERT_OK(db_->Close());
    std::set<int> expected = found;
    expected.insert(200);
    EXPECT_EQ(OpenAgain(), expected);
    EXPECT_TRUE(db_->recovery_report().notes.empty());
    EXPECT_EQ(OpenAgain(), expected);
  }
}

TEST_F(LogDamage, AnAppendedTailOfAnyKindIsNotTakenIn) {
  const std::string tails[] = {std::string(4096, '\0'), "\x13\x37seven", bytes_.substr(bytes_.size() - 40),
                               bytes_.substr(Shared().ends[kBatches - 3], 400)};
  for (const std::string& tail : tails) {
    EXPECT_EQ(Open(bytes_ + tail), AllBut(-1));
    const SeriesRef a = *db_->Resolve(Series("a"));
    const SeriesRef b = *db_->Resolve(Series("b"));
    TSDB_ASSERT_OK(Put(*db_, a, 200, 200));
    TSDB_ASSERT_OK(Put(*db_, b, 200, 200));
    std::set<int> expected = AllBut(-1);
    expected.insert(200);
    EXPECT_EQ(OpenAgain(), expected) << "after a crash";
    TSDB_ASSERT_OK(db_->Close());
    EXPECT_EQ(OpenAgain(), expected) << "after a clean close";
  }
}

TEST_F(LogDamage, AnEmptyOrMissingNewestSegmentLeavesTheOlderOnes) {
  for (const bool missing : {false, true}) {
    Open(bytes_);
    const SeriesRef a = *db_->Resolve(Series("a"));
    const SeriesRef b = *db_->Resolve(Series("b"));
    TSDB_ASSERT_OK(Put(*db_, a, 300, 300, WriteOptions::With(Durability::kAlways)));
    TSDB_ASSERT_OK(Put(*db_, b, 300, 300, WriteOptions::With(Durability::kAlways)));
    db_.reset();
    const std::string newest = "/db/wal/" + wal::SegmentFileName(2);
    ASSERT_TRUE(*fs_->Exists(newest));
    if (missing) {
      ASSERT_TRUE(fs_->RemoveFile(newest).ok());
    } else {
      fs_->WriteWhole(newest, "");
    }
    EXPECT_EQ(OpenAgain(), AllBut(-1)) << (missing ? "missing" : "empty");
    TSDB_ASSERT_OK(db_->Close());
    EXPECT_EQ(OpenAgain(), AllBut(-1));
  }
}

// Samples whose series was defined only in damaged bytes are kept as evidence and counted.
TEST_F(LogDamage, SamplesOfALostDefinitionGoToTheEvidenceFile) {
  std::string bytes = bytes_;
  bytes[Shared().begin - 20] = static_cast<char>(bytes[Shared().begin - 20] ^ 0x10);  // the definition of b
  fs_ = Shared().fs->Clone();
  fs_->WriteWhole(kLog, bytes);
  TSDB_ASSERT_OPEN(db_, "/db", QuietOptions(), MemoryEnvironment(fs_.get(), &clock_));
  EXPECT_EQ(ReadAll(*db_)[Series("a").CanonicalKey()].size(), static_cast<std::size_t>(kBatches));
  EXPECT_EQ(db_->Resolve(Series("b")).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(db_->recovery_report().samples_orphaned, static_cast<std::uint64_t>(kBatches));
  const auto evidence = fs_->List("/db/evidence");
  ASSERT_TRUE(evidence.ok());
  ASSERT_EQ(evidence->size(), 1u);
  const std::string text = *fs_->ReadWhole("/db/evidence/" + (*evidence)[0].name);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), kBatches + 1);
}

TEST_F(LogDamage, MuchEvidenceIsWrittenInPartsInsteadOfBeingHeldInMemory) {
  fs_ = std::make_unique<MemoryFileSystem>();
  constexpr int kMany = 40;
  constexpr int kSamples = 5000;
  TSDB_ASSERT_OPEN(db_, "/db", QuietOptions(), MemoryEnvironment(fs_.get(), &clock_));
  const SeriesRef lost = *db_->CreateSeries(Series("lost"));
  const std::uint64_t begin = *fs_->FileSize(kLog);
  for (int i = 0; i < kMany; ++i) {
    WriteBatch batch;
    for (int k = 0; k < kSamples; ++k) {
      batch.Add(lost, i * kSamples + k, k);
    }
    ASSERT_TRUE(db_->Append(batch, WriteOptions::With(Durability::kAlways)).ok());
  }
  db_.reset();
  std::string bytes = *fs_->ReadWhole(kLog);
  bytes[begin - 20] = static_cast<char>(bytes[begin - 20] ^ 0x10);
  fs_->WriteWhole(kLog, bytes);
  TSDB_ASSERT_OPEN(db_, "/db", QuietOptions(), MemoryEnvironment(fs_.get(), &clock_));
  EXPECT_EQ(db_->recovery_report().samples_orphaned, std::uint64_t{kMany} * kSamples);
  const auto evidence = fs_->List("/db/evidence");
  ASSERT_TRUE(evidence.ok());
  ASSERT_GE(evidence->size(), 2u);
  std::ptrdiff_t lines = 0;
  for (const DirectoryEntry& entry : *evidence) {
    EXPECT_LE(entry.bytes, 5u << 20);
    const std::string text = *fs_->ReadWhole("/db/evidence/" + entry.name);
    lines += std::count(text.begin(), text.end(), '\n') - 1;
  }
  EXPECT_EQ(lines, std::ptrdiff_t{kMany} * kSamples);
}

}  // namespace
}  // namespace tsdb::engine
