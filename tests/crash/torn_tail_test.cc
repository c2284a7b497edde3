// A series of a hundred acknowledged samples, a kill, and a log whose end is torn, padded, copied, emptied or gone:
// every opening succeeds, what is there is 1 to n without a hole, and what is added afterwards stays.
#include <gmock/gmock.h>

#include <set>
#include <vector>

#include "tests/engine/engine_test_util.h"
#include "wal/replay.h"

namespace tsdb::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Timestamp kBegin = 1'700'000'000'000;
constexpr int kSamples = 100;
const std::string kKey = "w";

class TornTail : public testing::Test {
 protected:
  void SetUp() override {
    TSDB_ASSERT_OPEN(db_, "/db", QuietOptions(), MemoryEnvironment(&killed_, &clock_));
    const SeriesRef w = *db_->CreateSeriesByKey(kKey, {});
    for (int i = 1; i <= kSamples; ++i) {
      before_last_ = *killed_.FileSize(Segment(1));
      TSDB_ASSERT_OK(Put(*db_, w, kBegin + i, i, WriteOptions::With(Durability::kAlways)));
    }
    db_ = nullptr;  // the process dies
    log_ = *killed_.ReadWhole(Segment(1));
  }

  static std::string Segment(std::uint64_t number) { return "/db/wal/" + wal::SegmentFileName(number); }

  /// Opens a copy whose log is `bytes`.
  void OpenWith(const std::string& bytes) {
    db_ = nullptr;
    fs_ = killed_.Clone();
    fs_->WriteWhole(Segment(1), bytes);
    Open();
  }
  void Open() {
    db_ = nullptr;
    TSDB_ASSERT_OPEN(db_, "/db", QuietOptions(), MemoryEnvironment(fs_.get(), &clock_));
  }

  /// What w holds; each sample is checked to have its value.
  std::set<int> Numbers() {
    std::set<int> numbers;
    const Samples samples = ReadAll(*db_)[kKey];
    for (const auto& [time, bits] : samples) {
      EXPECT_EQ(std::bit_cast<double>(bits), static_cast<double>(time - kBegin));
      numbers.insert(static_cast<int>(time - kBegin));
    }
    return numbers;
  }
  static std::set<int> Upto(int n, bool with_added = false) {
    std::set<int> numbers;
    for (int i = 1; i <= n; ++i) {
      numbers.insert(numbers.end(), i);
    }
    if (with_added) {
      numbers.insert(200);
    }
    return numbers;
  }

  /// After the first opening, which found 1 to n: one more sample, a clean close, two openings with nothing to say.
  void GoOn(int n) {
    const auto w = db_->ResolveKey(kKey);
    SeriesRef ref;
    if (w.ok()) {
      ref = *w;
    } else {  // its definition was cut off as well
      ASSERT_EQ(n, 0);
      ref = *db_->CreateSeriesByKey(kKey, {});
    }
    TSDB_ASSERT_OK(Put(*db_, ref, kBegin + 200, 200));
    TSDB_ASSERT_OK(db_->Close());
    for (int opening = 2; opening <= 3; ++opening) {
      ASSERT_NO_FATAL_FAILURE(Open());
      EXPECT_EQ(Numbers(), Upto(n, true)) << "opening " << opening;
      EXPECT_THAT(db_->recovery_report().notes, IsEmpty()) << "opening " << opening;
    }
  }

  MemoryFileSystem killed_;
  FakeClock clock_;
  std::string log_;
  std::uint64_t before_last_ = 0;  // bytes of the log before the last record
  std::unique_ptr<MemoryFileSystem> fs_;
  std::unique_ptr<Database> db_;
};

