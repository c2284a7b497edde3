// query, series, labels, info, stats, export: what a reader sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>

#include "tests/cli/cli_runner.h"

namespace tsdb::cli_test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class CliRead : public CliTest {
 protected:
  void SetUp() override {
    CliOk({"ingest", "--format", "prometheus", "-"},
          {"cpu{host=\"a\"} 1 1000\ncpu{host=\"a\"} 3 2000\ncpu{host=\"a\"} 5 61000\n"
           "cpu{host=\"b\",dc=\"x\"} -0.5 1500\nmem 7 90000\n",
           {}});
  }
};

TEST_F(CliRead, TableShowsTimesForPeopleAlignedUnderTheKey) {
  EXPECT_EQ(CliOk({"query", "cpu"}).out,
            "cpu{host=\"a\"}\n"
            "  time                      value\n"
            "  1970-01-01T00:00:01.000Z      1\n"
            "  1970-01-01T00:00:02.000Z      3\n"
            "  1970-01-01T00:01:01.000Z      5\n"
            "\n"
            "cpu{dc=\"x\",host=\"b\"}\n"
            "  time                      value\n"
            "  1970-01-01T00:00:01.500Z   -0.5\n");
}

TEST_F(CliRead, CsvQuotesKeysAndNamesColumns) {
  EXPECT_EQ(CliOk({"query", "cpu{host=\"a\"}", "--output", "csv", "--aggregate", "avg,max", "--bucket", "1m"}).out,
            "key,time,avg,max\n\"cpu{host=\"\"a\"\"}\",0,2,3\n\"cpu{host=\"\"a\"\"}\",60000,5,5\n");
}

TEST_F(CliRead, JsonLinesHaveOneObjectPerSeries) {
  EXPECT_EQ(CliOk({"query", "cpu", "--output", "jsonl", "--to", "2000"}).out,
            "{\"key\":\"cpu{host=\\\"a\\\"}\",\"labels\":{\"__name__\":\"cpu\",\"host\":\"a\"},"
            "\"samples\":[[1000,1],[2000,3]]}\n"
            "{\"key\":\"cpu{dc=\\\"x\\\",host=\\\"b\\\"}\","
            "\"labels\":{\"__name__\":\"cpu\",\"dc\":\"x\",\"host\":\"b\"},\"samples\":[[1500,-0.5]]}\n");
  const Json aggregated = Json::parse(CliOk({"query", "mem", "--output", "jsonl", "--aggregate", "min,count"}).out);
  EXPECT_EQ(aggregated["columns"], Json::parse("[\"min\",\"count\"]"));
  EXPECT_EQ(aggregated["samples"], Json::parse("[[90000,7,1]]"));
}

TEST_F(CliRead, JsonIsOneDocument) {
  const Json all = Json::parse(CliOk({"query", "{}", "--output", "json"}).out);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2]["key"], "mem");
  EXPECT_EQ(Json::parse(CliOk({"query", "none", "--output", "json"}).out), Json::array());
}

TEST_F(CliRead, PlotDrawsAChartAsWideAsTheTerminal) {
  const std::vector<std::string> args = {"query", "cpu{host=\"a\"}", "--output", "plot"};
  const RunOptions utf8{"", {{"COLUMNS", "40"}, {"LINES", "12"}, {"LC_ALL", "C.UTF-8"}}};
  EXPECT_EQ(CliOk(args, utf8).out, R"(cpu{host="a"}
5 ┤               ⢀⣀⣀⣀⣀⣀⡠⠤⠤⠤⠤⠤⠔⠒⠒⠒⠒⠒⠊⠉⠉⠉
  │⢠⠤⠤⠔⠒⠒⠒⠒⠒⠊⠉⠉⠉⠉⠉⠁
  │⡜
0 ┤⠁
  └─────────────────┬──────────────────┬
                    00:00:30    00:01:00
                    1970-01-01       UTC
━  min 1  max 5  last 5  samples 3
)");
  std::vector<std::string> never = args;
  never.insert(never.end(), {"--color", "never"});
  const std::string ascii = CliOk(never, utf8).out;
  EXPECT_THAT(ascii, HasSubstr("\n*  min 1  max 5"));
  EXPECT_EQ(std::count_if(ascii.begin(), ascii.end(), [](char c) { return static_cast<unsigned char>(c) > 126; }), 0);
  EXPECT_EQ(CliOk(args, {"", {{"COLUMNS", "40"}, {"LINES", "12"}, {"LC_ALL", "C"}}}).out, ascii);
}

TEST_F(CliRead, PlotOfNothingSaysSo) {
  const CliResult result = CliOk({"query", "none", "--output", "plot"});
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("no samples of"));
}

