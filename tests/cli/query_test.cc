// query: fills, filters, calendars, groups, joins, pages: what the options do together with the database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/cli_runner.h"

namespace tsdb::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class CliQuery : public CliTest {
 protected:
  void SetUp() override {
    CliOk({"ingest", "--format", "prometheus", "-"},
          {"cpu{host=\"a\"} 1 1000\ncpu{host=\"a\"} 3 2000\ncpu{host=\"a\"} 5 61000\n"
           "cpu{host=\"b\",dc=\"x\"} -0.5 1500\ncpu{host=\"b\",dc=\"x\"} 4 2000\n",
           {}});
  }
  static std::string A(const std::string& rest) { return "\"cpu{host=\"\"a\"\"}\"," + rest + "\n"; }
  static std::string B(const std::string& rest) { return "\"cpu{dc=\"\"x\"\",host=\"\"b\"\"}\"," + rest + "\n"; }
};

TEST_F(CliQuery, FillSaysWhatEmptyBucketsShow) {
  const std::vector<std::string> base = {"--aggregate", "avg", "--bucket", "20s"};
  const auto rows = [&](const std::string& fill) {
    std::vector<std::string> args = base;
    args.insert(args.end(), {"--fill", fill});
    return Rows("cpu{host=\"a\"}", args);
  };
  EXPECT_EQ(rows("none"), A("0,2") + A("60000,5"));
  EXPECT_EQ(rows("null"), A("0,2") + A("20000,NaN") + A("40000,NaN") + A("60000,5"));
  EXPECT_EQ(rows("previous"), A("0,2") + A("20000,2") + A("40000,2") + A("60000,5"));
  EXPECT_EQ(rows("linear"), A("0,2") + A("20000,3") + A("40000,4") + A("60000,5"));
  EXPECT_EQ(rows("-1.5"), A("0,2") + A("20000,-1.5") + A("40000,-1.5") + A("60000,5"));
}

TEST_F(CliQuery, EmptyBucketsShowWhatTheAggregatorSaysOfNothing) {
  CliOk({"ingest", "--format", "prometheus", "-"}, {"g 10 5\ng 30 25\ng 40 27\ng 60 55\n", {}});
  const auto values = [&](const std::string& function, const std::string& from, const std::string& to,
                          const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"--from", from, "--to",   to,     "--aggregate",
                                     function, "--bucket", "10", "--fill", "empty"};
    args.insert(args.end(), more.begin(), more.end());
    std::string text = Rows("g", args);
    std::string out;
    for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      out += text.substr(begin + 2, end - begin - 2) + " ";  // without "g,"
    }
    return out;
  };
  EXPECT_EQ(values("sum", "0", "59"), "0,10 10,0 20,70 30,0 40,0 50,60 ");
  EXPECT_EQ(values("count", "0", "59"), "0,1 10,0 20,2 30,0 40,0 50,1 ");
  EXPECT_EQ(values("avg", "0", "59"), "0,10 10,NaN 20,35 30,NaN 40,NaN 50,60 ");
  EXPECT_EQ(values("last", "0", "59"), "0,10 10,10 20,40 30,40 40,40 50,60 ");
  EXPECT_EQ(values("last", "12", "48"), "10,10 20,40 30,40 40,40 ");
  EXPECT_EQ(values("last", "12", "48", {"--reverse"}), "40,40 30,40 20,40 10,10 ");
  EXPECT_EQ(values("sum", "12", "48"), "10,0 20,70 30,0 40,0 ");
  EXPECT_EQ(values("count", "0", "100000"), "0,1 10,0 20,2 30,0 40,0 50,1 ");
}

TEST_F(CliQuery, FiltersLeaveSamplesOut) {
  EXPECT_EQ(Rows("cpu", {"--min-value", "3", "--max-value", "4"}), A("2000,3") + B("2000,4"));
  EXPECT_EQ(Rows("cpu", {"--at-times", "1970-01-01T00:00:01Z,1500"}), A("1000,1") + B("1500,-0.5"));
  EXPECT_EQ(Rows("cpu", {"--latest"}), A("61000,5") + B("2000,4"));
  EXPECT_EQ(Rows("cpu", {"--latest", "--max-value", "3"}), A("2000,3") + B("1500,-0.5"));
}

TEST_F(CliQuery, TopAndBottomChooseSeries) {
  EXPECT_EQ(Rows("cpu", {"--top", "1", "--limit", "1"}), A("1000,1"));
  EXPECT_EQ(Rows("cpu", {"--bottom", "1", "--limit", "1"}), B("1500,-0.5"));
  EXPECT_EQ(Rows("cpu", {"--top", "1", "--top-by", "countall", "--limit", "1"}), A("1000,1"));
  EXPECT_EQ(Rows("cpu", {"--top", "2", "--top-by", "min", "--limit", "1"}), A("1000,1") + B("1500,-0.5"));
}

