#include "base/recent_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace tsdb {
namespace {

using Cache = RecentCache<std::uint64_t, std::shared_ptr<const std::string>>;

std::shared_ptr<const std::string> Text(std::uint64_t key) {
  return std::make_shared<const std::string>(std::to_string(key));
}

TEST(RecentCache, WhatWasRememberedComesBackAndNothingElse) {
  Cache cache(1 << 20);
  EXPECT_EQ(cache.Find(1), nullptr);
  cache.Insert(1, Text(1), 10);
  ASSERT_NE(cache.Find(1), nullptr);
  EXPECT_EQ(*cache.Find(1), "1");
  EXPECT_EQ(cache.Find(2), nullptr);
  cache.Insert(1, Text(99), 10);
  EXPECT_EQ(*cache.Find(1), "1");
}

TEST(RecentCache, ItStaysWithinItsBytesAndKeepsWhatWasUsedLast) {
  constexpr std::uint64_t kBytes = 64 << 10;
  Cache cache(kBytes);
  for (std::uint64_t key = 0; key < 10000; ++key) {
    cache.Insert(key, Text(key), 100);
    ASSERT_LE(cache.bytes(), kBytes);
    ASSERT_NE(cache.Find(0), nullptr) << key;
    ASSERT_NE(cache.Find(key), nullptr);
  }
  EXPECT_EQ(cache.Find(1), nullptr);
  std::uint64_t kept = 0;
  for (std::uint64_t key = 0; key < 10000; ++key) {
    kept += cache.Find(key) != nullptr ? 1 : 0;
  }
  EXPECT_GT(kept, 100u);
}

TEST(RecentCache, WhatIsLargerThanAShareIsNotKept) {
  Cache cache(8 << 10);
  cache.Insert(1, Text(1), 8 << 10);
  EXPECT_EQ(cache.Find(1), nullptr);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(RecentCache, ManyThreadsFindWhatBelongsToTheKey) {
  Cache cache(32 << 10);
  std::atomic<std::uint64_t> found{0};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 20000; ++i) {
        const std::uint64_t key = random() % 300;
        if (const auto text = cache.Find(key)) {
          ASSERT_EQ(*text, std::to_string(key));
          found.fetch_add(1);
        } else {
          cache.Insert(key, Text(key), 50);
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GT(found.load(), 0u);
  EXPECT_LE(cache.bytes(), 32u << 10);
}

}  // namespace
}  // namespace tsdb
