#include "index/id_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace tsdb::index {
namespace {

std::vector<std::uint16_t> Numbers(std::mt19937& random, unsigned chance_in_1024) {
  std::vector<std::uint16_t> lows;
  for (unsigned n = 0; n < kBlockIds; ++n) {
    if (random() % 1024 < chance_in_1024) {
      lows.push_back(static_cast<std::uint16_t>(n));
    }
  }
  return lows;
}

TEST(IdBlock, GivesBackWhatWasEncodedInEveryForm) {
  std::mt19937 random(1);
  std::vector<std::vector<std::uint16_t>> blocks = {{0}, {65535}, {0, 65535}, {5, 6, 7, 8, 9, 100}, {127}, {128}};
  for (const unsigned chance : {1u, 20u, 500u, 1000u, 1024u}) {
    blocks.push_back(Numbers(random, chance));
  }
  for (const auto& lows : blocks) {
    std::string bytes;
    EncodeIdBlock(lows, &bytes);
    EXPECT_LE(bytes.size(), 8193u);
    std::vector<std::uint16_t> decoded;
    ASSERT_TRUE(DecodeIdBlock(bytes, &decoded));
    EXPECT_EQ(decoded, lows);
    IdSet ids;
    ASSERT_TRUE(DecodeIdBlockInto(bytes, 3, &ids));
    EXPECT_EQ(ids.Count(), lows.size());
    EXPECT_TRUE(ids.Contains(3 * kBlockIds + lows.front()));
    EXPECT_TRUE(ids.Contains(3 * kBlockIds + lows.back()));
  }
}

TEST(IdBlock, TakesTheShortestForm) {
  std::vector<std::uint16_t> all(kBlockIds);
  for (unsigned n = 0; n < kBlockIds; ++n) {
    all[n] = static_cast<std::uint16_t>(n);
  }
  std::string bytes;
  EncodeIdBlock(all, &bytes);
  EXPECT_EQ(bytes.size(), 5u);  // one run
}

TEST(IdBlock, RefusesBytesThatAreNotABlock) {
  const std::vector<std::string> bad = {
      "",
      std::string(1, '\0'),                          // empty list
      std::string("\x03\x01", 2),                    // unknown form
      std::string("\x01\x01", 2),                    // short bitmap
      std::string("\x01") + std::string(8192, '\0'), // empty bitmap
      std::string("\0\xff\xff\x03\0", 5),            // list beyond the block
      std::string("\x02\0\xff\xff\x04", 5),          // run beyond the block
      std::string("\x02\x05", 2),                    // run without length
      std::string("\0\x80", 2),                      // torn varint
  };
  for (const std::string& bytes : bad) {
    std::vector<std::uint16_t> lows;
    EXPECT_FALSE(DecodeIdBlock(bytes, &lows)) << testing::PrintToString(bytes);
    IdSet ids;
    EXPECT_FALSE(DecodeIdBlockInto(bytes, 0, &ids)) << testing::PrintToString(bytes);
  }
}

TEST(IdBlock, SurvivesRandomBytes) {
  std::mt19937 random(2);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes(random() % 24, '\0');
    for (char& c : bytes) {
      c = static_cast<char>(random());
    }
    if (!bytes.empty()) {
      bytes[0] = static_cast<char>(random() % 3);
    }
    std::vector<std::uint16_t> lows;
    if (DecodeIdBlock(bytes, &lows)) {
      EXPECT_TRUE(std::is_sorted(lows.begin(), lows.end(), std::less_equal<>()) || lows.size() == 1);
    }
  }
}

}  // namespace
}  // namespace tsdb::index