TEST_F(CliQuery, ReduceMakesGroups) {
  const std::vector<std::string> base = {"--aggregate", "max", "--bucket", "1m", "--reduce", "sum"};
  EXPECT_EQ(Rows("cpu", base), ",0,7\n,60000,5\n");
  std::vector<std::string> by_host = base;
  by_host.insert(by_host.end(), {"--group-by", "host"});
  EXPECT_EQ(Rows("cpu", by_host), "host=a,0,3\nhost=a,60000,5\nhost=b,0,4\n");
}

TEST_F(CliQuery, JoinPutsSeriesSideBySide) {
  EXPECT_EQ(CliOk({"query", "cpu", "--join", "--to", "2000", "--output", "csv"}).out,
            "time,\"cpu{host=\"\"a\"\"}\",\"cpu{dc=\"\"x\"\",host=\"\"b\"\"}\"\n"
            "1000,1,NaN\n1500,NaN,-0.5\n2000,3,4\n");
  EXPECT_EQ(CliOk({"query", "cpu", "--join", "--to", "1000"}).out,
            "  time                      cpu{host=\"a\"}  cpu{dc=\"x\",host=\"b\"}\n"
            "  1970-01-01T00:00:01.000Z              1                   NaN\n");
  EXPECT_EQ(CliOk({"query", "none", "--join", "--output", "csv"}).out, "time,value\n");
}

TEST_F(CliQuery, PagesTogetherAreTheWhole) {
  const std::string whole = Rows("cpu");
  std::string pages;
  std::vector<std::string> args = {"query", "cpu", "--output", "csv", "--page", "2"};
  for (int page = 0; page < 10; ++page) {
    const CliResult result = CliOk(args);
    pages += result.out.substr(result.out.find('\n') + 1);
    if (result.err.empty()) {
      break;
    }
    EXPECT_THAT(result.err, MatchesRegex("there is more: --cursor [^ \n]+\n"));
    const std::string cursor = result.err.substr(result.err.rfind(' ') + 1);
    args = {"query", "cpu", "--output", "csv", "--page", "2", "--cursor", cursor.substr(0, cursor.size() - 1)};
  }
  EXPECT_EQ(pages, whole);
  args.back() = "nonsense";
  EXPECT_EQ(Cli(args).exit_code, 2);
}

TEST_F(CliQuery, CalendarBucketsFollowTheZone) {
  const std::vector<std::string> base = {"--aggregate", "count", "--calendar", "day"};
  EXPECT_EQ(Rows("cpu{host=\"a\"}", base), A("0,3"));
  std::vector<std::string> berlin = base;
  berlin.insert(berlin.end(), {"--tz", "Europe/Berlin"});
  EXPECT_EQ(Rows("cpu{host=\"a\"}", berlin), A("-3600000,3"));
  berlin.back() = "Nowhere/Town";
  berlin.insert(berlin.begin(), {"query", "{}"});
  const CliResult result = Cli(berlin);
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("Nowhere/Town"));
}

TEST_F(CliQuery, ExplainTellsWhatWasRead) {
  const CliResult result = CliOk({"query", "cpu", "--explain", "--quiet"});
  EXPECT_THAT(result.err, HasSubstr("series   2 looked at, 5 rows\n"));
  EXPECT_THAT(result.err, HasSubstr("samples  "));
  EXPECT_THAT(result.err, HasSubstr("time     "));
}

TEST_F(CliQuery, CountersAndQuantilesAreAggregators) {
  EXPECT_EQ(Rows("cpu{host=\"a\"}", {"--aggregate", "increase,quantile(0.5)"}), A("1000,4,3"));
}

TEST_F(CliQuery, OptionsThatDoNotGoTogetherAreWrongUsage) {
  const std::vector<std::vector<std::string>> rows = {
      {"--fill", "null"},
      {"--aggregate", "avg", "--bucket", "1m", "--fill", "maybe"},
      {"--calendar", "day"},
      {"--aggregate", "avg", "--calendar", "day", "--bucket", "1m"},
      {"--aggregate", "avg", "--tz", "UTC"},
      {"--group-by", "host"},
      {"--reduce", "sum", "--join"},
      {"--reduce", "median"},
      {"--latest", "--aggregate", "avg"},
      {"--top", "1", "--bottom", "1"},
      {"--top", "0"},
      {"--top-by", "most", "--top", "1"},
      {"--min-value", "5", "--max-value", "4"},
      {"--min-value", "five"},
      {"--at-times", "noon"},
      {"--cursor", "x"},
  };
  for (std::vector<std::string> args : rows) {
    args.insert(args.begin(), {"query", "{}"});
    const CliResult result = Cli(args);
    EXPECT_EQ(result.exit_code, 2) << ::testing::PrintToString(args) << result.err;
    EXPECT_THAT(result.err, MatchesRegex("tsdb-cli: .*: see 'tsdb-cli query --help'\n"));
  }
}

}  // namespace
}  // namespace tsdb::cli_test
