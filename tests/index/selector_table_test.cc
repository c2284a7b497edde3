// Absent and empty labels, as a table, for every implementation and every place a series can be in.
#include <gtest/gtest.h>

#include "tests/index/index_test_util.h"

namespace tsdb::index {
namespace {

using Op = Matcher::Op;

struct Row {
  std::vector<Matcher> matchers;
  std::string ids;  // letters: a = 1, b = 2, ...
};

std::vector<Row> Rows() {
  return {
      {{{"env", Op::kEqual, {""}}}, "cd"},
      {{{"env", Op::kNotEqual, {""}}}, "ab"},
      {{{"env", Op::kEqual, {"prod"}}}, "a"},
      {{{"env", Op::kNotEqual, {"prod"}}}, "bcd"},
      {{{"env", Op::kRegex, {""}}}, "cd"},
      {{{"env", Op::kRegex, {".*"}}}, "abcd"},
      {{{"env", Op::kRegex, {".+"}}}, "ab"},
      {{{"env", Op::kNotRegex, {".+"}}}, "cd"},
      {{{"env", Op::kNotRegex, {".*"}}}, ""},
      {{{"env", Op::kRegex, {"prod|"}}}, "acd"},
      {{{"env", Op::kNotRegex, {"prod|"}}}, "b"},
      {{{"env", Op::kRegex, {".+|^$"}}}, "abcd"},
      {{{"env", Op::kRegex, {"|dev"}}}, "bcd"},
      {{{"env", Op::kRegex, {"pro"}}}, ""},
      {{{"nosuch", Op::kEqual, {""}}}, "abcd"},
      {{{"nosuch", Op::kNotEqual, {""}}}, ""},
      {{{"nosuch", Op::kNotEqual, {"x"}}}, "abcd"},
      {{{"nosuch", Op::kRegex, {".*"}}}, "abcd"},
      {{{"env", Op::kNotEqual, {""}}, {"env", Op::kNotEqual, {"dev"}}}, "a"},
      {{{"env", Op::kEqual, {"prod"}}, {"env", Op::kEqual, {"dev"}}}, ""},
      // Lists.
      {{{"env", Op::kIn, {"prod", "dev"}}}, "ab"},
      {{{"env", Op::kNotIn, {"prod", "dev"}}}, "cd"},
      {{{"env", Op::kIn, {"prod"}}}, "a"},
      {{{"env", Op::kIn, {"prod", ""}}}, "acd"},
      {{{"env", Op::kNotIn, {"prod", ""}}}, "b"},
      {{{"env", Op::kIn, {}}}, ""},
      {{{"env", Op::kNotIn, {}}}, "abcd"},
      // Regular expressions that need a look at the values.
      {{{"env", Op::kRegex, {"p.*"}}}, "a"},
      {{{"env", Op::kRegex, {"(p.*)?"}}}, "acd"},
      {{{"env", Op::kNotRegex, {"p.*"}}}, "bcd"},
      {{{"env", Op::kNotRegex, {"(p.*)?"}}}, "b"},
      {{{"env", Op::kRegex, {"(?i)PROD"}}}, "a"},
      {{{"env", Op::kRegex, {"^prod$"}}}, "a"},
      {{{"env", Op::kNotRegex, {"[a-z]+"}}}, "cd"},
  };
}

std::vector<SeriesDefinition> TableSeries() {
  return {
      ByLabels(1, 1, {{"__name__", "up"}, {"id", "a"}, {"env", "prod"}, {"m", "x"}}),
      ByLabels(2, 2, {{"__name__", "up"}, {"id", "b"}, {"env", "dev"}, {"m", "x"}}),
      ByLabels(3, 3, {{"__name__", "up"}, {"id", "c"}, {"m", "x"}}),
      ByLabels(4, 4, {{"__name__", "up"}, {"id", "d"}, {"env", ""}, {"m", "x"}}),
  };
}

void ExpectTable(SeriesIndex& index) {
  for (const Row& row : Rows()) {
    std::vector<std::uint64_t> expected;
    for (const char letter : row.ids) {
      expected.push_back(static_cast<std::uint64_t>(letter - 'a' + 1));
    }
    const std::string text = Selector(row.matchers).ToString();
    EXPECT_EQ(SelectIds(index, row.matchers), expected) << text;
    std::vector<Matcher> narrowed = row.matchers;
    narrowed.push_back({"__name__", Op::kEqual, {"up"}});
    narrowed.push_back({"m", Op::kEqual, {"x"}});
    EXPECT_EQ(SelectIds(index, narrowed), expected) << text;
  }
}

TEST(SelectorTable, HoldsForTheTwin) {
  const auto index = NewMemoryIndex();
  for (const SeriesDefinition& definition : TableSeries()) {
    index->Apply(definition);
  }
  ExpectTable(*index);
}

TEST(SelectorTable, HoldsForSeriesInTheOverlayStoredAndReopened) {
  const TemporaryDirectory directory;
  auto index = MustOpen(directory.path());
  for (const SeriesDefinition& definition : TableSeries()) {
    index->Apply(definition);
  }
  ExpectTable(*index);
  ASSERT_TRUE(index->Persist(CommitNumber{2}).ok());  // two stored, two in the overlay
  ExpectTable(*index);
  ASSERT_TRUE(index->Persist(CommitNumber{4}).ok());
  ExpectTable(*index);
  index.reset();
  index = MustOpen(directory.path());
  ExpectTable(*index);
}

TEST(CompiledSelector, RefusesARegexThatIsNone) {
  for (const Op op : {Op::kRegex, Op::kNotRegex}) {
    const auto compiled = CompiledSelector::Compile(Selector({{"env", op, {"("}}}));
    ASSERT_FALSE(compiled.ok());
    EXPECT_EQ(compiled.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(compiled.status().message().find("env"), std::string::npos);
  }
}

TEST(CompiledSelector, MatchesBytesThatAreNotText) {
  const SeriesDefinition series = ByLabels(1, 1, {{"raw", "\xff\xfe\n\x80"}});
  const auto matches = [&](const char* pattern) {
    return CompiledSelector::Compile(Selector({{"raw", Op::kRegex, {pattern}}})).value().Matches(series);
  };
  EXPECT_TRUE(matches(".*"));
  EXPECT_TRUE(matches("..+"));
  EXPECT_TRUE(matches(".{4}"));
  EXPECT_FALSE(matches(".{3}"));
  EXPECT_FALSE(matches("[a-z]+"));
}

}  // namespace
}  // namespace tsdb::index
