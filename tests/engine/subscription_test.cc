// Subscriptions: every effect once, in commit order per series; what a slow one lost is said.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/engine/engine_test_util.h"

namespace tsdb::engine {
namespace {

class SubscriptionTest : public testing::Test {
 protected:
  void SetUp() override { TSDB_ASSERT_OPEN(db_, "/db", QuietOptions(), MemoryEnvironment(&fs_, &clock_)); }

  MemoryFileSystem fs_;
  FakeClock clock_;
  std::unique_ptr<Database> db_;
};

TEST_F(SubscriptionTest, HearsOfTheSelectedSeriesAloneInTheOrderOfCommits) {
  const SeriesRef a = *db_->CreateSeries(Series("a", "x"));
  const SeriesRef b = *db_->CreateSeries(Series("b", "y"));
  std::vector<SeriesEvent> heard;
  auto subscription = db_->Subscribe(*Selector::Parse("{host=\"x\"}"), [&](std::span<const SeriesEvent> events) {
    heard.insert(heard.end(), events.begin(), events.end());
  });
  ASSERT_TRUE(subscription.ok());
  TSDB_ASSERT_OK(Put(*db_, a, 1, 10));
  TSDB_ASSERT_OK(Put(*db_, b, 1, 20));
  WriteBatch batch;
  batch.Add(Series("new", "x"), 5, 50);
  batch.Add(a, 2, 11);
  ASSERT_TRUE(db_->Append(batch).ok());
  TSDB_ASSERT_OK(db_->Delete(Selector(), {2, 2}).status());
  ASSERT_TRUE(db_->Drop(Selector::ForKey(Series("a", "x").CanonicalKey())).ok());
  EXPECT_EQ(Put(*db_, a, 3, 1).code(), StatusCode::kDropped);
  (*subscription)->Drain();
  std::map<std::uint64_t, std::string> text;
  CommitNumber last;
  for (const SeriesEvent& event : heard) {
    EXPECT_GE(event.commit, last);
    last = event.commit;
    text[event.series.value] += std::string(1, "sdgo"[static_cast<int>(event.kind)]) +
                                std::to_string(event.kind == SeriesEvent::Kind::kDelete ? event.range.from
                                                                                        : event.sample.time) + " ";
  }
  EXPECT_EQ(text.size(), 2u);
  EXPECT_EQ(text[a.id.value], "s1 s2 d2 g0 ");
  EXPECT_FALSE(text.contains(b.id.value));
  subscription->reset();
  TSDB_ASSERT_OK(Put(*db_, b, 4, 1));
}

TEST_F(SubscriptionTest, ASlowOneIsToldHowMuchItLost) {
  const SeriesRef a = *db_->CreateSeries(Series("a"));
  std::mutex mutex;
  std::condition_variable go;
  bool may_go = false;
  std::atomic<std::uint64_t> samples{0};
  std::atomic<std::uint64_t> lost{0};
  SubscribeOptions options;
  options.queue_max = 10;
  auto subscription = db_->Subscribe(
      Selector(),
      [&](std::span<const SeriesEvent> events) {
        std::unique_lock lock(mutex);
        go.wait(lock, [&] { return may_go; });
        for (const SeriesEvent& event : events) {
          samples += event.kind == SeriesEvent::Kind::kSample ? 1 : 0;
          lost += event.lost;
        }
      },
      options);
  ASSERT_TRUE(subscription.ok());
  for (int i = 0; i < 500; ++i) {
    TSDB_ASSERT_OK(Put(*db_, a, i, i));
  }
  {
    const std::lock_guard lock(mutex);
    may_go = true;
    go.notify_all();
  }
  (*subscription)->Drain();
  EXPECT_EQ(samples + lost, 500u);
  EXPECT_GE(lost, 400u);
}

TEST_F(SubscriptionTest, OfConcurrentWritersEachSeriesArrivesInOrder) {
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  std::map<std::uint64_t, std::vector<Timestamp>> heard;
  std::vector<SeriesRef> refs;
  for (int i = 0; i < kThreads; ++i) {
    refs.push_back(*db_->CreateSeries(Series("m", std::to_string(i))));
  }
  auto subscription = db_->Subscribe(Selector(), [&](std::span<const SeriesEvent> events) {
    for (const SeriesEvent& event : events) {
      heard[event.series.value].push_back(event.sample.time);
    }
  });
  ASSERT_TRUE(subscription.ok());
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < kEach; ++k) {
        EXPECT_TRUE(Put(*db_, refs[static_cast<std::size_t>(i)], k, k).ok());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  (*subscription)->Drain();
  for (const SeriesRef ref : refs) {
    ASSERT_EQ(heard[ref.id.value].size(), std::size_t{kEach});
    EXPECT_TRUE(std::ranges::is_sorted(heard[ref.id.value]));
  }
}

}  // namespace
}  // namespace tsdb::engine
