#include "tsdb/selector.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tests/base/random_text.h"

namespace tsdb {
namespace {

using Op = Matcher::Op;

TEST(SelectorParse, ReadsEveryKindOfMatcher) {
  struct Row {
    std::string_view text;
    std::vector<Matcher> expected;
  };
  const Row rows[] = {
      {"{}", {}},
      {" { } ", {}},
      {"cpu", {{"__name__", Op::kEqual, {"cpu"}}}},
      {":a:b9{}", {{"__name__", Op::kEqual, {":a:b9"}}}},
      {R"(cpu{host="a"})", {{"__name__", Op::kEqual, {"cpu"}}, {"host", Op::kEqual, {"a"}}}},
      {R"({a!="x",b=~"y.*",c!~'z',})",
       {{"a", Op::kNotEqual, {"x"}}, {"b", Op::kRegex, {"y.*"}}, {"c", Op::kNotRegex, {"z"}}}},
      {R"({a=("x","y"),b!=('z',),c=()})",
       {{"a", Op::kIn, {"x", "y"}}, {"b", Op::kNotIn, {"z"}}, {"c", Op::kIn, {}}}},
      {R"({a=""})", {{"a", Op::kEqual, {""}}}},
      {R"({"metric name",a="x"})", {{"__name__", Op::kEqual, {"metric name"}}, {"a", Op::kEqual, {"x"}}}},
      {R"({a="x","metric name"})", {{"a", Op::kEqual, {"x"}}, {"__name__", Op::kEqual, {"metric name"}}}},
      {R"({"label name"=~`a\d+`})", {{"label name", Op::kRegex, {R"(a\d+)"}}}},
      {R"({__name__=~"a.*",__name__!="ab"})",
       {{"__name__", Op::kRegex, {"a.*"}}, {"__name__", Op::kNotEqual, {"ab"}}}},
      {"{\n\ta = \"x\" ,\r\n b\n!~\n\"y\" }", {{"a", Op::kEqual, {"x"}}, {"b", Op::kNotRegex, {"y"}}}},
  };
  for (const Row& row : rows) {
    const auto selector = Selector::Parse(row.text);
    ASSERT_TRUE(selector.ok()) << row.text << ": " << selector.status().ToString();
    EXPECT_EQ(selector->matchers(), row.expected) << row.text;
    EXPECT_FALSE(selector->is_key());
  }
}

TEST(SelectorParse, ReadsEscapes) {
  struct Row {
    std::string_view quoted;
    std::string expected;
  };
  const Row rows[] = {
      {R"("\a\b\f\n\r\t\v")", "\a\b\f\n\r\t\v"},
      {R"("\\\"\'")", "\\\"'"},
      {R"('"\'')", "\"'"},
      {R"("\x41\x00\xfF")", std::string("A\0\xff", 3)},
      {R"("\101\000\377")", std::string("A\0\xff", 3)},
      {R"("\u0041\u00e9\u20AC")", "A\xC3\xA9\xE2\x82\xAC"},
      {R"("\U0001F600")", "\xF0\x9F\x98\x80"},
      {R"(`\n"'`)", "\\n\"'"},
      {"\"raw\nnewline\xFF\"", "raw\nnewline\xFF"},
  };
  for (const Row& row : rows) {
    const auto selector = Selector::Parse("{a=" + std::string(row.quoted) + "}");
    ASSERT_TRUE(selector.ok()) << row.quoted << ": " << selector.status().ToString();
    EXPECT_EQ(selector->matchers()[0].values[0], row.expected) << row.quoted;
  }
}

TEST(SelectorParse, SaysAtWhichByteItStoppedUnderstanding) {
  struct Row {
    std::string_view text;
    std::string_view expected;  // part of the message
  };
  const Row rows[] = {
      {"", "at byte 0 of '': empty text; write {} to match every series"},
      {"   ", "empty text"},
      {"cpu[5m]", "at byte 3 of 'cpu[5m]': expected '{', found '['"},
      {"9cpu", "at byte 0"},
      {"\"cpu\"{}", "a quoted metric stands inside the braces"},
      {"{", "at byte 1 of '{': expected a label name, found the end"},
      {"{,}", "at byte 1"},
      {"{a=\"x\",,}", "at byte 7"},
      {"{a=\"x\"", "at byte 6 of '{a=\"x\"': expected ',' or '}', found the end"},
      {"{a=\"x\" b=\"y\"}", "at byte 7"},
      {"{a}", "at byte 2 of '{a}': expected one of = != =~ !~, found '}'"},
      {"{a==\"x\"}", "at byte 3"},
      {"{a=x}", "at byte 3 of '{a=x}': expected a quoted value, found 'x'"},
      {"{a=~(\"x\")}", "at byte 4"},
      {"{a=(\"x\" \"y\")}", "at byte 8 of"},
      {"{a=(\"x\"", "expected ',' or ')'"},
      {"{a=(,)}", "at byte 4"},
      {"{a=\"x}", "at byte 3 of '{a=\"x}': the quote is not closed"},
      {"{a=\"\\q\"}", "at byte 4 of '{a=\"\\q\"}': unknown escape"},
      {"{a=\"\\", "the escape is cut off"},
      {"{a=\"\\x4\"}", "the escape needs 2 hex digits"},
      {"{a=\"\\u12\"}", "the escape needs 4 hex digits"},
      {"{a=\"\\08\"}", "the escape needs 3 octal digits"},
      {"{a=\"\\400\"}", "more than a byte"},
      {"{a=\"\\ud800\"}", "not a Unicode code point"},
      {"{a=\"\\U00110000\"}", "not a Unicode code point"},
      {"cpu{} x", "at byte 6 of 'cpu{} x': expected the end, found 'x'"},
      {"cpu{__name__=\"mem\"}", "at byte 4 of 'cpu{__name__=\"mem\"}': the metric is given twice"},
      {"cpu{\"mem\"}", "the metric is given twice"},
      {"{\"cpu\",\"mem\"}", "at byte 7"},
      {"{__name__=\"a\",\"mem\"}", "the metric is given twice"},
      {"{\"\"=\"x\"}", "at byte 1 of '{\"\"=\"x\"}': the name is empty"},
      {"{\xC3\xA9=\"x\"}", "expected a label name, found byte 0xc3"},
  };
  for (const Row& row : rows) {
    const auto selector = Selector::Parse(row.text);
    ASSERT_FALSE(selector.ok()) << row.text;
    EXPECT_EQ(selector.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(selector.status().message().find(row.expected), std::string_view::npos)
        << row.text << " gave: " << selector.status().message();
  }
}

TEST(SelectorParse, ShowsOnlyTheBeginningOfALongText) {
  const std::string text = "{a=\"" + std::string(10'000, 'x');
  EXPECT_LT(Selector::Parse(text).status().message().size(), 400u);
}

TEST(Selector, PrintsCanonicalText) {
  struct Row {
    std::string_view text;
    std::string_view expected;
  };
  const Row rows[] = {
      {"{ }", "{}"},
      {"cpu{ }", "cpu"},
      {"cpu{ a = 'x' , }", "cpu{a=\"x\"}"},
      {"{__name__=\"cpu\",a=\"x\"}", "cpu{a=\"x\"}"},
      {"{__name__=\"cpu\",__name__!=\"x\"}", "{__name__=\"cpu\",__name__!=\"x\"}"},
      {"{a=\"x\",\"m n\"}", "{a=\"x\",__name__=\"m n\"}"},
      {"{\"l n\"=('x',`y\"`)}", "{\"l n\"=(\"x\",\"y\\\"\")}"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Selector::Parse(row.text)->ToString(), row.expected);
  }
}

TEST(Selector, ForKeyIsNotParsed) {
  const Selector selector = Selector::ForKey("cpu{");
  EXPECT_TRUE(selector.is_key());
  EXPECT_EQ(selector.key(), "cpu{");
  EXPECT_EQ(selector.ToString(), "cpu{");
  EXPECT_NE(selector, Selector());
}

TEST(Selector, AnyMatchersSurviveToStringAndParse) {
  const std::uint64_t seed = TestSeed();
  SCOPED_TRACE(testing::Message() << "TSDB_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 5'000; ++i) {
    std::vector<Matcher> matchers;
    for (std::uint64_t n = random() % 4; n > 0; --n) {
      Matcher matcher;
      matcher.name = random() % 3 == 0 ? "__name__" : RandomText(random, 6);
      matcher.op = static_cast<Op>(random() % 6);
      const bool list = matcher.op == Op::kIn || matcher.op == Op::kNotIn;
      for (std::uint64_t k = list ? random() % 4 : 1; k > 0; --k) {
        matcher.values.push_back(random() % 5 == 0 ? "" : RandomText(random, 10));
      }
      matchers.push_back(std::move(matcher));
    }
    const Selector selector(matchers);
    const auto parsed = Selector::Parse(selector.ToString());
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    ASSERT_EQ(*parsed, selector) << selector.ToString();
  }
}

TEST(SelectorParse, SurvivesDamagedText) {
  const std::uint64_t seed = TestSeed();
  SCOPED_TRACE(testing::Message() << "TSDB_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  const std::string good = R"(cpu{a="x\n\x41\u20AC",b!=("y",'z'),"c d"=~`e.*`,f!~"\101"})";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good.substr(0, random() % (good.size() + 1));
    for (std::uint64_t n = random() % 3; n > 0 && !text.empty(); --n) {
      text[random() % text.size()] = good[random() % good.size()];
    }
    if (const auto parsed = Selector::Parse(text); parsed.ok()) {
      const auto again = Selector::Parse(parsed->ToString());
      ASSERT_TRUE(again.ok()) << text;
      ASSERT_EQ(*again, *parsed) << text;
    } else {
      ASSERT_EQ(parsed.status().code(), StatusCode::kInvalidArgument);
    }
  }
}

}  // namespace
}  // namespace tsdb