TEST_F(CliRead, RangesIncludeBothEnds) {
  EXPECT_EQ(Rows("cpu{host=\"a\"}", {"--from", "1000", "--to", "2000"}),
            "\"cpu{host=\"\"a\"\"}\",1000,1\n\"cpu{host=\"\"a\"\"}\",2000,3\n");
  EXPECT_EQ(Rows("cpu{host=\"a\"}", {"--from", "1970-01-01T00:00:02Z", "--to", "1970-01-01T00:00:02Z"}),
            "\"cpu{host=\"\"a\"\"}\",2000,3\n");
  EXPECT_EQ(Rows("mem", {"--from=-", "--to", "+"}), "mem,90000,7\n");
}

TEST_F(CliRead, ReverseAndLimitHoldPerSeries) {
  EXPECT_EQ(Rows("cpu", {"--reverse", "--limit", "1"}),
            "\"cpu{host=\"\"a\"\"}\",61000,5\n\"cpu{dc=\"\"x\"\",host=\"\"b\"\"}\",1500,-0.5\n");
}

TEST_F(CliRead, AKeySelectsOneSeries) {
  const std::string text = CliOk({"query", "--key", "cpu{host=\"a\"}", "--limit", "1", "--output", "csv"}).out;
  EXPECT_EQ(text, "key,time,value\n\"cpu{host=\"\"a\"\"}\",1000,1\n");
}

TEST_F(CliRead, AlignAndLabelPlaceTheBuckets) {
  const std::vector<std::string> base = {"--from", "500", "--to", "2500", "--aggregate", "count", "--bucket", "1000"};
  const auto rows = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return Rows("mem", {}).empty() ? "" : Rows("cpu{host=\"b\",dc=\"x\"}", more);
  };
  const std::string key = "\"cpu{dc=\"\"x\"\",host=\"\"b\"\"}\",";
  EXPECT_EQ(rows({}), key + "1000,1\n");
  EXPECT_EQ(rows({"--align", "start"}), key + "1500,1\n");
  EXPECT_EQ(rows({"--align", "end"}), key + "1500,1\n");
  EXPECT_EQ(rows({"--align", "100"}), key + "1100,1\n");
  EXPECT_EQ(rows({"--label-at", "end"}), key + "2000,1\n");
  EXPECT_EQ(rows({"--label-at", "mid"}), key + "1500,1\n");
}

TEST_F(CliRead, SeriesListsAllMatchingOrActive) {
  EXPECT_EQ(CliOk({"series"}).out, "cpu{host=\"a\"}\ncpu{dc=\"x\",host=\"b\"}\nmem\n");
  EXPECT_EQ(CliOk({"series", "cpu{dc=\"\"}"}).out, "cpu{host=\"a\"}\n");
  EXPECT_EQ(CliOk({"series", "--from", "60000"}).out, "cpu{host=\"a\"}\nmem\n");
  EXPECT_EQ(CliOk({"series", "--limit", "1", "--output", "csv"}).out, "key\n\"cpu{host=\"\"a\"\"}\"\n");
  EXPECT_EQ(Json::parse(CliOk({"series", "--output", "json"}).out).size(), 3u);
}

TEST_F(CliRead, LabelsAndValuesAreSorted) {
  EXPECT_EQ(CliOk({"labels"}).out, "__name__\ndc\nhost\n");
  EXPECT_EQ(CliOk({"labels", "--from", "60000"}).out, "__name__\nhost\n");
  EXPECT_EQ(CliOk({"label-values", "host"}).out, "a\nb\n");
  EXPECT_EQ(CliOk({"label-values", "host", "--to", "1000"}).out, "a\n");
  EXPECT_EQ(CliOk({"label-values", "__name__", "--prefix", "c", "--output", "json"}).out, "[\"cpu\"]\n");
}

