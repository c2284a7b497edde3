// Every call RocksDB makes to the operating system fails, one after the other, once and from then on: no crash, no
// wrong answer, and nothing that was acknowledged is missing when the fault is gone.
//
// The index is a cache: a call may cost its rebuilding, or an error that says so, but never a sample or a series.
// TSDB_INDEX_CALLS=all runs every position; otherwise every seventh.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "tests/engine/engine_test_util.h"
#include "tests/index/index_test_util.h"
#include "tests/index_calls/failing_calls.h"

namespace tsdb::engine {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};

/// One run of the script in a folder of its own.
class Script {
 public:
  Script(std::uint64_t first, int error, bool once) {
    failing_calls::Arm(folder_.path() + "/db/index", first, error, once);
  }
  ~Script() { failing_calls::Disarm(); }

  void Run() {
    for (int life = 0; life < 3; ++life) {
      for (int tries = 0; db_ == nullptr && tries < 2; ++tries) {
        Open();
      }
      if (db_ != nullptr) {
        Live(life);
        Told(db_->Close());
        db_ = nullptr;
      }
    }
    calls_ = failing_calls::Disarm();
    Open();
    ASSERT_NE(db_, nullptr) << "with the fault gone";
    EXPECT_EQ(ReadAll(*db_), written_) << "with the fault gone";
    EXPECT_TRUE(db_->Flush().ok());
    EXPECT_TRUE(db_->Close().ok());
    db_ = nullptr;
    Open();
    ASSERT_NE(db_, nullptr);
    EXPECT_EQ(ReadAll(*db_), written_) << "opened once more";
    EXPECT_EQ(db_->recovery_report().samples_orphaned, 0u);
  }

  std::uint64_t calls() const { return calls_; }
  std::uint64_t told() const { return told_; }

 private:
  void Open() {
    OpenOptions options;
    options.background = false;
    auto opened = Database::Open(folder_.path() + "/db", options);
    Told(opened.status());
    if (opened.ok()) {
      db_ = std::move(*opened);
    }
  }

  void Live(int life) {
    for (int round = 0; round < 3; ++round) {
      const int number = life * 3 + round;
      WriteBatch batch;
      Contents after = written_;
      for (int s = 0; s < 20; ++s) {  // half of them new
        const Labels labels = Series("m", std::to_string(number * 10 + s));
        batch.Add(labels, number, s);
        after[labels.CanonicalKey()][number] = std::bit_cast<std::uint64_t>(static_cast<double>(s));
      }
      const auto result = db_->Append(batch, WriteOptions::With(Durability::kAlways));
      Told(result.status());
      if (result.ok()) {
        EXPECT_TRUE(result->rejected.empty()) << result->rejected[0].status.ToString();
        written_ = after;
      }
      Read();
      Told(db_->Flush());
      Read();
    }
    Told(db_->Compact().status());
    Read();
  }

  /// Right, or an error.
  void Read() {
    auto result = db_->Query({});
    Told(result.status());
    if (!result.ok()) {
      return;
    }
    Contents found;
    ColumnBatch batch;
    while ((*result)->NextSeries()) {
      Samples& samples = found[(*result)->series().key];
      while ((*result)->NextBatch(&batch)) {
        for (std::size_t i = 0; i < batch.times.size(); ++i) {
          samples[batch.times[i]] = std::bit_cast<std::uint64_t>(batch.columns[0][i]);
        }
      }
    }
    Told((*result)->status());
    if ((*result)->status().ok()) {
      EXPECT_EQ(found, written_);
    }
    const auto one = db_->Resolve(Series("m", "7"));
    if (!written_.empty() && !one.ok()) {
      EXPECT_NE(one.status().code(), StatusCode::kNotFound) << "a series is hidden by the fault";
      Told(one.status());
    }
  }

  /// An error is there only because of the fault.
  void Told(const Status& status) {
    if (!status.ok()) {
      ++told_;
      EXPECT_GT(failing_calls::failed(), 0u) << status.ToString();
    }
  }

  const index::TemporaryDirectory folder_;
  std::unique_ptr<Database> db_;
  Contents written_;
  std::uint64_t calls_ = 0;
  std::uint64_t told_ = 0;
};

class IndexCalls : public testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(IndexCalls, ThatFailCostNothingThatWasAcknowledged) {
  const auto [error, once] = GetParam();
  Script whole(kNever, error, once);
  whole.Run();
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(whole.told(), 0u);
  ASSERT_GT(whole.calls(), 100u) << "RocksDB's calls are seen";
  const char* all = std::getenv("TSDB_INDEX_CALLS");
  const std::uint64_t step = all != nullptr ? 1 : 7;
  std::uint64_t failed = 0;
  for (std::uint64_t n = 1; n <= whole.calls(); n += step) {
    Script script(n, error, once);
    script.Run();
    failed += failing_calls::failed();
    ASSERT_FALSE(HasFailure()) << "call " << n << " of " << whole.calls();
  }
  RecordProperty("calls_failed", std::to_string(failed));
  std::printf("[  COUNT   ] positions: %llu, calls failed: %llu\n",
              static_cast<unsigned long long>((whole.calls() + step - 1) / step),
              static_cast<unsigned long long>(failed));
  EXPECT_GT(failed, 20u);
}

INSTANTIATE_TEST_SUITE_P(Ways, IndexCalls, testing::Combine(testing::Values(EIO, ENOSPC), testing::Bool()));

}  // namespace
}  // namespace tsdb::engine
