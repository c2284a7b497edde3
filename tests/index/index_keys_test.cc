#include "index/index_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tsdb::index {
namespace {

std::vector<std::string> Texts() {
  using namespace std::string_literals;
  return {"", "\0"s, "\0\0"s, "\0\1"s, "\0\xff"s, "\1"s, "a", "a\0"s, "a\0b"s, "a\1"s, "ab", "b", "\xff"s, "\xff\xff"s};
}

TEST(IndexKeys, SortAsTheTextsTheyHold) {
  std::vector<std::string> texts = Texts();
  std::sort(texts.begin(), texts.end());
  const std::string zone = ValueZone("name");
  for (std::size_t i = 1; i < texts.size(); ++i) {
    EXPECT_LT(PostingKeyEnd(zone, texts[i - 1]), PostingKey(zone, texts[i]));
    EXPECT_LT(ValueZone(texts[i - 1]), ValueZone(texts[i]));
  }
}

TEST(IndexKeys, GiveBackTextAndBlock) {
  const std::string zone = ValueZone(std::string("na\0me", 5));
  for (const std::string& text : Texts()) {
    for (const std::uint64_t block : {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 48) - 1}) {
      std::string key = PostingKey(zone, text);
      AppendBlockNumber(block, &key);
      EXPECT_LT(key, PostingKeyEnd(zone, text));
      std::string parsed;
      std::uint64_t parsed_block = 1;
      ASSERT_TRUE(ParsePostingKey(key, zone, &parsed, &parsed_block));
      EXPECT_EQ(parsed, text);
      EXPECT_EQ(parsed_block, block);
    }
  }
}

TEST(IndexKeys, RefuseWhatIsNotAKeyOfTheZone) {
  const std::string zone = NameZone();
  std::string text;
  std::uint64_t block = 0;
  EXPECT_FALSE(ParsePostingKey("", zone, &text, &block));
  EXPECT_FALSE(ParsePostingKey("Nab", zone, &text, &block));
  EXPECT_FALSE(ParsePostingKey("Vab" + std::string("\0\1", 2) + "123456", zone, &text, &block));
  EXPECT_FALSE(ParsePostingKey("Nab123456789", zone, &text, &block));                              // no terminator
  EXPECT_FALSE(ParsePostingKey(std::string("Na\0b\0\1", 6) + "123456", zone, &text, &block));      // bad escape
}

}  // namespace
}  // namespace tsdb::index