TEST_F(CliRead, InfoTellsLabelsAndEnds) {
  const Json info = Json::parse(CliOk({"info", "cpu{host=\"a\"}", "--json"}).out);
  EXPECT_EQ(info["labels"]["host"], "a");
  EXPECT_EQ(info["samples"], 3);
  EXPECT_EQ(info["first"], Json::parse("[1000,1]"));
  EXPECT_EQ(info["last"], Json::parse("[61000,5]"));
  EXPECT_EQ(info["duplicates"], "last");
  EXPECT_EQ(info["created_by_key"], false);
  EXPECT_THAT(CliOk({"info", "mem"}).out, HasSubstr("1970-01-01T00:01:30.000Z  7\n"));
  const CliResult none = Cli({"info", "nothing"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.err, "tsdb-cli: no series has the key nothing: 'tsdb-cli series' lists them\n");
  EXPECT_EQ(Cli({"info", "cpu"}).err,
            "tsdb-cli: no series has the key cpu: as a selector it matches, for example, cpu{host=\"a\"}\n");
}

TEST_F(CliRead, StatsCountWhatIsThere) {
  const Json stats = Json::parse(CliOk({"stats", "--json"}).out);
  EXPECT_EQ(stats["series"], 3);
  EXPECT_EQ(stats["samples"], 5);
  EXPECT_GT(stats["bytes_on_disk"], 0);
  EXPECT_EQ(stats["recovery"]["notes"], Json::array());
  EXPECT_THAT(CliOk({"stats"}).out, HasSubstr("bytes per sample"));
}

TEST_F(CliRead, SpecialValuesAreTextInJsonAndComeBack) {
  CliOk({"ingest", "--format", "prometheus", "-"}, {"odd NaN 1\nodd +Inf 2\nodd -Inf 3\nodd -0 4\n", {}});
  EXPECT_THAT(CliOk({"query", "odd", "--output", "jsonl"}).out,
              HasSubstr("[[1,\"NaN\"],[2,\"+Inf\"],[3,\"-Inf\"],[4,-0.0]]"));
  EXPECT_EQ(Rows("odd"), "odd,1,NaN\nodd,2,+Inf\nodd,3,-Inf\nodd,4,-0.0\n");
}

TEST_F(CliRead, NamesCannotMoveTheCursor) {
  CliOk({"ingest", "--unit", "ms", "-"}, {"esc,h=\x1b[2J v=1 1\n", {}});
  EXPECT_THAT(CliOk({"series"}).out, HasSubstr("\\x1b[2J"));
  EXPECT_THAT(CliOk({"series", "--output", "jsonl"}).out, HasSubstr("\\u001b[2J"));
}

TEST_F(CliRead, NothingFoundIsNoFailure) {
  const CliResult result = CliOk({"query", "none"});
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("no samples of"));
}

TEST_F(CliRead, OpenMetricsComesMetricByMetric) {
  CliOk({"ingest", "--format", "prometheus", "-"}, {"mem{host=\"z\"} 8 1000\ncpu{host=\"c\"} 9 1000\n", {}});
  EXPECT_EQ(CliOk({"export", "--format", "openmetrics"}).out,
            "# TYPE cpu unknown\n"
            "cpu{host=\"a\"} 1 1\ncpu{host=\"a\"} 3 2\ncpu{host=\"a\"} 5 61\n"
            "cpu{dc=\"x\",host=\"b\"} -0.5 1.5\ncpu{host=\"c\"} 9 1\n"
            "# TYPE mem unknown\nmem 7 90\nmem{host=\"z\"} 8 1\n# EOF\n");
  EXPECT_EQ(CliOk({"export", "{host=\"z\"}", "--format", "openmetrics"}).out,
            "# TYPE mem unknown\nmem{host=\"z\"} 8 1\n# EOF\n");
}

TEST_F(CliRead, ExportsReadBackTheSameInEveryFormat) {
  const std::string before = CliOk({"query", "{}", "--output", "jsonl"}).out;
  for (const char* format : {"influx", "openmetrics", "csv", "jsonl"}) {
    const std::string text = CliOk({"export", "--format", format}).out;
    const std::string copy = Path(std::string("copy-") + format);
    const CliResult import = RunProgram(TSDB_CLI_PATH, {"--db", copy, "ingest", "--format", format, "-"}, {text, {}});
    ASSERT_EQ(import.exit_code, 0) << format << ": " << import.err << text;
    EXPECT_EQ(RunProgram(TSDB_CLI_PATH, {"--db", copy, "query", "{}", "--output", "jsonl"}).out, before) << format;
  }
}

TEST_F(CliRead, AReaderThatLeavesEndsTheProgramWithoutNoise) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) {
    text += "big " + std::to_string(i) + " " + std::to_string(i) + "\n";
  }
  CliOk({"ingest", "--format", "prometheus", "-"}, {text, {}});
  RunningCli cli({"--db", Db(), "query", "big", "--output", "csv"});
  cli.CloseOutput();
  const CliResult result = cli.Wait();
  EXPECT_EQ(result.exit_code, 128 + SIGPIPE);
  EXPECT_EQ(result.err, "");
}

TEST_F(CliRead, AFullStandardOutputIsAnError) {
  const CliResult result =
      RunProgram("/bin/sh", {"-c", std::string(TSDB_CLI_PATH) + " --db " + Db() + " series >/dev/full"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("standard output"));
}

}  // namespace
}  // namespace tsdb::cli_test