TEST_F(TornTail, CutByAnyLengthLeavesAPrefixAndIsRepairedOnce) {
  std::vector<std::size_t> lengths;
  for (std::size_t k = 1; k <= 64; ++k) {
    lengths.push_back(k);
  }
  for (std::size_t k = 97; k <= 4096; k += 97) {
    lengths.push_back(k);
  }
  const std::size_t last_record = log_.size() - before_last_;
  int before = kSamples;
  for (const std::size_t k : lengths) {
    SCOPED_TRACE(std::to_string(k) + " bytes cut off");
    ASSERT_NO_FATAL_FAILURE(OpenWith(log_.substr(0, log_.size() - std::min(k, log_.size()))));
    const std::set<int> found = Numbers();
    const int n = static_cast<int>(found.size());
    ASSERT_EQ(found, Upto(n));
    ASSERT_LE(n, before);
    before = n;
    if (k < last_record) {
      ASSERT_GE(n, kSamples - 1);
      ASSERT_TRUE(n == kSamples - 1 || k < 8) << "only padding is not missed";
    }
    const auto& notes = db_->recovery_report().notes;
    ASSERT_LE(notes.size(), 1u);
    if (n < kSamples && db_->recovery_report().bytes_dropped > 0) {
      ASSERT_EQ(notes.size(), 1u);
      EXPECT_THAT(notes[0], HasSubstr(Segment(1) + "@"));
      EXPECT_THAT(notes[0], HasSubstr(std::to_string(db_->recovery_report().bytes_dropped) + " bytes"));
    }
    ASSERT_NO_FATAL_FAILURE(GoOn(n));
  }
  EXPECT_LT(before, kSamples / 2) << "long cuts reach far back";
}

TEST_F(TornTail, AppendedBytesOfAnyKindCostNothing) {
  const std::string tails[] = {std::string(4096, '\0'), "\x8f\x01\xfe\x42\x99\x07\xd3", log_.substr(log_.size() - 40),
                               log_.substr(before_last_)};
  for (const std::string& tail : tails) {
    SCOPED_TRACE(std::to_string(tail.size()) + " bytes appended");
    ASSERT_NO_FATAL_FAILURE(OpenWith(log_ + tail));
    EXPECT_EQ(Numbers(), Upto(kSamples));
    ASSERT_NO_FATAL_FAILURE(GoOn(kSamples));
  }
}

TEST_F(TornTail, AnEmptyOrMissingNewestSegmentCostsOnlyItself) {
  // Some in files, some in an older segment, some in the newest.
  fs_ = killed_.Clone();
  ASSERT_NO_FATAL_FAILURE(Open());
  TSDB_ASSERT_OK(db_->Flush());
  SeriesRef w = *db_->ResolveKey(kKey);
  TSDB_ASSERT_OK(Put(*db_, w, kBegin + 101, 101, WriteOptions::With(Durability::kAlways)));
  ASSERT_NO_FATAL_FAILURE(Open());  // a kill: the next write begins a segment
  TSDB_ASSERT_OK(Put(*db_, *db_->ResolveKey(kKey), kBegin + 102, 102, WriteOptions::With(Durability::kAlways)));
  db_ = nullptr;
  const std::unique_ptr<MemoryFileSystem> whole = fs_->Clone();
  std::string newest;
  const auto segments = whole->List("/db/wal");
  for (const DirectoryEntry& entry : *segments) {
    newest = std::max(newest, entry.name);
  }
  ASSERT_GE(segments->size(), 2u);
  for (const bool missing : {false, true}) {
    SCOPED_TRACE(missing ? "missing" : "empty");
    fs_ = whole->Clone();
    if (missing) {
      TSDB_ASSERT_OK(fs_->RemoveFile("/db/wal/" + newest));
    } else {
      fs_->WriteWhole("/db/wal/" + newest, "");
    }
    ASSERT_NO_FATAL_FAILURE(Open());
    EXPECT_EQ(Numbers(), Upto(101));
    if (!missing) {
      ASSERT_EQ(db_->recovery_report().notes.size(), 1u);
      EXPECT_THAT(db_->recovery_report().notes[0], HasSubstr(newest));
    }
    ASSERT_NO_FATAL_FAILURE(GoOn(101));
  }
}

}  // namespace
}  // namespace tsdb::engine
