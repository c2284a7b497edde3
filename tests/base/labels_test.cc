#include "tsdb/labels.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>
#include <xxhash.h>

#include "tests/base/random_text.h"

namespace tsdb {
namespace {

TEST(Labels, AreSortedAndEmptyValuesAreNoLabels) {
  const auto labels = Labels::FromPairs({{"region", "eu"}, {"__name__", "cpu"}, {"zone", ""}, {"host", "a"}});
  ASSERT_TRUE(labels.ok());
  const std::vector<Label> expected = {{"__name__", "cpu"}, {"host", "a"}, {"region", "eu"}};
  EXPECT_EQ(labels->pairs(), expected);
  EXPECT_EQ(labels->Get("host"), "a");
  EXPECT_EQ(labels->Get("zone"), "");
  EXPECT_EQ(labels->bytes(), 8u + 3 + 4 + 1 + 6 + 2);
}

TEST(Labels, RefuseEmptyNamesAndContradictions) {
  EXPECT_EQ(Labels::FromPairs({{"", "x"}}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Labels::FromPairs({{"a", "x"}, {"b", "x"}, {"a", "y"}}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Labels::FromPairs({{"a", ""}, {"a", "y"}}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Labels::FromPairs({{"a", "x"}, {"a", "x"}})->size(), 1u) << "saying it twice is no contradiction";
}

TEST(Labels, HoldAtMost64KiB) {
  EXPECT_TRUE(Labels::FromPairs({{"a", std::string(kKeyBytesMax - 1, 'x')}}).ok());
  EXPECT_EQ(Labels::FromPairs({{"a", std::string(kKeyBytesMax, 'x')}}).status().code(), StatusCode::kInvalidArgument);
}

TEST(Labels, LiteralsDropWhatFromPairsRefuses) {
  const Labels labels = {{"b", "1"}, {"", "x"}, {"a", "2"}, {"b", "3"}, {"c", ""}};
  const std::vector<Label> expected = {{"a", "2"}, {"b", "1"}};
  EXPECT_EQ(labels.pairs(), expected);
  const Labels large = {{"a", "1"}, {"b", std::string(kKeyBytesMax, 'x')}};
  EXPECT_EQ(large.size(), 1u);
}

TEST(LabelsCanonicalKey, ShowsTheMetricInFrontWhenItIsPlain) {
  struct Row {
    Labels labels;
    std::string_view expected;
  };
  const Row rows[] = {
      {{}, "{}"},
      {{{"__name__", "cpu"}}, "cpu"},
      {{{"__name__", "cpu:rate5m"}, {"b", "y"}, {"a", "x"}}, R"(cpu:rate5m{a="x",b="y"})"},
      {{{"a", "x"}}, R"({a="x"})"},
      {{{"__name__", "metric name"}, {"a", "x"}}, R"({"metric name",a="x"})"},
      {{{"__name__", "1st"}}, R"({"1st"})"},
      {{{"weird name", "v"}, {"a:b", "w"}}, R"({"a:b"="w","weird name"="v"})"},
      {{{"a", "q\"b\\s\nn\tt'"}}, "{a=\"q\\\"b\\\\s\\nn\tt'\"}"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(row.labels.CanonicalKey(), row.expected);
    const auto parsed = Labels::Parse(row.expected);
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    EXPECT_EQ(*parsed, row.labels) << row.expected;
  }
}

TEST(LabelsParse, AcceptsEverySpellingOfASetOfEqualMatchers) {
  const Labels expected = {{"__name__", "cpu"}, {"host", "a b"}, {"r", "eu"}};
  const std::string_view texts[] = {
      R"(cpu{host="a b",r="eu"})",        R"( cpu { r = 'eu' , host = `a b` , } )",
      R"({__name__="cpu",r="eu",host="a b"})", R"({"cpu",host="a\x20b",r="\145\u0075"})",
      R"({r="eu",'host'="a b",`cpu`})",   R"(cpu{host="a b",r="eu",empty=""})",
  };
  for (const std::string_view text : texts) {
    const auto parsed = Labels::Parse(text);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.status().ToString();
    EXPECT_EQ(*parsed, expected) << text;
  }
}

TEST(LabelsParse, RefusesWhatDoesNotNameOneSeries) {
  for (const std::string_view text : {"", "cpu{a!=\"x\"}", "cpu{a=~\"x\"}", "cpu{a=(\"x\")}", "cpu{a=\"x\",a=\"y\"}",
                                      "cpu{a=\"x\"", "cpu{a=\"x\"}b"}) {
    EXPECT_EQ(Labels::Parse(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(LabelsHash, IsXxh3OverLengthPrefixedSortedPairs) {
  const Labels labels = {{"host", "a"}, {"__name__", "cpu"}};
  const std::string bytes = "\x08__name__\x03" "cpu" "\x04host\x01" "a";
  const XXH128_hash_t expected = XXH3_128bits(bytes.data(), bytes.size());
  EXPECT_EQ(labels.Hash().high, expected.high64);
  EXPECT_EQ(labels.Hash().low, expected.low64);
}

TEST(LabelsHash, TellsApartWhereNamesAndValuesEnd) {
  const Labels a = {{"ab", "c"}};
  const Labels b = {{"a", "bc"}};
  EXPECT_NE(a.Hash(), b.Hash());
}

TEST(LabelsHash, HoldsForSetsBeyondTheStackBuffer) {
  const std::string value(5'000, 'v');
  const Labels labels = {{"a", value}};
  const std::string bytes = std::string("\x01" "a" "\x88\x27") + value;
  EXPECT_EQ(labels.Hash().low, XXH3_128bits(bytes.data(), bytes.size()).low64);
}

TEST(Labels, AnyBytesSurviveTheCanonicalKeyInAnyOrder) {
  const std::uint64_t seed = TestSeed();
  SCOPED_TRACE(testing::Message() << "TSDB_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 5'000; ++i) {
    std::vector<Label> pairs;
    for (std::uint64_t n = random() % 5; n > 0; --n) {
      std::string name = random() % 4 == 0 ? std::string(kMetricLabel) : RandomText(random, 8);
      const bool known = std::any_of(pairs.begin(), pairs.end(), [&](const Label& p) { return p.name == name; });
      if (!known) {
        pairs.push_back({std::move(name), RandomText(random, 12)});
      }
    }
    const auto labels = Labels::FromPairs(pairs);
    ASSERT_TRUE(labels.ok()) << labels.status().ToString();
    const std::string key = labels->CanonicalKey();
    const auto parsed = Labels::Parse(key);
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    ASSERT_EQ(*parsed, *labels) << key;
    ASSERT_EQ(parsed->CanonicalKey(), key);
    std::shuffle(pairs.begin(), pairs.end(), random);
    ASSERT_EQ(Labels::FromPairs(pairs)->Hash(), labels->Hash());
  }
}

}  // namespace
}  // namespace tsdb
