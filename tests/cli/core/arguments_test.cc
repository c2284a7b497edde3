#include "cli/text/arguments.h"

#include <gtest/gtest.h>

namespace tsdb::cli {
namespace {

constexpr TimeUnit kMs = TimeUnit::kMilliseconds;

TEST(Arguments, ARangeIsOpenUnlessGiven) {
  EXPECT_EQ(*ParseRange({}, kMs, 0), TimeRange{});
  EXPECT_EQ(*ParseRange({"now-1h", "now"}, kMs, 7'200'000), (TimeRange{3'600'000, 7'200'000}));
  EXPECT_EQ(*ParseRange({"-5", "-5"}, kMs, 0), (TimeRange{-5, -5}));
}

TEST(Arguments, ErrorsOfARangeNameTheOption) {
  EXPECT_TRUE(ParseRange({"soon", "+"}, kMs, 0).status().message().starts_with("--from: "));
  EXPECT_TRUE(ParseRange({"-", "late"}, kMs, 0).status().message().starts_with("--to: "));
  EXPECT_EQ(ParseRange({"2", "1"}, kMs, 0).status().message(), "--from 2 is after --to 1: swap them");
}

TEST(Arguments, BucketsAlignToTheEpochTheRangeOrATime) {
  const RangeArguments texts{"100", "900"};
  const TimeRange range{100, 900};
  EXPECT_EQ(ParseBucket({"5m", "", "start"}, texts, range, kMs, 0)->width, 300'000);
  EXPECT_EQ(ParseBucket({"5m", "", "start"}, texts, range, kMs, 0)->align, 0);
  EXPECT_EQ(ParseBucket({"5m", "start", "start"}, texts, range, kMs, 0)->align, 100);
  EXPECT_EQ(ParseBucket({"5m", "end", "start"}, texts, range, kMs, 0)->align, 900);
  EXPECT_EQ(ParseBucket({"5m", "30", "mid"}, texts, range, kMs, 0)->align, 30);
  EXPECT_EQ(ParseBucket({"5m", "30", "mid"}, texts, range, kMs, 0)->label, BucketLabel::kMid);
  EXPECT_EQ(ParseBucket({"5m", "", "end"}, texts, range, kMs, 0)->label, BucketLabel::kEnd);
  EXPECT_EQ(ParseBucket({}, texts, range, kMs, 0)->width, 0);
}

TEST(Arguments, AligningToAnOpenEndIsAnError) {
  EXPECT_FALSE(ParseBucket({"5m", "start", "start"}, {"-", "5"}, {}, kMs, 0).ok());
  EXPECT_FALSE(ParseBucket({"5m", "end", "start"}, {"5", "+"}, {}, kMs, 0).ok());
  EXPECT_FALSE(ParseBucket({"0", "", "start"}, {}, {}, kMs, 0).ok());
  EXPECT_FALSE(ParseBucket({"-5", "", "start"}, {}, {}, kMs, 0).ok());
}

TEST(Arguments, AggregatorsKeepTheirOrder) {
  EXPECT_EQ(*ParseAggregators("max,avg,std.p"),
            (std::vector<Aggregation>{Aggregator::kMax, Aggregator::kAvg, Aggregator::kStdP}));
  for (const char* bad : {"", "avg,", ",avg", "avg max", "median"}) {
    EXPECT_FALSE(ParseAggregators(bad).ok()) << bad;
  }
}

TEST(Arguments, LabelsSplitAtTheFirstEqualsSign) {
  EXPECT_EQ(*ParseLabel("a=b=c"), (Label{"a", "b=c"}));
  EXPECT_EQ(*ParseLabel("a="), (Label{"a", ""}));
  EXPECT_FALSE(ParseLabel("a").ok());
  EXPECT_FALSE(ParseLabel("=b").ok());
}

TEST(Arguments, ASelectorOrAKeyButNotBoth) {
  EXPECT_EQ(*ParseSeries({"{}", "", false}, false), Selector());
  EXPECT_EQ(*ParseSeries({"", "any key", true}, false), Selector::ForKey("any key"));
  EXPECT_EQ(*ParseSeries({"", "", false}, true), Selector());
  EXPECT_FALSE(ParseSeries({"", "", false}, false).ok());
  EXPECT_FALSE(ParseSeries({"{}", "k", true}, false).ok());
  EXPECT_FALSE(ParseSeries({"", "", true}, false).ok());
  EXPECT_FALSE(ParseSeries({"cpu{", "", false}, false).ok());
}

}  // namespace
}  // namespace tsdb::cli
