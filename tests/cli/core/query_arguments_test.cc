#include "cli/text/query_arguments.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tsdb::cli {
namespace {

QueryArguments All() {
  QueryArguments arguments;
  arguments.series.selector = "{}";
  return arguments;
}

TEST(QueryArguments, TheDefaultIsEverySample) {
  const Result<QuerySpec> spec = ParseQuery(All());
  ASSERT_TRUE(spec.ok());
  EXPECT_TRUE(spec->aggregators.empty());
  EXPECT_EQ(spec->fill, Fill::kNone);
  EXPECT_FALSE(spec->values);
  EXPECT_FALSE(spec->reduce);
  EXPECT_EQ(spec->top.count, 0u);
}

TEST(QueryArguments, AFillIsAWordOrANumber) {
  QueryArguments arguments = All();
  const std::pair<const char*, Fill> words[] = {
      {"none", Fill::kNone},         {"null", Fill::kNull},     {"empty", Fill::kEmpty},
      {"previous", Fill::kPrevious}, {"linear", Fill::kLinear}, {"-1.5", Fill::kConstant}};
  for (const auto& [text, fill] : words) {
    arguments.fill = text;
    EXPECT_EQ(ParseQuery(arguments)->fill, fill) << text;
  }
  EXPECT_EQ(ParseQuery(arguments)->fill_value, -1.5);
  for (const char* bad : {"constant", "1,5", "", "0x10", "1 "}) {
    arguments.fill = bad;
    EXPECT_TRUE(ParseQuery(arguments).status().message().starts_with("--fill ")) << bad;
  }
}

TEST(QueryArguments, ValueBoundsAreNumbersInOrder) {
  QueryArguments arguments = All();
  arguments.value_min = "5";
  EXPECT_EQ(ParseQuery(arguments)->values->min, 5);
  EXPECT_TRUE(std::isinf(ParseQuery(arguments)->values->max));
  arguments.value_max = "4";
  EXPECT_EQ(ParseQuery(arguments).status().message(), "--min-value 5 is above --max-value 4: swap them");
  arguments.value_max = "four";
  EXPECT_EQ(ParseQuery(arguments).status().message(), "--max-value: 'four' is not a number");
}

TEST(QueryArguments, GroupsAreLists) {
  QueryArguments arguments = All();
  arguments.reduce = "quantile(0.9)";
  arguments.group_by = "host,dc";
  const Result<QuerySpec> spec = ParseQuery(arguments);
  EXPECT_EQ(spec->group_by, (std::vector<std::string>{"host", "dc"}));
  EXPECT_EQ(*spec->reduce, Aggregation::Quantile(0.9));
  arguments.group_by = "host,";
  EXPECT_FALSE(ParseQuery(arguments).ok());
  arguments.group_by = "";
  arguments.reduce = "median";
  EXPECT_TRUE(ParseQuery(arguments).status().message().starts_with("--reduce: "));
}

TEST(QueryArguments, BottomIsTheSmallestOfTop) {
  QueryArguments arguments = All();
  arguments.bottom = 3;
  arguments.top_by = "avg";
  const Result<QuerySpec> spec = ParseQuery(arguments);
  EXPECT_EQ(spec->top.count, 3u);
  EXPECT_TRUE(spec->top.smallest);
  EXPECT_EQ(spec->top.by, Aggregation(Aggregator::kAvg));
}

TEST(QueryArguments, TimesAndCalendarsAreCompletedWithTheUnit) {
  QueryArguments arguments = All();
  arguments.aggregate = "sum";
  arguments.calendar = "month";
  arguments.time_zone = "Europe/Berlin";
  arguments.times = "5,1970-01-01T00:00:01Z,now";
  Result<QuerySpec> spec = ParseQuery(arguments);
  ASSERT_TRUE(spec.ok());
  ASSERT_TRUE(CompleteQuery(arguments, TimeUnit::kMilliseconds, 77, &*spec).ok());
  EXPECT_EQ(spec->times, (std::vector<Timestamp>{5, 1000, 77}));
  EXPECT_EQ(spec->bucket.calendar, CalendarUnit::kMonth);
  EXPECT_EQ(spec->bucket.time_zone, "Europe/Berlin");
  arguments.times = "5,,6";
  EXPECT_TRUE(
      CompleteQuery(arguments, TimeUnit::kMilliseconds, 77, &*spec).message().starts_with("--at-times: "));
}

TEST(ByteSizes, HaveUnitsOfBothKinds) {
  EXPECT_EQ(*ParseByteSize("1048576"), 1048576u);
  EXPECT_EQ(*ParseByteSize("10GiB"), 10ull << 30);
  EXPECT_EQ(*ParseByteSize("1.5kB"), 1500u);
  EXPECT_EQ(*ParseByteSize("500MB"), 500'000'000u);
  EXPECT_EQ(*ParseByteSize("0B"), 0u);
  for (const char* bad : {"", "GiB", "-1", "10 GiB", "1e30TB", "NaN", "ten", "5g"}) {
    EXPECT_FALSE(ParseByteSize(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace tsdb::cli
