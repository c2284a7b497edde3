#include "base/thread_pool.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

namespace tsdb {
namespace {

TEST(ThreadPool, RunsEverythingBeforeItIsGone) {
  std::atomic<int> ran{0};
  {
    auto pool = *ThreadPool::Create(3);
    EXPECT_EQ(pool->threads(), 3u);
    for (int i = 0; i < 1'000; ++i) {
      pool->Submit([&] { ran.fetch_add(1); });
    }
  }
  EXPECT_EQ(ran.load(), 1'000);
}

TEST(ThreadPool, WaitIdleReturnsAfterTheTasksThatTasksSubmitted) {
  std::atomic<int> ran{0};
  auto pool = *ThreadPool::Create(2);
  pool->Submit([&] {
    for (int i = 0; i < 10; ++i) {
      pool->Submit([&] { ran.fetch_add(1); });
    }
  });
  pool->WaitIdle();
  EXPECT_EQ(ran.load(), 10);
}

TEST(ThreadPool, DestructionWaitsForTasksThatTasksSubmitted) {
  std::atomic<int> ran{0};
  {
    auto pool = *ThreadPool::Create(2);
    ThreadPool* p = pool.get();
    p->Submit([&ran, p] {
      p->Submit([&ran, p] {
        p->Submit([&ran] { ran.fetch_add(1); });
        ran.fetch_add(1);
      });
      ran.fetch_add(1);
    });
  }
  EXPECT_EQ(ran.load(), 3);
}

TEST(ThreadPool, OneThreadKeepsTheOrder) {
  std::vector<int> order;
  auto pool = *ThreadPool::Create(0);
  EXPECT_EQ(pool->threads(), 1u);
  for (int i = 0; i < 100; ++i) {
    pool->Submit([&order, i] { order.push_back(i); });
  }
  pool->WaitIdle();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  }
}

}  // namespace
}  // namespace tsdb
